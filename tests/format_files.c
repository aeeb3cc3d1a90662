/* Tiny files of a run. */
#include "tests/format_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/process.h"
#include "kernels/base/terminal.h"
#include "kernels/cpu/device.h"
#include "models/training/checkpoint.h"
#include "models/training/session.h"
#include "reports/listops_result.h"
#include "reports/probe_result.h"
#include "reports/result.h"
#include "tests/tiny_run.h"

const char *const own_names[FORMAT_KINDS] = {"data",   "checkpoint", "best",
                                             "result", "listops",    "kernels"};

static char folder[64], *paths[FORMAT_KINDS];
static tiny_run run;
static lra_device device;
static lra_session session;
static lra_epoch_record epochs[2] = {{0, 8, 2.5, 0.1, 2.25, 0.125, 0.004, 1.5},
                                     {1, 16, 1.5, 0.2, 1.25, 0.225, 0.002, 3.25}};

static void must(int rc, const lra_err *e)
{
    if (rc != 0) LRA_BUG("%s", e->msg);
}

static void write_checkpoint(lra_err *e)
{
    lra_run_state now = {.epoch = 2,
                         .batch = 3,
                         .step = 19,
                         .skipped = 1,
                         .schedule = {0.5, 0.225, 1},
                         .loss_sum = 12.5,
                         .sums = {.n = 24, .right = 7, .loss = 11.5, .target = 3, .square = 5},
                         .best_val = 0.225,
                         .best_epoch = 1,
                         .seconds = 4.75,
                         .log_bytes = 321,
                         .history = epochs,
                         .n_epochs = 2};
    must(lra_checkpoint_write(&run.spec, &now, session.params, e), e);
    must(lra_best_write(&run.spec, 1, 0.225, session.params, e), e);
}

/* What every result says of the run. */
#define OF_THE_RUN                                                                                 \
    .task = "listops", .model = "resconv", .preset = "quick", .precision = "f32",                  \
    .origin = {.device = "cpu", .threads = 2, .revision = "1", .date = "2026-05-04T12:30:00Z"},    \
    .fingerprint = run.data->fingerprint, .run = "0123456789abcdef",                               \
    .config = "seed=1\ntask=listops\n", .seed = 1, .kernel = 3, .reach = 1, .max_length = 32

static void write_result(lra_err *e)
{
    float logits[6 * 10];
    int32_t label[6], guess[6];
    double history[2 * 7];
    uint8_t right[5] = {1, 0, 1, 0, 0};
    for (int i = 0; i < 60; i++) logits[i] = (float)(i * i % 17) / 4;
    for (int i = 0; i < 6; i++) label[i] = i % 4, guess[i] = 9 - i;
    for (int i = 0; i < 14; i++) history[i] = i / 8.0;
    lra_result r = {OF_THE_RUN,
                    .deviations = "",
                    .parameters = 1234,
                    .steps = 16,
                    .best_epoch = 1,
                    .seconds = 4.75,
                    .step_flops = 1e6,
                    .padding = 0.125,
                    .n_epochs = 2,
                    .history = history,
                    .n = 6,
                    .n_classes = 10,
                    .logits = logits,
                    .label = label,
                    .n_val = 4,
                    .val_logits = logits,
                    .val_label = label,
                    .n_train = 5,
                    .train_value = 0.5,
                    .train_loss = 1.5,
                    .train_correct = right,
                    .n_baselines = 2,
                    .baseline_name = {"constant", "majority"},
                    .baseline = {guess, label}};
    must(lra_result_write(paths[FORMAT_RESULT], &r, e), e);
}

static void write_listops(lra_err *e)
{
    int32_t digit[6] = {0, 1, 2, 9, 8, 7}, root[6] = {0, 1, 2, 3, 4, 0},
            size[6] = {3, 4, 5, 6, 7, 8};
    lra_listops r = {OF_THE_RUN,
                     .n = 6,
                     .label = digit,
                     .predicted = digit,
                     .root = root,
                     .arity = size,
                     .depth = root,
                     .length = size,
                     .n_heuristics = 2,
                     .heuristic_name = {"majority-by-operator", "shallow-a-1"},
                     .heuristic = {digit, digit},
                     .train_count = {{5, 6, 7}},
                     .expected_count = {{1, 2, 3}}};
    must(lra_listops_result_write(paths[FORMAT_LISTOPS], &r, e), e);
}

