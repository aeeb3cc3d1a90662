/* Hashes of the sources that decide the arithmetic of models, computed at build time
 * (sources_main.c defines the hashed text). */
#ifndef LRA_BASE_CORE_SOURCES_H
#define LRA_BASE_CORE_SOURCES_H

#include <stdint.h>

typedef struct {
    const char *name; /* "mega_chunk"; NULL ends a table */
    uint64_t hash;
} lra_source_hash;
/* One entry for each record name.  Ops also have the entry "": the files whose records a macro
 * makes. */
extern const lra_source_hash lra_model_sources[], lra_op_sources[];
extern const uint64_t lra_engine_sources; /* embedding, pooling, heads, initial weights */

#endif
