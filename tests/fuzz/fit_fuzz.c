/* The file of a trained external model, which 'lra-probe fit --import' reads: arbitrary bytes. It
 * is rejected with a message, or becomes a result file that the reports can read. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "datasets/loader/batch.h"
#include "kernels/base/cli/program.h"
#include "kernels/base/formats/safetensors.h"
#include "kernels/base/os/file.h"
#include "probes/fit/exchange.h"
#include "probes/run/job_options.h"
#include "reports/results/result.h"
#include "reports/results/result_metric.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_ROWS = 64, CLASSES = 10, EPOCHS = 2 };

static const lra_option seed[] = {
    {.name = "seed", .kind = LRA_OPTION_INT, .value = "0", .max = 9, .arg = "N"}, {.name = NULL}};
static const lra_option *const tables[] = {seed, lra_job_options, lra_common_options, NULL};
static const lra_command command = {.program = "fit_fuzz", .max_args = 0, .tables = tables};
static const lra_fit_model model = {.name = "net", .reach = -1};
static char folder[64], file[96];
static lra_options *options;
static lra_job job;

static void must(int rc, const lra_err *e)
{
    if (rc != 0) LRA_BUG("%s", e->msg);
}

static void close_job(void)
{
    lra_job_close(&job);
    lra_options_free(options);
}

static void open_job(void)
{
    lra_err e;
    if (*folder) return;
    bool fast = lra_is_folder("/dev/shm") && access("/dev/shm", W_OK) == 0;
    snprintf(folder, sizeof folder, "%s/lra-fit-%ld", fast ? "/dev/shm" : "/tmp", (long)getpid());
    snprintf(file, sizeof file, "%s/trained.safetensors", folder);
    char *words[] = {"--task",    "listops", "--set",   "train=32", "--set", "val=16",
                     "--set",     "test=32", "--set",   "batch=4",  "--set", "epochs=2",
                     "--threads", "1",       "--quiet", "--out",    folder};
    options = lra_options_parse(&command, sizeof words / sizeof *words, words, &e);
    if (!options) LRA_BUG("%s", e.msg);
    must(lra_job_open(&job, options, &e), &e);
    must(lra_job_load_data(&job, &e), &e);
    atexit(close_job);
}

static void set_output(lra_safetensor *t, char *name, int64_t rows, const float *bytes)
{
    t->name = name;
    t->array = (lra_ndarray){.dtype = LRA_DTYPE_F32, .rank = 2, .dims = {rows, CLASSES}};
    t->array.bytes = bytes;
}

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const float output[MOST_ROWS * CLASSES] = {[3] = 1, [14] = 2};
    static const double history[EPOCHS * 7] = {4, 2, 0.1, 2, 0.1, 1e-3, 1,
                                               8, 2, 0.2, 2, 0.2, 1e-3, 2};
    lra_err e;
    size_t n;
    if (i > 1) return false;
    open_job();
    lra_safetensor t[4];
    lra_config *meta = lra_config_new();
    t[0] = (lra_safetensor){"history", {.dtype = LRA_DTYPE_F64, .rank = 2, .dims = {EPOCHS, 7}}};
    t[0].array.bytes = history;
    set_output(&t[1], "train/output", job.data->split[LRA_TRAIN_SPLIT].n, output);
    set_output(&t[2], "val/output", job.data->split[LRA_VAL_SPLIT].n, output);
    set_output(&t[3], "test/output", job.data->split[LRA_TEST_SPLIT].n, output);
    lra_config_set(meta, "fingerprint", job.data->fingerprint);
    lra_config_set(meta, "parameters", "120");
    lra_config_set(meta, "steps", "8");
    lra_config_set(meta, "skipped", "0");
    lra_config_set(meta, "best_epoch", "2");
    lra_config_set(meta, "seconds", "1.5");
    if (i == 1) lra_config_set(meta, "libraries", "PyTorch");
    must(lra_safetensors_write(file, i == 0 ? 4 : 3, t, meta, &e), &e);
    char *bytes = lra_file_read(file, 1 << 20, &n, &e);
    if (!bytes) LRA_BUG("%s", e.msg);
    lra_text_bytes(to, bytes, n);
    lra_free_large(bytes);
    lra_config_free(meta);
    return true;
}

static void check_result(const char *path)
{
    lra_err e = {{0}};
    lra_result *r = lra_result_read(path, &e);
    if (!r) LRA_BUG("a result that was written is refused: %s", e.msg);
    lra_free(lra_result_text(r));
    lra_result_free(r);
    remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    char *path;
    open_job();
    must(lra_file_write(file, data, n, &e), &e);
    int rc = lra_fit_import(&job, &model, file, &path, &e);
    if (rc == 0)
        check_result(path);
    else
        lra_fuzz_check_message(&e);
    lra_free(path);
    return 0;
}
