/* Estimates a training step on a GPU by counting, without a GPU. A node takes the larger of its
 * FLOPs over the rate of matrix products and its bytes (sources and result) over the rate of
 * copies, plus one kernel launch. Matrix products of convolutions take an integer number of waves
 * of thread blocks.
 * The peak rates are options. The efficiency of kernels is not modelled, so times are lower bounds
 * for those peaks.
 *
 * --table1 estimates the 30 runs of Table 1 of the locality paper (resconv, five tasks, six
 * kernels): all epochs of the paper's settings, training and validation, at the mean length of the
 * rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "kernels/cpu/device.h"
#include "kernels/cuda/side_stream.h"
#include "kernels/cuda/fused.h"
#include "kernels/graph/nodes.h"
#include "kernels/graph/op.h"
#include "kernels/ops/args.h"
#include "kernels/ops/conv/conv_dw_parts.h"
#include "kernels/ops/conv/conv_tiles.h"
#include "models/network.h"
#include "probes/bench/bench.h"
#include "probes/run/preset.h"
#include "reports/print/table.h"

enum { GOAL_HOURS = 8 };

typedef struct {
    double peak, copy, launch; /* peak in FLOP/s, copy in bytes/s, launch in seconds */
} rates;

typedef struct {
    const char *op;
    int nodes, by_products, by_bytes;
    double flops, bytes, seconds;
} op_sum;

typedef struct {
    op_sum *op;
    int n_ops;
    op_sum all;
    double workspace;
} prediction;

/* The training step to estimate: B examples of T tokens. */
typedef struct {
    const lra_model *model;
    const lra_config *config;
    lra_network_spec network;
    lra_type type;
    lra_keep keep;
    lra_mode mode;
    int64_t B, T;
} subject;

/* ---- a plan as on a GPU ---------------------------------------------------------------------- */

static int one_thread(const lra_device *d)
{
    (void)d;
    return 1;
}

static int n_beside;
static int most_beside(const lra_device *d)
{
    (void)d;
    return n_beside;
}

/* Opens a device for planning, which executes nothing: host memory, but the scratch sizes, fusions
 * and side stream of a GPU. */
static int open_device(lra_device *d, lra_err *e)
{
    static lra_backend counted;
    if (lra_cpu_device(d, 1, e) != 0) return LRA_FAILED;
    if (lra_cuda_side_stream_parse(getenv("LRA_CUDA_SIDE_STREAM"), &n_beside, e) != 0)
        return LRA_FAILED;
    counted = *d->backend;
    counted.name = "cuda", counted.scratch = lra_cuda_scratch, counted.fuses = lra_cuda_fuses,
    counted.fused_scratch = lra_cuda_fused_scratch, counted.threads = one_thread;
    counted.side = most_beside;
    d->backend = &counted;
    return 0;
}

static lra_tensor *result_of(const subject *s, lra_network *k)
{
    lra_adamw_spec adamw = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.01, .rate = 1e-3};
    if (s->mode == LRA_EVAL) return k->output;
    lra_graph_keep(k->graph, s->keep);
    int n = lra_graph_params(k->graph, NULL);
    lra_tensor **param = lra_alloc_array((size_t)n + 1, sizeof *param);
    lra_graph_params(k->graph, param);
    lra_step_input(k->graph);
    lra_tensor *update = lra_adamw(k->loss, n, param, &adamw);
    lra_free(param);
    return update;
}

static op_sum *sum_of(prediction *p, const char *op)
{
    for (int i = 0; i < p->n_ops; i++)
        if (strcmp(p->op[i].op, op) == 0) return &p->op[i];
    p->op = lra_resize(p->op, (size_t)(p->n_ops + 1) * sizeof *p->op);
    p->op[p->n_ops] = (op_sum){.op = op};
    return &p->op[p->n_ops++];
}

/* Utilisation of the multiprocessors (compute capability 9.0) by a bf16 convolution: useful work
 * over the work of complete waves of complete thread blocks. 1 if unknown. */
