/* Times every op family and its gradient at the sizes of a training step, with one small graph for
 * each. */
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/base/os/terminal.h"
#include "kernels/graph/op.h"
#include "probes/bench/bench.h"

enum { WIDTH = 128, HIDDEN = 256, VOCAB = 256 };

/* The graph of a case and its inputs. */
typedef struct {
    lra_graph *g;
    int64_t B, T;
    lra_tensor *x, *h, *row; /* x (B,T,128), h (B,T,256), row (128) */
    lra_tensor *length;      /* (B) in tokens */
} inputs;

static lra_tensor *weight(const inputs *in, const char *name, lra_shape s)
{
    return lra_param(in->g, name, s, LRA_SPEC(LRA_NORMAL(0.05)));
}
static lra_tensor *indices(const inputs *in, const char *name, lra_shape s)
{
    return lra_sample_input(in->g, name, "index:10", s);
}

static lra_tensor *conv(const inputs *in, int64_t K, int64_t groups, int64_t dilation)
{
    lra_tensor *w = weight(in, "w", LRA_SHAPE(K, WIDTH / groups, HIDDEN));
    return lra_conv(in->x, w, weight(in, "b", LRA_SHAPE(HIDDEN)), LRA_ACT_RELU, in->length, groups,
                    dilation);
}
static lra_tensor *conv5(const inputs *in)
{
    return conv(in, 5, 1, 1);
}
static lra_tensor *conv5_dilated(const inputs *in)
{
    return conv(in, 5, 1, 8);
}
static lra_tensor *conv31(const inputs *in)
{
    return conv(in, 31, 1, 1);
}
static lra_tensor *conv61_grouped(const inputs *in)
{
    return conv(in, 61, 32, 1);
}
static lra_tensor *conv31_depthwise(const inputs *in)
{
    lra_tensor *w = weight(in, "w", LRA_SHAPE(31, 1, WIDTH));
    return lra_conv(in->x, w, NULL, LRA_ACT_NONE, in->length, WIDTH, 1);
}
static lra_tensor *linear(const inputs *in)
{
    return lra_linear(in->h, weight(in, "w", LRA_SHAPE(HIDDEN, WIDTH)),
                      weight(in, "b", LRA_SHAPE(WIDTH)), LRA_ACT_NONE, in->x);
}
static lra_tensor *linear_wide(const inputs *in)
{
    return lra_linear(in->h, weight(in, "w", LRA_SHAPE(HIDDEN, 4 * HIDDEN)),
                      weight(in, "b", LRA_SHAPE(4 * HIDDEN)), LRA_ACT_NONE, NULL);
}
static lra_tensor *matmul(const inputs *in)
{
    lra_tensor *y = lra_matmul_t(in->x, false, in->x, true); /* (B,T,T) scores x x^T */
    return lra_matmul(y, in->x);
}
/* Self-attention of x with four heads. */
static lra_tensor *attend(const inputs *in, lra_tensor *x, const lra_attention_spec *s)
{
    x = lra_reshape(x, LRA_SHAPE(in->B, in->T, 4, lra_width(x) / 4));
    return lra_attention(x, x, x, in->length, s);
}
static lra_tensor *attention(const inputs *in)
{
    return attend(in, in->x, &(lra_attention_spec){.scale = 0});
}
static lra_tensor *attention_wide(const inputs *in)
{
    return attend(in, in->h, &(lra_attention_spec){.scale = 0});
}
static lra_tensor *attention_causal(const inputs *in)
{
    return attend(in, in->x, &(lra_attention_spec){.causal = true});
}
static lra_tensor *attention_window(const inputs *in)
{
    return attend(in, in->x, &(lra_attention_spec){.window = 64});
}
static lra_tensor *attention_chunk(const inputs *in)
{
    static const double decay[] = {0, 8, 7.5, 7};
    return attend(in, in->x,
                  &(lra_attention_spec){.causal = true, .chunk = 128, .decay = decay, .smooth = 3});
}
static lra_tensor *long_conv(const inputs *in)
{
    return lra_long_conv(in->x, weight(in, "kernel", LRA_SHAPE(WIDTH, in->T)), in->length);
}
static lra_tensor *long_conv_wide(const inputs *in)
{
    return lra_long_conv(in->h, weight(in, "kernel", LRA_SHAPE(HIDDEN, in->T)), in->length);
}
static lra_tensor *embedding(const inputs *in)
{
    return lra_embedding(weight(in, "table", LRA_SHAPE(VOCAB, WIDTH)),
                         indices(in, "index", LRA_SHAPE(in->B, in->T)));
}
static lra_tensor *layer_norm(const inputs *in)
{
    return lra_layer_norm(in->x, weight(in, "gain", LRA_SHAPE(WIDTH)),
                          weight(in, "bias", LRA_SHAPE(WIDTH)), 0);
}
static lra_tensor *batch_norm(const inputs *in)
{
    return lra_batch_norm(
        in->x, in->length, weight(in, "gain", LRA_SHAPE(WIDTH)),
        weight(in, "bias", LRA_SHAPE(WIDTH)), lra_state(in->g, "mean", LRA_SHAPE(WIDTH), NULL),
        lra_state(in->g, "var", LRA_SHAPE(WIDTH), LRA_SPEC(LRA_CONSTANT(1))), 0.1, 1e-5);
}
static lra_tensor *softmax(const inputs *in)
{
    return lra_softmax(in->h);
}
static lra_tensor *relu(const inputs *in)
{
    return lra_relu(in->h);
}
static lra_tensor *gelu(const inputs *in)
{
    return lra_gelu(in->h);
}
static lra_tensor *silu(const inputs *in)
{
    return lra_silu(in->h);
}
static lra_tensor *tanh_(const inputs *in)
{
    return lra_tanh(in->h);
}
static lra_tensor *exp_(const inputs *in)
{
    return lra_exp(in->h);
}
static lra_tensor *add(const inputs *in)
{
    return lra_add(in->h, lra_affine(in->h, 2, 1));
}
static lra_tensor *mul_row(const inputs *in)
{
    return lra_mul(in->x, in->row);
}
static lra_tensor *dropout(const inputs *in)
{
    return lra_dropout(in->h, 0.1, false);
}
static lra_tensor *pool(const inputs *in)
{
    return lra_pool(in->x, in->length, LRA_POOL_MEAN);
}
static lra_tensor *pool_max(const inputs *in)
{
    return lra_pool(in->x, in->length, LRA_POOL_MAX);
}
static lra_tensor *permute(const inputs *in)
{
    return lra_permute(in->x, 3, (const int[]){0, 2, 1});
}
static lra_tensor *concat(const inputs *in)
{
    return lra_concat(2, (lra_tensor *[]){in->x, in->h}, 2);
}
static lra_tensor *slice(const inputs *in)
{
    return lra_slice(in->h, 2, 0, WIDTH);
}
static lra_tensor *gather(const inputs *in)
{
    return lra_gather(in->x, indices(in, "index", LRA_SHAPE(in->B, 10)));
}
static lra_tensor *cross_entropy(const inputs *in)
{
    return lra_cross_entropy(lra_cast(in->h, lra_real(in->g)),
                             indices(in, "label", LRA_SHAPE(in->B, in->T)));
}
static lra_tensor *mse(const inputs *in)
{
    return lra_mse(in->h, lra_relu(in->h));
}

