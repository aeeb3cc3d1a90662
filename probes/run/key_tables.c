/* Iterates over the tables of settings, and finds the owners of a key (key_tables.h). */
#include "probes/run/key_tables.h"

#include <string.h>

#include "datasets/loader/dataset.h"
#include "datasets/registry.h"
#include "kernels/base/core/nearest.h"
#include "models/training/objective.h"
#include "models/training/settings.h"

bool lra_key_table_at(int i, lra_key_table *t)
{
    *t = (lra_key_table){"training", "", lra_train_keys};
    if (i-- == 0) return true;
    for (int k = 0; lra_schedule_at(k); k++) {
        *t = (lra_key_table){"schedule", lra_schedule_at(k)->name, lra_schedule_at(k)->keys};
        if (i-- == 0) return true;
    }
    for (int k = 0; lra_objective_at(k); k++) {
        *t = (lra_key_table){"objective", lra_objective_at(k)->name, lra_objective_at(k)->keys};
        if (i-- == 0) return true;
    }
    for (int k = 0; lra_model_at(k); k++) {
        *t = (lra_key_table){"model", lra_model_at(k)->name, lra_model_at(k)->keys};
        if (i-- == 0) return true;
    }
    for (int k = 0; lra_task_at(k); k++) {
        *t = (lra_key_table){"task", lra_task_at(k)->name, lra_task_at(k)->keys};
        if (i-- == 0) return true;
    }
    return false;
}

const char *lra_key_name(int i)
{
    lra_key_table t;
    for (int n = 0; lra_key_table_at(n, &t); n++)
        for (const lra_key *k = t.keys; k && k->name; k++)
            if (i-- == 0) return k->name;
    return NULL;
}

bool lra_key_is_known(const char *name)
{
    lra_key_table t;
    for (int i = 0; lra_key_table_at(i, &t); i++)
        if (lra_key_find(t.keys, name)) return true;
    return false;
}

/* The first of the n tables that has this kind ("schedule", "model", ..), or NULL. */
static const lra_key_table *same_kind(const lra_key_table *all, int n, const char *kind)
{
    for (int i = 0; i < n; i++)
        if (strcmp(all[i].kind, kind) == 0) return &all[i];
    return NULL;
}

/* Appends the names of the owners of a key, "schedules 'cosine' and 'linear'", at most three of
 * them. Returns their kind, or NULL if no table contains the key. */
static const char *owners(const char *name, lra_text *to)
{
    enum { SHOWN = 3 };
    const char *shown[SHOWN], *kind = NULL;
    lra_key_table t;
    int n = 0;
    for (int i = 0; lra_key_table_at(i, &t); i++) {
        if (!lra_key_find(t.keys, name) || (kind && strcmp(kind, t.kind) != 0)) continue;
        kind = t.kind;
        if (n < SHOWN) shown[n] = t.name;
        n++;
    }
    if (kind) lra_text_add(to, "%s%s", kind, n > 1 ? "s" : "");
    for (int i = 0; i < n && i < SHOWN; i++)
        lra_text_add(to, "%s '%s'", i == 0 ? "" : i + 1 == n ? " and" : ",", shown[i]);
    if (n > SHOWN) lra_text_add(to, " and %d more", n - SHOWN);
    return kind;
}

int lra_key_fail(const char *name, const lra_key_table *all, int n, const char *of, lra_err *e)
{
    lra_text owner_names = {0};
    const char *kind = owners(name, &owner_names);
    const lra_key_table *own = kind ? same_kind(all, n, kind) : NULL;
    if (own) {
        lra_fail_usage(e, "'%s' belongs to %s; the run has '%s'", name, owner_names.s, own->name);
        lra_text_free(&owner_names);
        return LRA_USAGE;
    }
    lra_text_free(&owner_names);
    const char *names[256];
    int count = 0;
    for (int i = 0; i < n; i++)
        for (const lra_key *k = all[i].keys; k && k->name && count < 256; k++)
            names[count++] = k->name;
    const char *near = lra_nearest(name, count, names);
    static const char show[] = "('lra-probe list parameters' lists them)";
    return near ? lra_fail_usage(e, "%s has no '%s'; did you mean '%s'? %s", of, name, near, show)
                : lra_fail_usage(e, "%s has no '%s' %s", of, name, show);
}

void lra_key_words(lra_text *to)
{
    lra_key_table t;
    for (int i = 0; lra_key_table_at(i, &t); i++)
        for (const lra_key *k = t.keys; k && k->name; k++) {
            char *word = lra_format(" %s= ", k->name);
            bool there = to->s && strstr(to->s, word);
            if (!there) lra_text_add(to, "%s", to->n ? word + 1 : word);
            lra_free(word);
        }
}