static double fill_of(const lra_tensor *y)
{
    if (y->op == &lra_op_conv_dw) {
        const conv_dw_args *a = y->args;
        const lra_shape *x = &y->src[0]->shape;
        int64_t n_in = x->d[2] / a->groups, n_out = y->src[1]->shape.d[2] / a->groups;
        conv_dw_sizes s = {x->d[0], x->d[1], a->K, a->groups, n_in, n_out, a->dilation};
        return y->src[0]->type == LRA_BF16 && !gdw_fits(&s) && n_in % 64 == 0 ? conv_dw_fill(&s)
                                                                              : 1;
    }
    bool back = y->op == &lra_op_conv_dx;
    if (y->type != LRA_BF16 || (!back && y->op != &lra_op_conv)) return 1;
    const conv_args *forward = y->args;
    const conv_dx_args *backward = y->args;
    int64_t groups = back ? backward->groups : forward->groups;
    int64_t dilation = back ? backward->dilation : forward->dilation;
    int64_t reach = (y->src[1]->shape.d[0] - 1) * dilation;
    conv_tiles s = {y->shape.d[0], y->shape.d[1], groups, y->shape.d[2] / groups};
    if (!conv_tile_fits(y->src[0]->shape.d[2] / groups, s.n_out, reach)) return 1;
    return conv_tile_fill(&s, conv_tile_columns(&s));
}

static void add_node(op_sum *s, const lra_node_time *node, double fill, bool fused, const rates *r)
{
    double products = node->flops / r->peak / fill, traffic = node->bytes / r->copy;
    s->nodes++, s->flops += node->flops, s->bytes += node->bytes;
    s->by_products += products > traffic, s->by_bytes += products <= traffic;
    s->seconds += fmax(products, traffic) + (fused ? 0 : r->launch);
}

static int predict(const subject *s, const rates *r, prediction *p, lra_err *e)
{
    lra_device device;
    *p = (prediction){0};
    if (open_device(&device, e) != 0) return LRA_FAILED;
    lra_network k = lra_network_build(s->type, s->mode, s->model, s->config, &s->network, s->B,
                                      s->T);
    lra_tensor *out = result_of(s, &k);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(k.graph, params, space, 1, &out, e);
    if (plan) {
        lra_cost cost = lra_plan_cost(plan);
        lra_node_time *node = lra_alloc_array((size_t)cost.n_nodes + 1, sizeof *node);
        lra_plan_nodes(plan, node);
        for (int i = 0; i < cost.n_nodes; i++) {
            bool fused = lra_plan_fused(plan, i);
            double fill = fill_of(lra_plan_tensor(plan, i));
            add_node(sum_of(p, node[i].op), &node[i], fill, fused, r);
            add_node(&p->all, &node[i], fill, fused, r);
        }
        p->workspace = cost.workspace_bytes;
        lra_free(node);
    }
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(k.graph);
    return plan ? 0 : lra_fail_in(e, "model '%s'", s->model->name);
}

/* ---- one step -------------------------------------------------------------------------------- */

static const char *format_of(const lra_options *o)
{
    return lra_option_flag(o, "json") ? "json" : lra_option_flag(o, "csv") ? "csv" : "text";
}

static void add_row(lra_table *t, const char *name, const op_sum *s, double whole)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    lra_table_number(t, s->nodes, 0);
    lra_table_number(t, s->flops / 1e9, 3);
    lra_table_number(t, s->bytes / 1e6, 3);
    lra_table_number(t, 1e3 * s->seconds, 4);
    lra_table_number(t, 100 * s->seconds / whole, 1);
    lra_table_cell(t, "%s", s->by_products >= s->by_bytes ? "products" : "bytes");
}

