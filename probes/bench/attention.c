/* Measures the cost of attention introspection: the time and the workspace of a forward pass of a
 * model; of the same pass with statistics of every head (mass by distance, entropy, sinks,
 * direction); with value-weighted profiles of all heads together; and with both. The workspace
 * grows linearly with the length if no map is stored.
 * Attention matrices that are computed row by row (probes/shared/mixing_matrix.h) are evaluated on
 * the host after the pass, for the number of rows in --queries; this time is included. */
#include <stdio.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "probes/shared/attention_nodes.h"
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
    lra_length_graph view; /* graph of the network m at its length */
    lra_attention_nodes nodes;
    lra_profile *profile; /* receives matrices that are evaluated row by row; NULL: none */
    double seconds[MAX_RUNS];
} request;

/* Requests the statistics of layer k for variant p (passes[p]). */
static void start_layer(int p, request *a, int k)
{
    lra_matrix *w = &a->nodes.matrix[k];
    lra_attention_statistics_spec ask = {.columns = 0};
    if (w->family && (passes[p].heads || passes[p].values)) lra_matrix_add_outputs(&a->view, w);
    if (w->family && passes[p].values) lra_matrix_add_value_outputs(&a->view, w);
    if (w->family) return;
    if (passes[p].heads)
        lra_length_graph_output(&a->view, lra_attention_statistics_of(a->nodes.node[k], &ask));
    ask.gram = passes[p].values ? lra_attention_gram(a->nodes.node[k]) : NULL;
    if (ask.gram)
        lra_length_graph_output(&a->view, lra_attention_statistics_of(a->nodes.node[k], &ask));
}

static int open_pass(bench *b, int p, request *a, lra_err *e)
{
    lra_network_spec spec = {.vocab = b->vocab, .outputs = b->classes, .pool = LRA_POOL_MEAN};
    a->m.k = lra_network_build(b->type, LRA_EVAL, b->model, b->config, &spec, b->B, b->T);
    a->view = (lra_length_graph){.network = a->m.k, .rows = b->B, .T = b->T};
    lra_length_graph_output(&a->view, a->m.k.output);
    int rc = lra_attention_nodes_of(&a->view, &a->nodes, e);
    for (int k = 0; k < a->nodes.n && rc == 0; k++) start_layer(p, a, k);
    for (int k = 0; k < a->nodes.n && rc == 0 && p != PLAIN; k++)
        if (a->nodes.matrix[k].family && !a->profile)
            a->profile = lra_profile_new(lra_attention_layer_positions(&a->nodes, k), 0);
    if (rc == 0) rc = bench_network_plan(b, &a->m, a->view.n_out, a->view.out, e);
    a->view.plan = a->m.plan;
    return rc;
}

static void close_pass(request *a)
{
    lra_free(a->view.out);
    lra_profile_free(a->profile);
    bench_network_close(&a->m);
}

/* Evaluates the rows of layer k for every sequence and head. */
static int tell_rows(const bench *b, int p, request *a, int k, lra_err *e)
{
    const lra_matrix *of = &a->nodes.matrix[k];
    double *of_keys = lra_alloc_array((size_t)(3 * b->T) + 1, sizeof *of_keys);
    const lra_matrix_columns columns = {of_keys, of_keys + b->T, of_keys + 2 * b->T};
    lra_matrix_values x;
    int rc = lra_matrix_read(&a->view, of, &x, e);
    for (int64_t s = 0; s < b->B && rc == 0; s++) {
        const lra_matrix_rows rows = {.most = lra_option_int(b->options, "queries"), .example = s};
        lra_matrix_profiles to = {
            .T = b->T, .rows = rows, .hole = -1, .tokens = a->profile, .columns = &columns};
        for (int64_t h = 0; h < of->heads && passes[p].heads; h++)
            lra_matrix_profile(&x, s, h, &to);
        if (x.gram) lra_matrix_value_profile(&x, s, b->T, &rows, a->profile);
    }
    lra_matrix_free(&x);
    lra_free(of_keys);
    return rc;
}

static int run_timed(bench *b, int p, request *a, double *seconds, lra_err *e)
{
    const lra_backend *backend = b->device.backend;
    double start = lra_now();
    if (bench_stopped(e) != 0 || lra_run(a->m.plan, e) != 0) return LRA_FAILED;
    int rc = backend->wait ? backend->wait(&b->device, e) : 0;
    for (int k = 0; k < a->nodes.n && rc == 0 && a->profile; k++)
        if (a->nodes.matrix[k].family) rc = tell_rows(b, p, a, k, e);
    *seconds = lra_now() - start;
    return rc;
}

static int print(const bench *b, request *a, int runs, lra_err *e)
{
    bench_value values[3 * N_PASSES];
    int n = 0;
    bool json = lra_option_flag(b->options, "json");
    double plain = bench_time_of(a[PLAIN].seconds, runs).median;
    if (!json)
        printf("attention introspection of %s (batch %lld, length %lld, %s), relative to a forward "
               "pass\n",
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
    request *a = lra_alloc_array(N_PASSES, sizeof *a);
    double warm;
    int rc = 0, runs = 0;
    for (int p = 0; p < N_PASSES && rc == 0; p++) {
        rc = open_pass(b, p, &a[p], e);
        if (rc == 0) rc = run_timed(b, p, &a[p], &warm, e);
    }
    /* the variants alternate, so that other processes disturb all of them equally */
    double begin = lra_now();
    while (rc == 0 && runs < MAX_RUNS && (runs < 3 || lra_now() - begin < b->seconds)) {
        for (int p = 0; p < N_PASSES && rc == 0; p++)
            rc = run_timed(b, p, &a[p], &a[p].seconds[runs], e);
        runs++;
    }
    if (rc == 0) rc = print(b, a, runs, e);
    for (int p = 0; p < N_PASSES; p++) close_pass(&a[p]);
    lra_free(a);
    return rc;
}