static void write_probe(lra_err *e)
{
    static const double mass[] = {0.5, 0.25, 0.25, 0.75, 0.25, 0};
    lra_result of = {OF_THE_RUN};
    lra_origin origin = {0};
    lra_finding f[2] = {lra_finding_of("range.mean", "tokens", 1.5),
                        lra_finding_of("decay.tau", "tokens", 7)};
    lra_origin_copy(&origin, &of.origin);
    lra_probe_result *r = lra_probe_result_new("kernels", &of, &origin);
    lra_probe_result_set(r, "lags", "%d", 3);
    lra_probe_unit_new(r, "model");
    lra_probe_unit *u = lra_probe_unit_new(r, "layer0.conv");
    lra_probe_unit_array(u, "mass", 2, (int64_t[]){2, 3}, mass);
    f[0].lo = 1, f[0].hi = 2, f[0].null[LRA_NULL_UNIFORM] = 3, f[0].examples = 5;
    f[1].flags |= LRA_FLAT;
    lra_probe_unit_findings(u, 2, f);
    must(lra_probe_result_write(paths[FORMAT_PROBE], r, e), e);
    lra_probe_result_free(r);
}

void format_files_make(void)
{
    lra_err e = {{0}};
    char hash[17];
    lra_terminal_init(LRA_LOG_QUIET, true);
    const char *fast = lra_is_folder("/dev/shm") && access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                                                                                  : "/tmp";
    snprintf(folder, sizeof folder, "%s/lra-own-%ld", fast, (long)getpid());
    must(tiny_run_open(
             &run, folder, "seed=1\ntask=listops\n",
             "layers=1 width=4 hidden=4 kernel=3 dilation=1 groups=1 causal=0 dropout=0.0", &e),
         &e);
    must(lra_cpu_device(&device, 1, &e), &e);
    must(lra_session_open(&session, &run.spec, &device, &e), &e);
    lra_config_hash(run.task, hash);
    paths[FORMAT_DATA] = lra_format("%s/data/listops-%s.h5", folder, hash);
    for (int k = FORMAT_CHECKPOINT; k < FORMAT_KINDS; k++)
        paths[k] = lra_format("%s/%s.h5", folder, own_names[k]);
    write_checkpoint(&e);
    write_result(&e);
    write_listops(&e);
    write_probe(&e);
}

const char *format_files_path(int kind)
{
    return paths[kind];
}

int format_files_seal(FILE *to, const void *bytes, size_t n)
{
    char seal[65];
    snprintf(seal, sizeof seal, "lra-locality seal, xxh3-64 of all before: %016" PRIx64 "%5s\n",
             lra_hash64(bytes, n), "");
    return fwrite(bytes, 1, n, to) == n && fwrite(seal, 1, 64, to) == 64 ? 0 : -1;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void mix(uint64_t *hash, const void *bytes, size_t n)
{
    uint64_t parts[2] = {*hash, bytes ? lra_hash64(bytes, n) : 0};
    *hash = lra_hash64(parts, sizeof parts);
}

static int read_data(uint64_t *hash, lra_err *e)
{
    lra_dataset *d = lra_dataset_open(&lra_task_listops, run.task, folder, NULL, e);
    if (!d) return LRA_FAILED;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *r = &d->split[s];
        mix(hash, r->start, (size_t)(r->n + 1) * sizeof *r->start);
        mix(hash, r->token, (size_t)r->start[r->n] * sizeof *r->token);
        mix(hash, r->label, (size_t)r->n * sizeof *r->label);
    }
    mix(hash, &d->max_length, sizeof d->max_length);
    mix(hash, d->fingerprint, 16);
    lra_dataset_free(d);
    return 0;
}

static int read_checkpoint(uint64_t *hash, lra_err *e)
{
    lra_run_state now = {0};
    bool found;
    int rc = lra_checkpoint_read(&run.spec, &now, session.params, &found, e);
    if (rc == 0 && !found) rc = lra_fail(e, "not found");
    mix(hash, now.history, (size_t)now.n_epochs * sizeof *now.history);
    lra_free(now.history);
    now.history = NULL;
    mix(hash, &now, sizeof now);
    uint64_t params = rc == 0 ? lra_params_hash(session.params) : 0;
    mix(hash, &params, sizeof params);
    return rc;
}

static int read_best(uint64_t *hash, lra_err *e)
{
    if (lra_best_read(&run.spec, session.params, e) != 0) return LRA_FAILED;
    uint64_t params = lra_params_hash(session.params);
    mix(hash, &params, sizeof params);
    return 0;
}

