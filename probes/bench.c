/* lra-probe bench: measures speed, and its ratio to the peak of this machine.
 *
 * Peaks are measured in the same run. The roofline time (floor) of a node is FLOPs over the
 * arithmetic peak plus exponentials over their measured rate, or bytes over the memory peak if that
 * is larger. Bytes count every source and the result once, so a node whose data are in the caches
 * can be faster than its floor. */
#include "probes/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/os/signals.h"
#include "kernels/cuda/device.h"
#include "probes/probe.h"
#include "probes/run/device.h"
#include "probes/run/job_options.h"
#include "probes/run/option_rows.h"

static const lra_option own[] = {
    {.name = "op",
     .kind = LRA_OPTION_TEXT,
     .value = "",
     .arg = "NAME",
     .help = "ops: benchmark only ops whose names begin with NAME (empty = all)"},
    LRA_MODEL_OPTION("model architecture"),
    LRA_SET_OPTION("the model (with --task or --all: of task, model or training)"),
    LRA_COUNT_OPTION("batch", "16", 1, 1 << 20,
                     "examples per step (with --task or --all: the preset's, unless given)"),
    LRA_COUNT_OPTION("length", "1024", 1, 1 << 20, "tokens per example"),
    LRA_COUNT_OPTION("vocab", "256", 2, 1 << 16, "vocabulary size"),
    LRA_COUNT_OPTION("classes", "10", 2, 1 << 16, "number of classes of the output head"),
    LRA_THREADS_OPTION("all processors"),
    LRA_DEVICE_OPTION("cpu", "device to benchmark: auto, cpu, cuda or cuda:N"),
    {.name = "precision",
     .kind = LRA_OPTION_CHOICE,
     .value = "f32",
     .choices = "f32|bf16",
     .help = "storage type of the graphs (with --task or --all: as in training, unless given)"},
    {.name = "recompute",
     .kind = LRA_OPTION_CHOICE,
     .value = "nothing",
     .choices = "nothing|cheap|layers",
     .arg = "KIND",
     .help = "activation checkpointing: which activations are recomputed to save memory"},
    LRA_QUERIES_OPTION(
        "attention: number of query positions per example, where no attention op provides the "
        "weights (0 = all)"),
    {.name = "seconds",
     .kind = LRA_OPTION_REAL,
     .value = "5",
     .min = 0.01,
     .max = 3600,
     .arg = "S",
     .help = "minimum duration of each measurement, in seconds; each is repeated at least 3 times"},
    {.name = "task",
     .letter = 't',
     .kind = LRA_OPTION_TEXT,
     .arg = "TASK",
     .help =
         "data: compare loading the batches of TASK with its training step ('lra-probe list tasks')"},
    {.name = "all",
     .kind = LRA_OPTION_FLAG,
     .help = "data: same as --task for every task, in one table"},
    {.name = "preset",
     .letter = 'p',
     .kind = LRA_OPTION_CHOICE,
     .choices = "quick|small|paper",
     .help = "with --task or --all: preset to measure (default: quick and small)"},
    {.name = "objective",
     .kind = LRA_OPTION_TEXT,
     .arg = "OBJECTIVE",
     .help =
         "with --task or --all: training objective to measure (default: all that fit the task)"},
    {.name = "augment",
     .kind = LRA_OPTION_TEXT,
     .arg = "AUGMENTATION",
     .help =
         "with --task or --all: augmentation to measure ('lra-probe list augmentations'; default: "
         "none and the task's)"},
    LRA_DATA_DIR_OPTION(" of --task, or with --all of tasks that cannot be generated"),
    LRA_JSON_OPTION("print one JSON document instead of tables"),
    {.name = "csv",
     .kind = LRA_OPTION_FLAG,
     .help = "print the table of --task, --all or --predict as CSV"},
    {.name = "predict",
     .kind = LRA_OPTION_FLAG,
     .help =
         "step: predict the step time on a GPU from counted FLOPs and bytes (needs --device cuda, "
         "but no GPU)"},
    {.name = "table1",
     .kind = LRA_OPTION_FLAG,
     .help = "with --predict: the 30 runs of Table 1 of the locality paper, in bf16"},
    {.name = "peak",
     .kind = LRA_OPTION_REAL,
     .value = "770",
     .min = 1e-3,
     .max = 1e6,
     .arg = "TFLOPS",
     .help = "with --predict: peak rate of matrix products, in TFLOP/s (default: bf16 on an H200)"},
    {.name = "copies",
     .kind = LRA_OPTION_REAL,
     .value = "4.3",
     .min = 1e-3,
     .max = 1e3,
     .arg = "TBS",
     .help = "with --predict: peak memory bandwidth, in TB/s, bytes read plus written"},
    {.name = "launch",
     .kind = LRA_OPTION_REAL,
     .value = "2",
     .min = 0,
     .max = 1e4,
     .arg = "US",
     .help = "with --predict: launch overhead of each node, in microseconds"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe bench",
    .summary =
        "Times training steps, ops and data loading, and compares them with the machine's peaks.",
    .usage = "[ceilings|step|ops|params|data|levels|memory|attention]...",
    .examples = "  lra-probe bench step --set kernel=31\n"
                "  lra-probe bench data --all --data-dir downloads --threads 1\n"
                "  lra-probe bench step --device cuda --predict --table1",
    .min_args = 0,
    .max_args = -1,
    .tables = tables,
};

/* ---- rows ------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_time bench_time_of(double *s, int n)
{
    qsort(s, (size_t)n, sizeof *s, by_value);
    double median = n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
    return (bench_time){median, s[n / 10], s[n - 1 - n / 10], n};
}

bench_table *bench_table_add(bench *b, const char *unit, const char *title, ...)
{
    if (b->n_tables == sizeof b->table / sizeof *b->table) LRA_BUG("too many tables");
    bench_table *t = &b->table[b->n_tables++];
    lra_text text = {0};
    va_list args;
    va_start(args, title);
    lra_text_addv(&text, title, args);
    va_end(args);
    *t = (bench_table){.title = text.s, .unit = unit};
    return t;
}

void bench_row_add(bench_table *t, bench_row row)
{
    t->row = lra_resize(t->row, (size_t)(t->n + 1) * sizeof *t->row);
    t->row[t->n++] = row;
}

double bench_floor(const bench *b, double flops, double bytes, double exps)
{
    bool half = b->type == LRA_BF16 && b->peaks.bf16 > 0;
    double work = flops / (half ? b->peaks.bf16 : b->peaks.f32);
    double traffic = bytes / b->peaks.dram;
    if (b->exps > 0) work += exps / b->exps;
    return work > traffic ? work : traffic;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const bench_row *)a)->time.median, y = ((const bench_row *)b)->time.median;
    return (x < y) - (x > y);
}

void bench_nodes(const bench *b, bench_table *t, const lra_node_time *times, int n, int runs)
{
    double *sum = lra_alloc_array((size_t)runs, sizeof *sum);
    const lra_node_time *attention = bench_first_node(times, n, "attention");
    for (int i = 0; i < n; i++) {
        bool first = true;
        for (int k = 0; k < i && first; k++) first = strcmp(times[k].op, times[i].op) != 0;
        if (!first) continue;
        bench_row row = {.name = lra_copy_text(times[i].op)};
        memset(sum, 0, (size_t)runs * sizeof *sum);
        for (int k = i; k < n; k++) {
            if (strcmp(times[k].op, times[i].op) != 0) continue;
            row.count++;
            row.flops += times[k].flops, row.bytes += times[k].bytes;
            row.floor += bench_floor(b, times[k].flops, times[k].bytes,
                                     bench_exps(&times[k], attention));
            for (int r = 0; r < runs; r++) sum[r] += times[r * n + k].seconds;
        }
        row.time = bench_time_of(sum, runs);
        bench_row_add(t, row);
    }
    qsort(t->row, (size_t)t->n, sizeof *t->row, by_time);
    lra_free(sum);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*run)(bench *b, lra_err *e); /* NULL: only the peaks, which every benchmark measures */
    /* true: runs alone, measures no peaks, and prints its own output */
    bool alone;
} kinds[] = {{"ceilings", NULL, false},      {"step", bench_step, false},
             {"ops", bench_ops, false},      {"params", bench_params, false},
             {"levels", bench_levels, true}, {"data", bench_data, false},
             {"memory", bench_memory, true}, {"attention", bench_attention, true}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* The benchmarks that read an option; check_readers() fails if none of them is selected. */
static const struct {
    const char *option, *kinds;
} readers[] = {{"op", "ops"},
               {"model", "step, params, memory, attention"},
               {"set", "step, params, memory, attention"},
               {"length", "step, ops, params, memory, attention"},
               {"vocab", "step, params, memory, attention"},
               {"classes", "step, params, memory, attention"},
               {"batch", "step, ops, memory, data, attention"},
               {"queries", "attention"},
               {"recompute", "step, memory"}};

static int check_readers(const lra_options *o, lra_err *e)
{
    int n = lra_option_n_args(o);
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++) {
        bool read = !lra_option_given(o, readers[r].option);
        for (int i = 0; i < (n ? n : 1) && !read; i++)
            read = strstr(readers[r].kinds, n ? lra_option_arg(o, i) : "step") != NULL;
        if (!read)
            return lra_fail_usage(e, "option '--%s' applies only to the benchmarks %s",
                                  readers[r].option, readers[r].kinds);
    }
    return 0;
}

