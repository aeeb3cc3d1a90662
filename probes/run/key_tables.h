/* All tables of settings: of training, schedules, objectives, models and tasks. */
#ifndef LRA_PROBES_RUN_KEY_TABLES_H
#define LRA_PROBES_RUN_KEY_TABLES_H

#include <stdbool.h>

#include "kernels/base/core/key.h"
#include "kernels/base/core/mem.h"

typedef struct {
    const char *kind, *name; /* "schedule", "plateau"; of training the name is "" */
    const lra_key *keys;     /* NULL: it has no settings */
} lra_key_table;

/* The i-th table; false after the last. */
bool lra_key_table_at(int i, lra_key_table *t);
/* Has any of them the key? */
bool lra_key_is_known(const char *name);
/* The name of the i-th key of all tables (names may repeat); NULL after the last. */
const char *lra_key_name(int i);
/* Fails with a message that names the other owners of the key; if there are none, with the nearest
 * name among n of the tables, which are those of `of` ("the run", "model 'resconv'"). */
int lra_key_fail(const char *name, const lra_key_table *all, int n, const char *of, lra_err *e);
/* Appends "key=" for every key, each once. */
void lra_key_words(lra_text *to);

#endif
