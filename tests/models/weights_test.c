/* Weights exported from a checkpoint to a safetensors file and imported again are bitwise equal;
 * PyTorch's layout; files that do not fit. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/process.h"
#include "kernels/base/os/terminal.h"
#include "kernels/cpu/device.h"
#include "models/training/checkpoint.h"
#include "models/training/session.h"
#include "models/training/weights.h"
#include "tests/fixtures/tiny_run.h"

enum { W = 4, H = 6, K = 3 }; /* settings of the model: width, hidden, kernel */

static char *folder, *file;
static lra_err err;
static lra_device device;
static tiny_run run;
static lra_session session;

static void open_session(uint64_t seed)
{
    lra_session_close(&session);
    run.spec.seed = seed;
    if (lra_session_open(&session, &run.spec, &device, &err) != 0) fail_msg("%s", err.msg);
}

static int set_up(void **state)
{
    (void)state;
    lra_terminal_init(LRA_LOG_QUIET);
    folder = lra_format("weights_test.%ld", (long)getpid());
    file = lra_format("%s/w.safetensors", folder);
    if (tiny_run_open(&run, folder, "model=resconv\nseed=1\ntask=listops\n",
                      "layers=2 width=4 hidden=6 kernel=3 dilation=1 groups=1 causal=0 dropout=0.0",
                      &err) != 0)
        return -1;
    return lra_cpu_device(&device, 1, &err);
}

static int tear_down(void **state)
{
    (void)state;
    char *argv[] = {"rm", "-rf", folder, NULL};
    lra_session_close(&session);
    lra_process_run(argv, NULL, NULL, NULL, &err);
    tiny_run_close(&run);
    lra_free(folder);
    lra_free(file);
    return 0;
}

/* Exports the weights of the session to a file. */
static void write_file(void)
{
    int n;
    if (lra_weights_export(session.params, run.spec.config, -1, file, &n, &err) != 0)
        fail_msg("%s", err.msg);
    assert_int_equal(n, 1 + 2 * 6 + 2 + 2);
}

TEST(round_trip)
{
    open_session(1);
    uint64_t hash = lra_params_hash(session.params);
    write_file();
    size_t n, m;
    char *first = lra_file_read(file, 1 << 20, &n, &err);
    open_session(2);
    assert_int_not_equal(lra_params_hash(session.params), hash);
    lra_safetensors t;
    int converted = -1;
    assert_int_equal(lra_safetensors_read(file, &t, &err), 0);
    if (lra_weights_import(session.params, &t, "w", &converted, &err) != 0) fail_msg("%s", err.msg);
    assert_int_equal(converted, 0);
    assert_int_equal(lra_params_hash(session.params), hash);
    write_file();
    char *second = lra_file_read(file, 1 << 20, &m, &err);
    assert_int_equal(n, m);
    assert_memory_equal(first, second, n);
    lra_safetensors_free(&t);
    lra_free_large(first);
    lra_free_large(second);
}

static const lra_ndarray *find(const lra_safetensors *t, const char *name)
{
    const lra_ndarray *a = lra_safetensors_find(t, name);
    if (!a) fail_msg("no '%s'", name);
    return a;
}

/* Layouts of PyTorch: torch.nn.Conv1d (out, in, tap), torch.nn.Linear (out, in), torch.nn.Embedding
 * (vocab, width). */
TEST(layout_of_pytorch)
{
    open_session(3);
    write_file();
    lra_safetensors t;
    assert_int_equal(lra_safetensors_read(file, &t, &err), 0);
    float ours[K * W * H], theirs[K * W * H];
    const lra_ndarray *a = find(&t, "param/encoder/layer1/conv/kernel");
    assert_true(a->rank == 3 && a->dims[0] == H && a->dims[1] == W && a->dims[2] == K);
    assert_int_equal(lra_params_get(session.params, "encoder/layer1/conv/kernel", ours, &err), 0);
    assert_int_equal(lra_ndarray_get_f32(a, "a", theirs, &err), 0);
    for (int k = 0; k < K; k++)
        for (int d = 0; d < W; d++)
            for (int h = 0; h < H; h++)
                assert_true(theirs[(h * W + d) * K + k] == ours[(k * W + d) * H + h]);
    a = find(&t, "param/encoder/layer0/linear/w");
    assert_true(a->rank == 2 && a->dims[0] == W && a->dims[1] == H);
    assert_int_equal(lra_params_get(session.params, "encoder/layer0/linear/w", ours, &err), 0);
    assert_int_equal(lra_ndarray_get_f32(a, "a", theirs, &err), 0);
    for (int i = 0; i < H; i++)
        for (int o = 0; o < W; o++) assert_true(theirs[o * H + i] == ours[i * W + o]);
    a = find(&t, "param/embed/table");
    assert_true(a->rank == 2 && a->dims[0] == lra_task_listops.input.vocab && a->dims[1] == W);
    assert_string_equal(lra_config_text(t.meta, "lra.format"), "1");
    assert_string_equal(lra_config_text(t.meta, "lra.task"), "listops");
    assert_string_equal(lra_config_text(t.meta, "lra.seed"), "1");
    lra_safetensors_free(&t);
}

