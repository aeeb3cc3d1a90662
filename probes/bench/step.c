/* The training step of a model on random tokens: total time, time by op, memory, and parameters. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "probes/bench/bench.h"
#include "probes/run/job.h"

typedef struct {
    bench_network m;
    lra_tensor *update;
} step;

static int set_rest(const bench *b, step *s, lra_err *e)
{
    lra_step now = {.rate = 1e-3f};
    int32_t *label = lra_alloc_array((size_t)b->B, sizeof *label);
    for (int64_t i = 0; i < b->B; i++) label[i] = (int32_t)(i % b->classes);
    int rc = lra_set(s->m.plan, s->m.k.label, label, e);
    if (rc == 0) rc = lra_set(s->m.plan, lra_step_input(s->m.k.graph), &now, e);
    lra_free(label);
    return rc;
}

static int open_step(bench *b, step *s, lra_err *e)
{
    lra_network_spec spec = {.vocab = b->vocab, .outputs = b->classes, .pool = LRA_POOL_MEAN};
    lra_adamw_spec adamw = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.01, .rate = 1e-3};
    *s = (step){
        .m.k = lra_network_build(b->type, LRA_TRAIN, b->model, b->config, &spec, b->B, b->T)};
    lra_graph_keep(s->m.k.graph, b->keep);
    int n = lra_graph_params(s->m.k.graph, NULL);
    lra_tensor **param = lra_alloc_array((size_t)n + 1, sizeof *param);
    lra_graph_params(s->m.k.graph, param);
    lra_step_input(s->m.k.graph);
    s->update = lra_adamw(s->m.k.loss, n, param, &adamw);
    lra_free(param);
    return bench_network_plan(b, &s->m, 1, &s->update, e) == 0 ? set_rest(b, s, e) : LRA_FAILED;
}

/* Describes the step, and the memory of its plan. */
static char *text_of(const bench *b, const step *s)
{
    char *changes = lra_config_lines(b->config), workspace[32], weights[32];
    for (char *c = changes; *c; c++)
        if (*c == '\n') *c = ' ';
    char *text = lra_format(
        "%s %s(batch %lld, length %lld, %s; workspace %s, parameters and moments %s)",
        b->model->name, changes, (long long)b->B, (long long)b->T,
        b->type == LRA_BF16 ? "bf16" : "f32",
        lra_size_text(workspace, lra_plan_cost(s->m.plan).workspace_bytes),
        lra_size_text(weights, lra_params_bytes(s->m.params)));
    lra_free(changes);
    return text;
}

/* True for ops that are matrix products: only their FLOPs are counted, as in published counts. For
 * attention, the FLOPs of the pairs that it computes are counted. */
static bool is_matrix(const char *op)
{
    return strncmp(op, "conv", 4) == 0 || strncmp(op, "linear", 6) == 0 ||
           strncmp(op, "matmul", 6) == 0 || strcmp(op, "attention") == 0 ||
           strcmp(op, "attention_grad") == 0;
}

/* Executes the plan and waits for its end. */
static int run_whole(bench *b, lra_plan *p, lra_err *e)
{
    const lra_backend *backend = b->device.backend;
    if (bench_stopped(e) != 0 || lra_run(p, e) != 0) return LRA_FAILED;
    return backend->wait ? backend->wait(&b->device, e) : 0;
}

