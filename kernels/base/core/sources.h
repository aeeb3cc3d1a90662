/* Hashes of the sources that decide the arithmetic of models, made when the program is built
 * (sources_main.c says of what). */
#ifndef LRA_BASE_CORE_SOURCES_H
#define LRA_BASE_CORE_SOURCES_H

#include <stdint.h>

typedef struct {
    const char *name; /* "mega_chunk"; NULL ends a table */
    uint64_t hash;
} lra_source_hash;
/* By the names of records.  Of ops "" too: the files whose records a macro makes. */
extern const lra_source_hash lra_model_sources[], lra_op_sources[];
extern const uint64_t lra_engine_sources; /* embedding, pooling, heads, initial weights */

#endif