static void note_rates(lra_table *t, const rates *r)
{
    lra_table_note(
        t,
        "peaks: products %g TFLOP/s, copies %g TB/s, %g us per launch, convolutions in full waves "
        "of blocks; the efficiency of kernels is not modelled",
        r->peak / 1e12, r->copy / 1e12, r->launch * 1e6);
}

static int print_step(const bench *b, const rates *r, lra_err *e)
{
    static const char *const head[] = {"op", "nodes", "GFLOP", "MB", "ms", "%", "limit"};
    static const char *const key[] = {"op",           "nodes", "gflop", "megabytes",
                                      "milliseconds", "share", "limit"};
    char title[200], workspace[32];
    prediction p;
    subject s = {
        b->model, b->config, {.vocab = b->vocab, .outputs = b->classes, .pool = LRA_POOL_MEAN},
        b->type,  b->keep,   LRA_TRAIN,
        b->B,     b->T};
    if (predict(&s, r, &p, e) != 0) return LRA_FAILED;
    snprintf(
        title, sizeof title,
        "%s: one step of %lld x %lld tokens on a GPU, predicted from counts (%s; workspace %s)",
        b->model->name, (long long)b->B, (long long)b->T, b->type == LRA_BF16 ? "bf16" : "f32",
        lra_size_text(workspace, p.workspace));
    lra_table *t = lra_table_new(title, 7, head);
    lra_table_keys(t, key);
    add_row(t, "whole step", &p.all, p.all.seconds);
    for (int done = 0; done < p.n_ops; done++) { /* in descending order of time */
        op_sum *most = &p.op[0];
        for (int i = 1; i < p.n_ops; i++)
            if (p.op[i].seconds > most->seconds) most = &p.op[i];
        add_row(t, most->op, most, p.all.seconds);
        most->seconds = -1;
    }
    note_rates(t, r);
    int rc = lra_table_print(t, format_of(b->options), stdout, e);
    lra_table_free(t);
    lra_free(p.op);
    return rc;
}

/* ---- Table 1 --------------------------------------------------------------------------------- */

/* Number of rows of a run, as published, and their mean length in tokens after truncation. Mean
 * lengths are those of the generator for ListOps, of the 25,000 published files for Text, and of
 * 1,512 published documents for Retrieval. Images are not truncated. Pathfinder: the number of rows
 * is that of its three sets together. */
static const struct {
    const char *task;
    double train, validation, length;
} runs[] = {{"image", 45000, 5000, 1024},
            {"pathfinder", 480000, 60000, 1024},
            {"text", 22500, 2500, 1299.6},
            {"retrieval", 147086, 18090, 3997.4},
            {"listops", 96000, 2000, 1034.7}};

/* Reads a text "KEY=VALUE ..": settings of the model to c, batch size and number of epochs; ignores
 * other settings. */
static void read_settings(const char *text, const lra_model *m, lra_config *c, double *batch,
                          double *epochs)
{
    char word[64];
    for (int n = 0; sscanf(text, " %63s%n", word, &n) == 1; text += n) {
        char *value = strchr(word, '=');
        if (!value) LRA_BUG("a preset has '%s'", word);
        if (strncmp(word, "batch=", 6) == 0) *batch = strtod(value + 1, NULL);
        if (strncmp(word, "epochs=", 7) == 0) *epochs = strtod(value + 1, NULL);
        *value = 0;
        bool own = lra_key_find(m->keys, word) != NULL;
        *value = '=';
        if (own) lra_keys_apply(m->keys, c, word);
    }
}

static lra_network_spec network_of(const lra_task *t)
{
    lra_network_spec n = {.head = t->goal == LRA_GOAL_PAIR ? LRA_HEAD_PAIR : LRA_HEAD_CLASS,
                          .vocab = t->input.channels ? 0 : t->input.vocab,
                          .channels = t->input.channels,
                          .outputs = t->n_classes,
                          .pool = LRA_POOL_MEAN};
    return n;
}

typedef struct {
    double hours, flops, steps, step;
    int64_t B, T;
} cell;