static int find_kind(const char *name, lra_err *e)
{
    const char *names[N_KINDS];
    for (int i = 0; i < N_KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(names[i], name) == 0) return i;
    }
    return lra_fail_unknown(e, "benchmark", name, N_KINDS, names, "lra-probe bench --help");
}

/* Peak rates of the device. For a GPU, the copy rate of device memory also serves as that of the
 * cache. */
static lra_peaks peaks_of(const bench *b)
{
    const lra_backend *backend = b->device.backend;
    if (!b->device.detail) return lra_cpu_peaks(b->threads);
    double copy = lra_cuda_copy_rate(&b->device);
    return (lra_peaks){backend->peak(&b->device, LRA_F32, 1),
                       backend->peak(&b->device, LRA_BF16, 1), copy, copy};
}

static int open_model(bench *b, const lra_options *o, lra_err *e)
{
    *b = (bench){.options = o,
                 .B = lra_option_int(o, "batch"),
                 .T = lra_option_int(o, "length"),
                 .vocab = lra_option_int(o, "vocab"),
                 .classes = lra_option_int(o, "classes"),
                 .seconds = lra_option_real(o, "seconds")};
    b->keep = (lra_keep)lra_job_recompute(o);
    b->type = strcmp(lra_option_text(o, "precision"), "bf16") == 0 ? LRA_BF16 : LRA_F32;
    for (int i = 0; i < lra_option_n_args(o); i++) {
        int k = find_kind(lra_option_arg(o, i), e);
        if (k < 0) return LRA_USAGE;
        if (kinds[k].alone && lra_option_n_args(o) > 1)
            return lra_fail_usage(e, "benchmark '%s' cannot be combined with others; run it alone",
                                  kinds[k].name);
    }
    if (check_readers(o, e) != 0) return LRA_USAGE;
    b->model = lra_model_find(lra_option_text(o, "model"), e);
    if (!b->model) return LRA_USAGE;
    b->config = lra_keys_config(b->model->keys);
    char *what = lra_format("model '%s'", b->model->name);
    int rc = 0;
    for (int i = 0; rc == 0 && lra_option_repeat(o, "set", i); i++)
        rc = lra_keys_assign(b->model->keys, b->config, lra_option_repeat(o, "set", i), what, e);
    lra_free(what);
    if (rc != 0) return rc;
    return lra_network_check(b->model, b->config, &(lra_network_spec){0}, e) != 0 ? LRA_USAGE : 0;
}

