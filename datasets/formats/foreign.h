/* Files of other formats that people have: recognised by their first bytes, so that a message says
 * what a file is and how to convert it. */
#ifndef LRA_DATASETS_FORMATS_FOREIGN_H
#define LRA_DATASETS_FORMATS_FOREIGN_H

#include <stddef.h>

/* "a Parquet file; convert it by ..." for the first n bytes of a file (4096 suffice); NULL: no
 * format that is known, which text is. */
extern const char lra_foreign_npz[], lra_foreign_safetensors[]; /* two of these texts */
const char *lra_foreign_format(const void *bytes, size_t n);

#endif