static int read_result(uint64_t *hash, lra_err *e)
{
    lra_result *r = lra_result_read(paths[FORMAT_RESULT], e);
    if (!r) return LRA_FAILED;
    const char *texts[] = {r->task,          r->model,           r->preset,      r->precision,
                           r->origin.device, r->origin.revision, r->origin.date, r->fingerprint,
                           r->run,           r->config,          r->deviations};
    const int64_t whole[] = {r->seed,       r->kernel,  r->reach,         r->max_length,
                             r->parameters, r->steps,   r->skipped,       r->best_epoch,
                             r->n_epochs,   r->n,       r->n_classes,     r->n_baselines,
                             r->n_val,      r->n_train, r->origin.threads};
    const double reals[] = {r->seconds, r->step_flops, r->padding, r->train_value, r->train_loss};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        mix(hash, texts[i], texts[i] ? strlen(texts[i]) : 0);
    mix(hash, whole, sizeof whole);
    mix(hash, reals, sizeof reals);
    mix(hash, r->history, (size_t)r->n_epochs * 7 * sizeof *r->history);
    mix(hash, r->logits, (size_t)(r->n * r->n_classes) * sizeof *r->logits);
    mix(hash, r->label, (size_t)r->n * sizeof *r->label);
    mix(hash, r->val_logits, (size_t)(r->n_val * r->n_classes) * sizeof *r->val_logits);
    mix(hash, r->val_label, (size_t)r->n_val * sizeof *r->val_label);
    mix(hash, r->train_correct, (size_t)r->n_train);
    for (int b = 0; b < r->n_baselines; b++) {
        mix(hash, r->baseline_name[b], strlen(r->baseline_name[b]));
        mix(hash, r->baseline[b], (size_t)r->n * sizeof **r->baseline);
    }
    lra_result_free(r);
    return 0;
}

static int read_listops(uint64_t *hash, lra_err *e)
{
    lra_listops *r = lra_listops_result_read(paths[FORMAT_LISTOPS], e);
    if (!r) return LRA_FAILED;
    const char *texts[] = {r->task,        r->model,         r->preset,
                           r->precision,   r->origin.device, r->origin.revision,
                           r->fingerprint, r->run,           r->config};
    const int64_t whole[] = {r->seed,    r->kernel, r->reach,       r->max_length,
                             r->differs, r->n,      r->n_heuristics};
    const int32_t *columns[] = {r->label, r->predicted, r->root, r->arity, r->depth, r->length};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        mix(hash, texts[i], texts[i] ? strlen(texts[i]) : 0);
    mix(hash, whole, sizeof whole);
    for (int c = 0; c < 6; c++) mix(hash, columns[c], (size_t)r->n * sizeof **columns);
    for (int h = 0; h < r->n_heuristics; h++) {
        mix(hash, r->heuristic_name[h], strlen(r->heuristic_name[h]));
        mix(hash, r->heuristic[h], (size_t)r->n * sizeof **r->heuristic);
    }
    mix(hash, r->train_count, sizeof r->train_count);
    mix(hash, r->expected_count, sizeof r->expected_count);
    lra_listops_result_free(r);
    return 0;
}

static int read_probe(uint64_t *hash, lra_err *e)
{
    lra_probe_result *r = lra_probe_result_read(paths[FORMAT_PROBE], "kernels", e);
    if (!r) return LRA_FAILED;
    const char *texts[] = {r->task,          r->model,           r->preset,      r->precision,
                           r->origin.device, r->origin.revision, r->fingerprint, r->run,
                           r->config,        r->settings};
    const int64_t whole[] = {r->seed, r->kernel, r->reach, r->max_length, r->grid, r->n_units};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        mix(hash, texts[i], texts[i] ? strlen(texts[i]) : 0);
    mix(hash, whole, sizeof whole);
    for (int i = 0; i < r->n_units; i++) {
        const lra_probe_unit *u = r->unit[i];
        mix(hash, u->name, strlen(u->name));
        for (int k = 0; k < u->n_arrays; k++) {
            const lra_probe_array *a = &u->array[k];
            size_t n = 1;
            for (int d = 0; d < a->rank; d++) n *= (size_t)a->dims[d];
            mix(hash, a->name, strlen(a->name));
            mix(hash, a->dims, sizeof a->dims);
            mix(hash, a->value, n * sizeof *a->value);
        }
        for (int k = 0; k < u->n_findings; k++) mix(hash, &u->finding[k], sizeof u->finding[k]);
    }
    lra_probe_result_free(r);
    return 0;
}

int format_files_read(int kind, uint64_t *hash, lra_err *e)
{
    int (*const readers[FORMAT_KINDS])(uint64_t *, lra_err *) = {
        read_data, read_checkpoint, read_best, read_result, read_listops, read_probe};
    *hash = 0;
    return readers[kind](hash, e);
}

void format_files_remove(void)
{
    lra_err e;
    char *argv[] = {"rm", "-rf", folder, NULL};
    for (int k = 0; k < FORMAT_KINDS; k++) lra_free(paths[k]);
    lra_session_close(&session);
    tiny_run_close(&run);
    lra_process_run(argv, NULL, NULL, NULL, &e);
}
