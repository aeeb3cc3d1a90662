/* Times the generation of rows of each generated task, and of batches. loader.c compares the time
 * of batches with that of training steps. */
#include <omp.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "probes/bench/bench.h"

/* Number of rows to generate, if the task has such a parameter: at first FIRST, then at most MOST,
 * with about STEPS tokens. TIMES: number of repetitions. Few rows suffice, because only rates are
 * measured. */
enum { FIRST = 50, MOST = 1000, STEPS = 1 << 20, TIMES = 3 };

/* Seconds to make all batches of one epoch. */
static double time_loader(const lra_dataset *d, int64_t batch, int64_t *n_batches)
{
    lra_buckets buckets = lra_buckets_find(d);
    lra_loader_spec spec = {.data = d,
                            .split = LRA_TRAIN_SPLIT,
                            .buckets = &buckets,
                            .batch = batch,
                            .seed = 1,
                            .training = true};
    lra_loader *l = lra_loader_new(&spec);
    double start = lra_now();
    lra_loader_epoch(l, 1);
    *n_batches = lra_loader_batches(l);
    for (int64_t i = 0; i < *n_batches; i++) lra_loader_get(l, i);
    double seconds = lra_now() - start;
    lra_loader_free(l);
    return seconds;
}

/* Sets the number of rows such that they have about STEPS tokens. */
static int choose_rows(const lra_task *t, lra_config *c, lra_err *e)
{
    if (!t->data.resize) return 0;
    t->data.resize(c, FIRST);
    lra_dataset *d = lra_dataset_make(t, c, e);
    if (!d) return LRA_FAILED;
    int64_t n = STEPS / d->max_length;
    t->data.resize(c, n < FIRST ? FIRST : n > MOST ? MOST : n);
    lra_dataset_free(d);
    return 0;
}

static void add_table(bench *b, const lra_dataset *d, const char *preset, int n, double *first,
                      double *load, int64_t batches)
{
    int64_t rows = 0, tokens = 0;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        rows += d->split[s].n, tokens += d->split[s].n ? d->split[s].start[d->split[s].n] : 0;
    bench_table *table = bench_table_add(b, "rows", "%s %s: %lld rows, %.1f tokens per row",
                                         d->task->name, preset, (long long)rows,
                                         (double)tokens / (double)rows);
    bench_row_add(table, (bench_row){.name = lra_copy_text("generate, all splits"),
                                     .count = rows,
                                     .time = bench_time_of(first, n),
                                     .bytes = (double)tokens * sizeof(uint16_t)});
    bench_row_add(table, (bench_row){.name = lra_format("load, batches of %lld", (long long)b->B),
                                     .count = batches * b->B,
                                     .time = bench_time_of(load, n),
                                     .bytes = (double)tokens * sizeof(int32_t)});
}

static int run_preset(bench *b, const lra_task *t, const char *preset, lra_err *e)
{
    double first[TIMES], load[TIMES], begin = lra_now();
    int64_t batches = 0;
    lra_config *c = lra_task_config(t, preset, e);
    int rc = c && choose_rows(t, c, e) == 0 ? 0 : LRA_FAILED;
    bool last = false; /* three repetitions, or fewer if one takes longer than the requested time */
    for (int i = 0; !last && rc == 0; i++) {
        if (bench_stopped(e) != 0) {
            rc = LRA_FAILED;
            break;
        }
        double start = lra_now();
        lra_dataset *d = lra_dataset_make(t, c, e);
        first[i] = lra_now() - start;
        rc = d ? 0 : LRA_FAILED;
        if (d) load[i] = time_loader(d, b->B, &batches);
        last = i + 1 == TIMES || lra_now() - begin > b->seconds;
        if (d && last) add_table(b, d, preset, i + 1, first, load, batches);
        lra_dataset_free(d);
    }
    lra_config_free(c);
    return rc;
}

static int run_task(bench *b, const lra_task *t, lra_err *e)
{
    static const char *const presets[] = {"quick", "small", "paper"};
    int rc = 0;
    for (int k = 0; k < 3 && rc == 0; k++) rc = run_preset(b, t, presets[k], e);
    return rc;
}

int bench_data(bench *b, lra_err *e)
{
    int rc = 0;
    omp_set_num_threads(b->threads);
    for (int i = 0; lra_task_at(i) && rc == 0; i++)
        if (lra_task_at(i)->data.make) rc = run_task(b, lra_task_at(i), e);
    return rc;
}
