/* What it costs to ask attention: a forward pass of a model, the same with the statistics of every
 * head (mass, entropy, sinks, side), with those of heads together by values, and with both; and the
 * workspace of each, which grows with the length as long as no map is kept. */
#include <stdio.h>

#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention_statistics.h"
#include "probes/bench/bench.h"

enum { PLAIN, HEADS, VALUES, BOTH, N_PASSES, MAX_RUNS = 200 };
static const struct {
    const char *name, *seconds, *times, *bytes;
    bool heads, values;
} passes[N_PASSES] = {
    {"forward pass", "plain_seconds", NULL, "plain_bytes", false, false},
    {"with heads", "heads_seconds", "heads_times", "heads_bytes", true, false},
    {"with values", "values_seconds", "values_times", "values_bytes", false, true},
    {"with both", "both_seconds", "both_times", "both_bytes", true, true}};

typedef struct {
    bench_network m;
    double seconds[MAX_RUNS];
} asked;

/* What pass p asks for, into out; returns how many, of `nodes` attentions. */
static int outputs(const lra_network *k, int p, int nodes, lra_tensor *const *node,
                   lra_tensor **out)
{
    int n = 0;
    out[n++] = k->output;
    for (int i = 0; i < nodes; i++) {
        lra_attention_question ask = {.columns = 0};
        if (passes[p].heads) out[n++] = lra_attention_statistics_of(node[i], &ask);
        ask.gram = passes[p].values ? lra_attention_gram(node[i]) : NULL;
        if (ask.gram) out[n++] = lra_attention_statistics_of(node[i], &ask);
    }
    return n;
}

static int open_pass(bench *b, int p, asked *a, lra_err *e)
{
    lra_network_spec spec = {.vocab = b->vocab, .outputs = b->classes, .pool = LRA_POOL_MEAN};
    a->m.k = lra_network_build(b->type, LRA_EVAL, b->model, b->config, &spec, b->B, b->T);
    int nodes = lra_graph_nodes(a->m.k.graph, &lra_op_attention, 0, NULL);
    if (nodes == 0)
        return lra_fail_usage(
            e, "model '%s' has no attention op, expected one that has, as '--model transformer'",
            b->model->name);
    lra_tensor **node = lra_alloc_array(3 * (size_t)nodes + 1, sizeof *node), **out = node + nodes;
    lra_graph_nodes(a->m.k.graph, &lra_op_attention, nodes, node);
    int n = outputs(&a->m.k, p, nodes, node, out);
    int rc = bench_network_plan(b, &a->m, n, out, e);
    lra_free(node);
    return rc;
}

static int run_timed(bench *b, asked *a, double *seconds, lra_err *e)
{
    const lra_backend *backend = b->device.backend;
    double start = lra_now();
    if (bench_stopped(e) != 0 || lra_run(a->m.plan, e) != 0) return LRA_FAILED;
    int rc = backend->wait ? backend->wait(&b->device, e) : 0;
    *seconds = lra_now() - start;
    return rc;
}

static int print(const bench *b, asked *a, int runs, lra_err *e)
{
    bench_value values[3 * N_PASSES];
    int n = 0;
    bool json = lra_option_flag(b->options, "json");
    double plain = bench_time_of(a[PLAIN].seconds, runs).median;
    if (!json)
        printf("attention of %s (batch %lld, length %lld, %s), times a forward pass\n",
               b->model->name, (long long)b->B, (long long)b->T,
               b->type == LRA_BF16 ? "bf16" : "f32");
    for (int p = 0; p < N_PASSES; p++) {
        char size[32];
        double median = p == PLAIN ? plain : bench_time_of(a[p].seconds, runs).median;
        double bytes = lra_plan_cost(a[p].m.plan).workspace_bytes;
        values[n++] = (bench_value){passes[p].seconds, NULL, median};
        if (p != PLAIN) values[n++] = (bench_value){passes[p].times, NULL, median / plain};
        values[n++] = (bench_value){passes[p].bytes, NULL, bytes};
        if (!json)
            printf("%-14s%10.1f ms%8.2f   workspace %s\n", passes[p].name, 1e3 * median,
                   median / plain, lra_size_text(size, bytes));
    }
    return json ? bench_print_values(b, n, values, e) : 0;
}

int bench_attention(bench *b, lra_err *e)
{
    asked *a = lra_alloc_array(N_PASSES, sizeof *a);
    double warm;
    int rc = 0, runs = 0;
    for (int p = 0; p < N_PASSES && rc == 0; p++) {
        rc = open_pass(b, p, &a[p], e);
        if (rc == 0) rc = run_timed(b, &a[p], &warm, e);
    }
    double begin = lra_now(); /* in turn, so that neighbours disturb all alike */
    while (rc == 0 && runs < MAX_RUNS && (runs < 3 || lra_now() - begin < b->seconds)) {
        for (int p = 0; p < N_PASSES && rc == 0; p++)
            rc = run_timed(b, &a[p], &a[p].seconds[runs], e);
        runs++;
    }
    if (rc == 0) rc = print(b, a, runs, e);
    for (int p = 0; p < N_PASSES; p++) bench_network_close(&a[p].m);
    lra_free(a);
    return rc;
}
