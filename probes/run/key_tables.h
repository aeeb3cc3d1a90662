/* All tables of settings: of training, schedules, objectives, models and tasks. */
#ifndef LRA_PROBES_RUN_KEY_TABLES_H
#define LRA_PROBES_RUN_KEY_TABLES_H

#include <stdbool.h>

#include "kernels/base/core/key.h"
#include "kernels/base/core/mem.h"

typedef struct {
    /* kind "schedule", name "plateau"; the name of the table of training is "" */
    const char *kind, *name;
    const lra_key *keys; /* settings; NULL if there are none */
} lra_key_table;

/* Writes table number i; returns false after the last. */
bool lra_key_table_at(int i, lra_key_table *t);
/* True if any table contains the key. */
bool lra_key_is_known(const char *name);
/* Name of key number i of all tables (names can repeat); NULL after the last. */
const char *lra_key_name(int i);
/* Fails because the n tables of `of` ("the run", "model 'resconv'") do not contain the key. The
 * message names the other tables that contain it, or else the most similar key of the n tables. */
int lra_key_fail(const char *name, const lra_key_table *all, int n, const char *of, lra_err *e);
/* Appends "key=" for every key, without repetitions. */
void lra_key_words(lra_text *to);

#endif
