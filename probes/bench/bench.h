/* Shared parts of the benchmarks: the machine, measured rows, and their output. */
#ifndef LRA_PROBES_BENCH_BENCH_H
#define LRA_PROBES_BENCH_BENCH_H

#include "kernels/base/core/config.h"
#include "kernels/base/cli/options.h"
#include "kernels/cpu/peak.h"
#include "kernels/graph/backend.h"
#include "models/model.h"
#include "models/network.h"

/* Time of one item in seconds; low and high: 10th and 90th percentile. */
typedef struct {
    double median, low, high;
    int n;
} bench_time;
/* Sorts the n measured seconds. */
bench_time bench_time_of(double *seconds, int n);

/* One line of a table. floor: the roofline time in seconds; 0: unknown. */
typedef struct {
    char *name;
    int64_t count; /* occurrences in one measurement */
    bench_time time;
    double flops, bytes, floor;
} bench_row;

typedef struct {
    char *title;
    const char *unit; /* unit of count: "nodes", "rows" */
    bench_row *row;
    int n;
} bench_table;

typedef struct {
    const lra_options *options;
    lra_device device;
    int threads;
    lra_type type; /* of graphs */
    lra_keep keep; /* of the training step */
    const lra_model *model;
    lra_config *config; /* of the model */
    int64_t B, T, vocab, classes;
    double seconds; /* to measure one thing for */
    lra_peaks peaks;
    double exps; /* exponentials a second of the op itself on data in the cache; 0: not measured */
    bench_table table[64];
    int n_tables;
} bench;

/* Makes a table; title as printf. */
bench_table *bench_table_add(bench *b, const char *unit, const char *title, ...) LRA_PRINTF(3, 4);
/* Takes over name. */
void bench_row_add(bench_table *t, bench_row row);
/* Roofline time in seconds: arithmetic and exponentials at peak, or memory traffic if that takes
 * longer. */
double bench_floor(const bench *b, double flops, double bytes, double exps);
/* The first of n nodes with that op.  Nullable: result */
const lra_node_time *bench_first_node(const lra_node_time *times, int n, const char *op);
/* Exponentials of a node that was run: one for each element or pair of query and key; 0 for most
 * ops.
 * Nullable: attention, the node of the forward pass that a gradient belongs to. */
double bench_exps(const lra_node_time *node, const lra_node_time *attention);
/* Measures b->exps. */
int bench_measure_exps(bench *b, lra_err *e);
/* Adds a row per op to t from the node times of `runs` runs of a plan with n nodes each. */
void bench_nodes(const bench *b, bench_table *t, const lra_node_time *times, int n, int runs);

/* Fails if the plan's workspace exceeds the memory of the device. */
int bench_room(const bench *b, const lra_plan *plan, lra_err *e);
/* Fails if a signal has requested a stop. */
int bench_stopped(lra_err *e);

/* A network of b->model and its inputs and device state; network.c. */
typedef struct {
    lra_network k; /* built by the caller */
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} bench_network;
/* Compiles a plan for n outputs of its graph, and sets random tokens of full length. Close it even
 * after a failure. */
int bench_network_plan(bench *b, bench_network *m, int n, lra_tensor *const *out, lra_err *e);
void bench_network_close(bench_network *m);

void bench_print_text(const bench *b);
int bench_print_json(const bench *b, lra_err *e);
/* Prints the JSON document of a benchmark without rows: the machine and these values. */
typedef struct {
    const char *key, *text; /* text NULL: the number */
    double number;
} bench_value;
int bench_print_values(const bench *b, int n, const bench_value *values, lra_err *e);

/* The kinds: each adds its tables. */
int bench_step(bench *b, lra_err *e);
int bench_ops(bench *b, lra_err *e);
int bench_params(bench *b, lra_err *e);
int bench_levels(bench *b, lra_err *e); /* prints lines of its own */
int bench_memory(bench *b, lra_err *e); /* likewise, process memory growth of a first step */
/* Likewise: cost of attention introspection, in forward passes. */
int bench_attention(bench *b, lra_err *e);
int bench_data(bench *b, lra_err *e);
/* step --predict: estimates a step, or with --table1 a table of runs, without a GPU. Prints its
 * table. */
int bench_predict(bench *b, lra_err *e);
/* data --task, --all: times batches and training steps. Prints its table. */
int bench_loader(const lra_options *o, lra_err *e);

#endif
