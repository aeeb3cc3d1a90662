/* Recognises files of other common formats by their first bytes, so that a message can state what a
 * file is and how to convert it. */
#ifndef LRA_DATASETS_FORMATS_FOREIGN_H
#define LRA_DATASETS_FORMATS_FOREIGN_H

#include <stddef.h>

/* Returns a text such as "a Parquet file; convert it by ..." for the first n bytes of a file (4096
 * suffice); NULL: no known format, for example text. */
/* texts that lra_foreign_format() returns */
extern const char lra_foreign_npz[], lra_foreign_safetensors[];
const char *lra_foreign_format(const void *bytes, size_t n);

#endif