static const struct {
    const char *name;
    lra_tensor *(*build)(const inputs *in);
} cases[] = {{"conv, K = 5", conv5},
             {"conv, K = 5, dilation 8", conv5_dilated},
             {"conv, K = 31", conv31},
             {"conv, K = 61, 32 groups", conv61_grouped},
             {"conv, K = 31, depthwise", conv31_depthwise},
             {"linear", linear},
             {"linear, 256 to 1024", linear_wide},
             {"matmul", matmul},
             {"attention, 4 heads of 32", attention},
             {"attention, 4 heads of 64", attention_wide},
             {"attention, causal, 4 heads of 32", attention_causal},
             {"attention, window of 64, 4 heads of 32", attention_window},
             {"attention, chunks of 128, LaS", attention_chunk},
             {"long convolution, 128 channels", long_conv},
             {"long convolution, 256 channels", long_conv_wide},
             {"embedding", embedding},
             {"layer norm", layer_norm},
             {"batch norm", batch_norm},
             {"softmax", softmax},
             {"relu", relu},
             {"gelu", gelu},
             {"silu", silu},
             {"tanh", tanh_},
             {"exp", exp_},
             {"add", add},
             {"mul, broadcast row", mul_row},
             {"dropout", dropout},
             {"pool, mean", pool},
             {"pool, max", pool_max},
             {"permute", permute},
             {"concat", concat},
             {"slice", slice},
             {"gather", gather},
             {"cross-entropy", cross_entropy},
             {"mse", mse}};
enum { N_CASES = sizeof cases / sizeof *cases };

/* Fills an input with random values: reals are uniform in [-1, 1), indices are below 10. whole: an
 * int32 input is set to T (length without padding). */
static int fill(lra_plan *p, const lra_tensor *input, bool whole, int64_t T, lra_err *e)
{
    int64_t n = lra_elements(input);
    float *value = lra_alloc_array((size_t)n, sizeof *value);
    int32_t *index = (int32_t *)value;
    lra_rng rng = lra_rng_new(7, (uint32_t)n, 0);
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = lra_rng_u32(&rng);
        if (input->type == LRA_I32)
            index[i] = whole ? (int32_t)T : (int32_t)(bits % 10);
        else
            value[i] = (float)((double)bits / 2147483648.0 - 1.0);
    }
    int rc = lra_set(p, input, value, e);
    lra_free(value);
    return rc;
}