static int open_machine(bench *b, lra_err *e)
{
    const lra_options *o = b->options;
    lra_err no_gpu;
    int opened = lra_job_device(lra_option_text(o, "device"), (int)lra_option_int(o, "threads"),
                                &b->device, &no_gpu, e);
    if (opened != 0) return opened;
    if (no_gpu.msg[0]) lra_note("running on the CPU: %s", no_gpu.msg);
    b->threads = b->device.backend->threads(&b->device);
    return 0;
}

static int measure_peaks(bench *b, lra_err *e)
{
    lra_detail("measuring the peaks of the machine");
    b->peaks = peaks_of(b);
    return b->device.detail ? 0 : bench_measure_exps(b, e);
}

static void close_bench(bench *b)
{
    for (int i = 0; i < b->n_tables; i++) {
        for (int k = 0; k < b->table[i].n; k++) lra_free(b->table[i].row[k].name);
        lra_free(b->table[i].row);
        lra_free(b->table[i].title);
    }
    lra_config_free(b->config);
}

int bench_room(const bench *b, const lra_plan *plan, lra_err *e)
{
    const lra_backend *backend = b->device.backend;
    double need = lra_plan_cost(plan).workspace_bytes, most;
    /* free memory in bytes, 0: unknown */
    double have = backend->memory_free ? backend->memory_free(&b->device) : 0;
    char requested[32], found[32], fits[48] = "not even a batch of 1 fits";
    if (have == 0 || need <= have) return 0;
    most = (double)b->B * (have / need);
    if (most >= 1) snprintf(fits, sizeof fits, "a batch of %.0f fits", floor(most));
    return lra_fail(e, "batch %lld of length %lld needs %s of workspace, found %s on '%s'; %s",
                    (long long)b->B, (long long)b->T, lra_size_text(requested, need),
                    lra_size_text(found, have), b->device.name, fits);
}

