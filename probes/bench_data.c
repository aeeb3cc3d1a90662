/* Data: making the rows of each task, and batching them.  The loader must be far faster than a step. */
#include <omp.h>
#include <string.h>

#include "datasets/batch.h"
#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"
#include "probes/bench.h"

enum { FEW = 1000 };

/* Seconds of an epoch of batches. */
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

static int run_preset(bench *b, const lra_task *t, const char *preset, lra_err *e)
{
    double make_time[3], load_time[3];
    int64_t rows = 0, batches = 0, tokens = 0;
    for (int i = 0; i < 3; i++) {
        if (bench_stopped(e) != 0) return LRA_FAILED;
        lra_config *c = lra_task_config(t, preset, e);
        if (!c) return LRA_FAILED;
        /* Tasks that count their rows in one number: few of them, rates are what is measured. */
        if (t->resize) t->resize(c, FEW);
        double start = lra_now();
        lra_dataset *d = lra_dataset_make(t, c, e);
        make_time[i] = lra_now() - start;
        lra_config_free(c);
        if (!d) return LRA_FAILED;
        rows = tokens = 0;
        for (int s = 0; s < LRA_N_SPLITS; s++)
            rows += d->split[s].n, tokens += d->split[s].start[d->split[s].n];
        load_time[i] = time_loader(d, b->B, &batches);
        lra_dataset_free(d);
    }
    bench_table *table = bench_table_add(b, "rows", "%s %s: %lld rows, %.1f tokens each", t->name,
                                         preset, (long long)rows, (double)tokens / (double)rows);
    bench_row_add(table, (bench_row){.name = lra_copy_text("make, all splits"),
                                     .count = rows,
                                     .time = bench_time_of(make_time, 3),
                                     .bytes = (double)tokens * sizeof(uint16_t)});
    bench_row_add(table, (bench_row){.name = lra_format("load, batches of %lld", (long long)b->B),
                                     .count = batches * b->B,
                                     .time = bench_time_of(load_time, 3),
                                     .bytes = (double)tokens * sizeof(int32_t)});
    return 0;
}

int bench_data(bench *b, lra_err *e)
{
    static const char *const presets[] = {"quick", "small", "paper"};
    omp_set_num_threads(b->threads);
    for (int i = 0; lra_task_at(i); i++)
        for (int k = 0; k < 3 && lra_task_at(i)->make; k++)
            if (run_preset(b, lra_task_at(i), presets[k], e) != 0) return LRA_FAILED;
    return 0;
}