static int predict_cell(const bench *b, int run, const char *kernel, const rates *r, cell *out,
                        lra_err *e)
{
    const lra_model *m = lra_model_find("resconv", e);
    const lra_task *t = lra_task_find(runs[run].task, e);
    lra_preset preset;
    if (!m || !t || lra_preset_find(t, m, "paper", &preset, e) != 0) return LRA_FAILED;
    lra_config *c = lra_keys_config(m->keys);
    double batch = 0, epochs = 0;
    read_settings(preset.training, m, c, &batch, &epochs);
    read_settings(preset.technique, m, c, &batch, &epochs);
    read_settings(preset.size, m, c, &batch, &epochs);
    char *changed = lra_format("kernel=%s", kernel);
    lra_keys_apply(m->keys, c, changed);
    lra_free(changed);
    subject s = {m,       c,         network_of(t),  LRA_BF16,
                 b->keep, LRA_TRAIN, (int64_t)batch, (int64_t)(runs[run].length + 0.5)};
    prediction train = {0}, eval = {0};
    int rc = predict(&s, r, &train, e);
    s.mode = LRA_EVAL;
    if (rc == 0) rc = predict(&s, r, &eval, e);
    double steps = epochs * ceil(runs[run].train / batch),
           evals = epochs * ceil(runs[run].validation / batch);
    *out = (cell){(steps * train.all.seconds + evals * eval.all.seconds) / 3600,
                  steps * train.all.flops + evals * eval.all.flops,
                  steps,
                  train.all.seconds,
                  s.B,
                  s.T};
    lra_free(train.op);
    lra_free(eval.op);
    lra_config_free(c);
    return rc;
}

static void add_cell(lra_table *t, const char *task, const char *kernel, const cell *c)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", task);
    lra_table_cell(t, "%s", kernel);
    lra_table_number(t, (double)c->B, 0);
    lra_table_number(t, (double)c->T, 0);
    lra_table_number(t, c->steps, 0);
    lra_table_number(t, 1e3 * c->step, 3);
    lra_table_number(t, c->flops / 1e15, 1);
    lra_table_number(t, c->hours, 3);
}

static int print_runs(const bench *b, const rates *r, lra_err *e)
{
    static const char *const head[] = {"task",  "kernel",  "batch", "tokens",
                                       "steps", "ms/step", "PFLOP", "hours"};
    static const char *const key[] = {"task",  "kernel",  "batch", "tokens",
                                      "steps", "step_ms", "pflop", "hours"};
    static const char *const kernels[] = {"5", "7", "11", "21", "31", "61"};
    lra_table *t = lra_table_new(
        "Table 1 of the locality paper on one GPU, predicted from counts (bf16)", 8, head);
    double hours = 0, flops = 0;
    int rc = 0;
    lra_table_keys(t, key);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (int k = 0; k < 6 && rc == 0; k++) {
            cell c;
            rc = predict_cell(b, (int)i, kernels[k], r, &c, e);
            if (rc != 0) break;
            add_cell(t, runs[i].task, kernels[k], &c);
            hours += c.hours, flops += c.flops;
        }
    lra_table_note(t, "all 30 runs: %.2f hours, %.3g FLOP; the goal is %d hours", hours, flops,
                   GOAL_HOURS);
    lra_table_fact(t, "hours", hours);
    lra_table_fact(t, "flops", flops);
    lra_table_fact(t, "goal_hours", GOAL_HOURS);
    note_rates(t, r);
    if (rc == 0) rc = lra_table_print(t, format_of(b->options), stdout, e);
    lra_table_free(t);
    return rc;
}

int bench_predict(bench *b, lra_err *e)
{
    const lra_options *o = b->options;
    rates r = {1e12 * lra_option_real(o, "peak"), 1e12 * lra_option_real(o, "copies"),
               1e-6 * lra_option_real(o, "launch")};
    return lra_option_flag(o, "table1") ? print_runs(b, &r, e) : print_step(b, &r, e);
}