int bench_stopped(lra_err *e)
{
    return lra_stop_signal()
               ? lra_fail(e, "stopped; the measurements of this benchmark are discarded")
               : 0;
}

/* *wanted: true if the benchmark of batches and steps is requested, which has a separate table.
 * Fails if its options are set without it. */
static int wants_loader(const lra_options *o, bool *wanted, lra_err *e)
{
    static const char *const own_options[] = {"preset", "objective", "augment", "data-dir", "csv"};
    const char *with = lra_option_flag(o, "all")     ? "all"
                       : lra_option_given(o, "task") ? "task"
                                                     : NULL;
    bool data = lra_option_n_args(o) == 1 && strcmp(lra_option_arg(o, 0), "data") == 0;
    *wanted = with != NULL;
    if (with && !data) return lra_fail_usage(e, "option '--%s' applies only to 'bench data'", with);
    bool table = lra_option_flag(o, "predict"); /* --predict also has CSV output */
    for (int i = 0; !with && i < (int)(sizeof own_options / sizeof *own_options); i++)
        if (lra_option_given(o, own_options[i]) && !(table && strcmp(own_options[i], "csv") == 0))
            return lra_fail_usage(e, "option '--%s' needs '--task TASK' or '--all'",
                                  own_options[i]);
    return 0;
}

/* *wanted: true if --predict is set, which counts a step instead of measuring it. Fails if it is
 * combined with other benchmarks, or if the peak rates of a GPU are missing. */
static int wants_prediction(const lra_options *o, bool *wanted, lra_err *e)
{
    static const char *const own_options[] = {"table1", "peak", "copies", "launch"};
    bool step = lra_option_n_args(o) == 1 && strcmp(lra_option_arg(o, 0), "step") == 0;
    *wanted = lra_option_flag(o, "predict");
    for (int i = 0; !*wanted && i < (int)(sizeof own_options / sizeof *own_options); i++)
        if (lra_option_given(o, own_options[i]))
            return lra_fail_usage(e, "option '--%s' needs '--predict'", own_options[i]);
    if (*wanted && !step)
        return lra_fail_usage(e, "option '--predict' applies only to 'bench step'");
    if (*wanted && strncmp(lra_option_text(o, "device"), "cuda", 4) != 0)
        return lra_fail_usage(
            e, "option '--predict' needs '--device cuda': it predicts a step on a GPU");
    return 0;
}

static int measure(const lra_options *o, lra_err *e)
{
    bench b = {0};
    bool loader, predicted;
    int rc = wants_prediction(o, &predicted, e);
    if (rc == 0) rc = wants_loader(o, &loader, e);
    if (rc != 0) return rc;
    if (loader) return bench_loader(o, e);
    rc = open_model(&b, o, e);
    if (predicted) {
        if (rc == 0) rc = bench_predict(&b, e);
        close_bench(&b);
        return rc;
    }
    if (rc == 0) rc = open_machine(&b, e);
    int n = lra_option_n_args(o);
    bool alone = rc == 0 && n == 1 && kinds[find_kind(lra_option_arg(o, 0), e)].alone;
    if (rc == 0 && !alone) rc = measure_peaks(&b, e);
    for (int i = 0; rc == 0 && i < n; i++) {
        int k = find_kind(lra_option_arg(o, i), e);
        if (kinds[k].run) rc = kinds[k].run(&b, e);
    }
    if (rc == 0 && n == 0) rc = bench_step(&b, e);
    if (rc != 0 || alone) {
        close_bench(&b);
        return rc;
    }
    if (lra_option_flag(o, "json"))
        rc = bench_print_json(&b, e);
    else
        bench_print_text(&b);
    close_bench(&b);
    return rc;
}

const lra_probe lra_probe_bench = {
    "bench", "times steps, ops and data loading, as percent of the machine's peaks", &command,
    measure};