/* Imports the content of `t`; the message must contain `says`; NULL: no error is expected. */
static void expect(lra_safetensors *t, const char *says)
{
    int converted;
    err.msg[0] = 0;
    int rc = lra_weights_import(session.params, t, "w", &converted, &err);
    if (!says && rc != 0) fail_msg("%s", err.msg);
    if (says && rc == 0) fail_msg("accepted; expected '%s'", says);
    if (says && !strstr(err.msg, says)) fail_msg("'%s' lacks '%s'", err.msg, says);
}

/* For files of other programs the message counts and names arrays that are missing and arrays that
 * are unknown. */
static void foreign_names_are_counted(lra_safetensors *t)
{
    lra_safetensor others[2] = {t->tensor[0], t->tensor[1]};
    lra_safetensors foreign = *t;
    others[0].name = "model.layers.0.mixer.A_log", others[1].name = "lm_head.weight";
    foreign.tensor = others, foreign.n = 2;
    char *says = lra_format("2 of its 2 arrays are unknown, the first is "
                            "'model.layers.0.mixer.A_log'; %d of the model's %d arrays are "
                            "missing, the first is 'param/embed/table'",
                            t->n, t->n);
    expect(&foreign, says);
    lra_free(says);
}

TEST(what_does_not_fit_is_refused)
{
    open_session(4);
    write_file();
    lra_safetensors t;
    assert_int_equal(lra_safetensors_read(file, &t, &err), 0);
    expect(&t, NULL);
    lra_ndarray *kernel = (lra_ndarray *)(uintptr_t)find(&t, "param/encoder/layer0/conv/kernel");
    int64_t dims[3] = {kernel->dims[0], kernel->dims[1], kernel->dims[2]};
    /* the axes in the order of the engine instead of PyTorch's */
    kernel->dims[0] = K, kernel->dims[2] = H;
    expect(&t,
           "'param/encoder/layer0/conv/kernel' has shape (3,4,6), expected (6,4,3) (outputs first");
    memcpy(kernel->dims, dims, sizeof dims);
    ((float *)(uintptr_t)kernel->bytes)[7] = NAN;
    expect(&t, "'param/encoder/layer0/conv/kernel' contains values that are not finite");
    ((float *)(uintptr_t)kernel->bytes)[7] = 0;

    char *name = t.tensor[0].name;
    t.tensor[0].name = lra_format("%sx", name);
    expect(&t, "did you mean '");
    lra_free(t.tensor[0].name);
    t.tensor[0].name = name;
    t.n--;
    char *missing = lra_format("does not fit the model: 1 of the model's %d arrays is missing, the "
                               "first is '%s'",
                               t.n + 1, t.tensor[t.n].name);
    expect(&t, missing);
    lra_free(missing);
    t.n++;
    lra_config_set(t.meta, "lra.grit", "8x8");
    expect(&t, "unknown metadata 'lra.grit'; did you mean 'lra.grid'?");
    lra_config_remove(t.meta, "lra.grit");
    lra_config_set(t.meta, "other", "anything");
    expect(&t, NULL);
    lra_config_set(t.meta, "lra.format", "2");
    expect(&t, "has format '2', this program reads 1");
    lra_config_remove(t.meta, "lra.format");
    expect(&t, "no metadata 'lra.format'");
    foreign_names_are_counted(&t);
    lra_safetensors_free(&t);
}

/* Arrays of another float type are converted, and counted. */
TEST(other_types_are_converted)
{
    open_session(5);
    write_file();
    lra_safetensors t;
    assert_int_equal(lra_safetensors_read(file, &t, &err), 0);
    lra_ndarray *bias = (lra_ndarray *)(uintptr_t)find(&t, "param/encoder/norm/bias");
    const uint16_t bf16[W] = {0x3F80, 0xC000, 0, 0x4000}; /* 1, -2, 0, 2 in bf16 */
    float values[W];
    int converted;
    bias->dtype = LRA_DTYPE_BF16, bias->element = 2, bias->bytes = bf16;
    assert_int_equal(lra_weights_import(session.params, &t, "w", &converted, &err), 0);
    assert_int_equal(converted, 1);
    assert_int_equal(lra_params_get(session.params, "encoder/norm/bias", values, &err), 0);
    assert_true(values[0] == 1 && values[1] == -2 && values[2] == 0 && values[3] == 2);
    lra_safetensors_free(&t);
}

GROUP(set_up, tear_down);
