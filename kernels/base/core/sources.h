/* Hashes of the sources that determine the arithmetic of models, computed at build time
 * (sources_main.c defines which text is hashed). */
#ifndef LRA_BASE_CORE_SOURCES_H
#define LRA_BASE_CORE_SOURCES_H

#include <stdint.h>

typedef struct {
    const char *name; /* "mega_chunk"; NULL ends a table */
    uint64_t hash;
} lra_source_hash;
/* One entry for each record name. Ops also have the entry "", for files whose records are made by a
 * macro. */
extern const lra_source_hash lra_model_sources[], lra_op_sources[];
/* hash of the sources of embedding, pooling, heads and initialisers */
extern const uint64_t lra_engine_sources;

#endif