typedef struct {
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} running;

/* Builds and plans case i: its op, and the gradients of all inputs and parameters. */
static int open_case(bench *b, int i, inputs *in, running *r, lra_err *e)
{
    *in = (inputs){.g = lra_graph_new(b->type, LRA_TRAIN), .B = b->B, .T = b->T};
    lra_type real = lra_real(in->g);
    lra_tensor *leaf[64], *grad[64], *out[65];
    lra_tensor *x = lra_input(in->g, "x", real, LRA_SHAPE(b->B, b->T, WIDTH));
    lra_tensor *h = lra_input(in->g, "h", real, LRA_SHAPE(b->B, b->T, HIDDEN));
    lra_tensor *row = lra_input(in->g, "row", real, LRA_SHAPE(WIDTH));
    in->length = lra_input(in->g, "length", LRA_I32, LRA_SHAPE(b->B));
    in->x = lra_cast(x, lra_elem(in->g)), in->h = lra_cast(h, lra_elem(in->g));
    in->row = lra_cast(row, lra_elem(in->g));
    lra_tensor *y = cases[i].build(in);
    int n = lra_graph_params(in->g, leaf);
    leaf[n++] = in->x, leaf[n++] = in->h, leaf[n++] = in->row;
    lra_grad(y, NULL, n, leaf, grad);
    for (int k = 0; k < n; k++) out[k] = grad[k];
    out[n] = y;
    r->params = lra_params_new(&b->device, 1);
    r->space = lra_space_new(&b->device);
    r->plan = lra_plan_new(in->g, r->params, r->space, n + 1, out, e);
    if (!r->plan) return lra_fail_in(e, "'%s'", cases[i].name);
    lra_plan_threads(r->plan, b->threads);
    int rc = bench_room(b, r->plan, e);
    if (rc == 0) rc = fill(r->plan, in->length, true, b->T, e);
    static const char *const names[] = {"x", "h", "row", "index", "label"};
    for (size_t k = 0; k < sizeof names / sizeof *names && rc == 0; k++) {
        const lra_tensor *input = lra_find(in->g, names[k]);
        if (input) rc = fill(r->plan, input, false, b->T, e);
    }
    if (rc == 0 && lra_find(in->g, "step"))
        rc = lra_set(r->plan, lra_step_input(in->g), &(lra_step){.seed = 1}, e);
    return rc;
}

/* Removes nodes that fill tensors with ones or zeros, because they only start the gradient
 * computation. Returns the number of remaining nodes per run. */
static int drop_seeds(lra_node_time *times, int n, int runs)
{
    int left = 0;
    for (int i = 0; i < n * runs; i++)
        if (strcmp(times[i].op, "ones") != 0 && strcmp(times[i].op, "zeros") != 0)
            times[left++] = times[i];
    return left / runs;
}

static int run_case(bench *b, int i, lra_err *e)
{
    enum { MAX_RUNS = 200 };
    inputs in;
    running r = {0};
    int rc = open_case(b, i, &in, &r, e), runs = 0;
    if (rc == 0) rc = lra_run(r.plan, e);
    int nodes = rc == 0 ? lra_plan_cost(r.plan).n_nodes : 0;
    lra_node_time *times = lra_alloc_array((size_t)nodes * MAX_RUNS + 1, sizeof *times);
    double begin = lra_now();
    while (rc == 0 && runs < MAX_RUNS && (runs < 3 || lra_now() - begin < b->seconds / 10))
        rc = lra_run_timed(r.plan, times + runs++ * nodes, e);
    nodes = rc == 0 ? drop_seeds(times, nodes, runs) : 0;
    if (rc == 0)
        bench_nodes(b, bench_table_add(b, "nodes", "%s", cases[i].name), times, nodes, runs);
    lra_free(times);
    lra_plan_free(r.plan);
    lra_space_free(r.space);
    lra_params_free(r.params);
    lra_graph_free(in.g);
    return rc;
}

int bench_ops(bench *b, lra_err *e)
{
    const char *op = lra_option_text(b->options, "op");
    int n = 0;
    for (int i = 0; i < N_CASES; i++) {
        if (strncmp(cases[i].name, op, strlen(op)) != 0) continue;
        if (bench_stopped(e) != 0 || run_case(b, i, e) != 0) return LRA_FAILED;
        n++;
    }
    return n ? 0
             : lra_fail(
                   e,
                   "no op of this benchmark begins with '%s'; 'lra-probe bench ops' without --op "
                   "lists them",
                   op);
}
