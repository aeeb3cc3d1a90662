/* Compares the sources of a result with those of this program (sources.h). */
#include "probes/run/sources.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/sources.h"
#include "kernels/base/core/version.h"
#include "kernels/graph/op.h"
#include "models/training/settings.h"
#include "models/training/train_spec.h"
#include "probes/run/finished_run.h"

enum { MOST = 1024 };

typedef struct {
    int n;
    uint64_t hash[MOST];
} hashes;

static void add(hashes *h, uint64_t hash)
{
    for (int i = 0; i < h->n; i++)
        if (h->hash[i] == hash) return;
    if (h->n < MOST) h->hash[h->n++] = hash;
}

/* Adds the hashes of a name in a table, in which "-" is written "_". Returns false if the table
 * does not contain the name. */
static bool add_named(hashes *h, const lra_source_hash *table, const char *name)
{
    bool found = false;
    char *record = lra_copy_text(name);
    for (char *at = record; *at; at++)
        if (*at == '-') *at = '_';
    for (int i = 0; table[i].name; i++)
        if (strcmp(table[i].name, record) == 0) add(h, table[i].hash), found = true;
    lra_free(record);
    return found;
}

/* Adds the hashes of an op and of its gradient ops, whose names begin with its name: linear,
 * linear_dw; softmax, softmax_grad. */
static void add_op(hashes *h, const char *name)
{
    size_t n = strlen(name);
    if (!add_named(h, lra_op_sources, name)) add_named(h, lra_op_sources, "");
    for (int i = 0; lra_op_at(i); i++) {
        const char *other = lra_op_at(i)->name;
        bool gradient = strncmp(other, name, n) == 0 && other[n] == '_' &&
                        (other[n + 1] == 'd' || strcmp(other + n + 1, "grad") == 0);
        if (gradient && !add_named(h, lra_op_sources, other)) add_named(h, lra_op_sources, "");
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void lra_job_sources(const lra_job *r, char hash[17])
{
    hashes *h = lra_alloc(sizeof *h);
    lra_train_spec train = {0};
    lra_train_settings(&train, r->train_config);
    lra_network_spec spec = lra_objective_network(r->objective, r->data, train.pool);
    lra_network k = lra_network_build(LRA_F32, LRA_TRAIN, r->model, r->model_config, &spec,
                                      train.batch, spec.T_max);
    h->n = 0;
    add(h, lra_engine_sources);
    add_named(h, lra_model_sources, r->model->name);
    add_op(h, "adamw");
    for (int i = 0; lra_op_at(i); i++)
        if (lra_graph_nodes(k.graph, lra_op_at(i), 0, NULL) > 0) add_op(h, lra_op_at(i)->name);
    lra_graph_free(k.graph);
    qsort(h->hash, (size_t)h->n, sizeof *h->hash, compare);
    snprintf(hash, 17, "%016" PRIx64, lra_hash64(h->hash, (size_t)h->n * sizeof *h->hash));
    lra_free(h);
}

char *lra_job_sources_differ(const lra_job *r, const lra_result *result)
{
    char now[17];
    const char *then = result->origin.revision ? result->origin.revision : "unknown";
    if (!*result->sources) {
        if (strcmp(then, lra_revision()) == 0) return NULL;
        return lra_format(
            "it was trained with revision %s, this program is revision %s, and the sources of its "
            "model are not recorded",
            then, lra_revision());
    }
    lra_job_sources(r, now);
    if (strcmp(now, result->sources) == 0) return NULL;
    return lra_format("the sources of model '%s' or of its ops have changed since revision %s",
                      r->model->name, then);
}

bool lra_job_is_stale(const lra_job *r, const char *path)
{
    lra_err e;
    lra_result *result = lra_file_exists(path) ? lra_finished_run_result(path, &e) : NULL;
    char *why = result && *result->sources ? lra_job_sources_differ(r, result) : NULL;
    bool stale = why != NULL;
    lra_free(why);
    lra_result_free(result);
    return stale;
}

int lra_run_discard(const char *folder, lra_err *e)
{
    char **names = NULL, *path = lra_format("%s/lock", folder);
    int rc = 0, lock = lra_lock_wait(path, e);
    lra_free(path);
    if (lock < 0) return LRA_FAILED;
    int n = lra_folder_list(folder, &names, e);
    if (n < 0) rc = LRA_FAILED;
    for (int i = 0; i < n && rc == 0; i++) {
        /* keeps the files "lock" and "lock.claim" */
        if (strncmp(names[i], "lock", 4) == 0) continue;
        path = lra_format("%s/%s", folder, names[i]);
        if (!lra_is_folder(path)) rc = lra_file_remove(path, e);
        lra_free(path);
    }
    if (n >= 0) lra_names_free(names, n);
    lra_unlock(lock);
    return rc;
}