int bench_step(bench *b, lra_err *e)
{
    enum { MAX_RUNS = 1000 };
    /* on a GPU, the first run executes node by node, the second records a CUDA graph, and later
     * runs replay it */
    int warm = b->device.backend->wait ? 3 : 1;
    step s = {0};
    double seconds[MAX_RUNS];
    lra_node_time *times = NULL;
    int rc = open_step(b, &s, e), n = 0, nodes = 0, runs = 0;
    for (int i = 0; i < warm && rc == 0; i++) rc = run_whole(b, s.m.plan, e);
    double begin = lra_now();
    while (rc == 0 && n < MAX_RUNS && (n < 3 || lra_now() - begin < b->seconds)) {
        double start = lra_now();
        rc = run_whole(b, s.m.plan, e);
        seconds[n++] = lra_now() - start;
    }
    if (rc == 0) {
        nodes = lra_plan_cost(s.m.plan).n_nodes;
        runs = n < 10 ? n : 10;
        times = lra_alloc_array((size_t)(nodes * runs) + 1, sizeof *times);
    }
    for (int i = 0; i < runs && rc == 0; i++) {
        rc = bench_stopped(e);
        if (rc == 0) rc = lra_run_timed(s.m.plan, times + i * nodes, e);
    }
    if (rc == 0) {
        lra_cost cost = lra_plan_cost(s.m.plan);
        bench_row whole = {.name = lra_copy_text("whole step"), .count = nodes};
        const lra_node_time *attention = bench_first_node(times, nodes, "attention");
        for (int i = 0; i < nodes; i++) {
            if (is_matrix(times[i].op)) whole.flops += times[i].flops;
            whole.floor += bench_floor(b, times[i].flops, times[i].bytes,
                                       bench_exps(&times[i], attention));
        }
        whole.bytes = cost.bytes;
        whole.time = bench_time_of(seconds, n);
        char *title = text_of(b, &s);
        bench_row_add(bench_table_add(b, "nodes", "%s", title), whole);
        bench_nodes(b, bench_table_add(b, "nodes", "by op"), times, nodes, runs);
        lra_free(title);
    }
    lra_free(times);
    bench_network_close(&s.m);
    return rc;
}

/* Prints the memory of a step. The JSON field "title" is the same as in 'bench step'. */
static int print_memory(const bench *b, const step *s, double took, lra_err *e)
{
    char *text = text_of(b, s), size[32];
    const bench_value values[] = {
        {"title", text, 0},
        {"workspace_bytes", NULL, lra_plan_cost(s->m.plan).workspace_bytes},
        {"parameter_bytes", NULL, lra_params_bytes(s->m.params)},
        {"step_bytes", NULL, took}};
    int rc = 0;
    if (lra_option_flag(b->options, "json"))
        rc = bench_print_values(b, sizeof values / sizeof *values, values, e);
    else
        printf("%s\none step took %s\n", text, lra_size_text(size, took));
    lra_free(text);
    return rc;
}

int bench_memory(bench *b, lra_err *e)
{
    double before = lra_memory_peak();
    step s = {0};
    int rc = open_step(b, &s, e);
    if (rc == 0) rc = run_whole(b, s.m.plan, e);
    if (rc == 0) rc = print_memory(b, &s, lra_memory_peak() - before, e);
    bench_network_close(&s.m);
    return rc;
}

int bench_params(bench *b, lra_err *e)
{
    lra_network_spec spec = {.vocab = b->vocab, .outputs = b->classes, .pool = LRA_POOL_MEAN};
    char reach[24];
    lra_network k = lra_network_build(b->type, LRA_EVAL, b->model, b->config, &spec, 1, b->T);
    int rc = lra_graph_check(k.graph, e);
    int n = rc == 0 ? lra_graph_params(k.graph, NULL) : 0;
    lra_tensor **param = lra_alloc_array((size_t)n + 1, sizeof *param);
    if (rc == 0) lra_graph_params(k.graph, param);
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += lra_shape_elements(lra_tensor_shape(param[i]));
    bench_table *t = rc == 0 ? bench_table_add(b, "numbers", "parameters of %s: %lld, reach %s",
                                               b->model->name, (long long)total,
                                               lra_reach_text(b->model->reach(b->config), reach))
                             : NULL;
    for (int i = 0; i < n; i++) {
        char shape[96];
        lra_shape_text(lra_tensor_shape(param[i]), shape);
        bench_row_add(t, (bench_row){.name = lra_format("%s %s", lra_tensor_path(param[i]), shape),
                                     .count = lra_shape_elements(lra_tensor_shape(param[i]))});
    }
    lra_free(param);
    lra_graph_free(k.graph);
    return rc;
}
