/* What the benchmarks share: the machine, measured rows, and how they are printed. */
#ifndef LRA_PROBES_BENCH_BENCH_H
#define LRA_PROBES_BENCH_BENCH_H

#include "kernels/base/core/config.h"
#include "kernels/base/cli/options.h"
#include "kernels/cpu/peak.h"
#include "kernels/graph/backend.h"
#include "models/model.h"
#include "models/network.h"

/* Seconds of one thing; low and high: 10th and 90th percentile. */
typedef struct {
    double median, low, high;
    int n;
} bench_time;
/* Sorts the n measured seconds. */
bench_time bench_time_of(double *seconds, int n);

/* One line of a table.  floor: the seconds below which the peaks do not allow it; 0: not
 * known. */
typedef struct {
    char *name;
    int64_t count; /* times it occurs in what was measured */
    bench_time time;
    double flops, bytes, floor;
} bench_row;

typedef struct {
    char *title;
    const char *unit; /* what count counts: "nodes", "rows" */
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
/* Seconds that the peaks ask for: arithmetic and exponentials, or bytes if they take longer. */
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

/* Fails where the plan's workspace is more than the device has. */
int bench_room(const bench *b, const lra_plan *plan, lra_err *e);
/* A failure when a signal has asked to stop. */
int bench_stopped(lra_err *e);

/* A network of b->model and what it is run with; network.c. */
typedef struct {
    lra_network k; /* built by the caller */
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} bench_network;
/* Plans n outputs of its graph and sets random tokens of full length.  To be closed also where it
 * fails. */
int bench_network_plan(bench *b, bench_network *m, int n, lra_tensor *const *out, lra_err *e);
void bench_network_close(bench_network *m);

void bench_print_text(const bench *b);
int bench_print_json(const bench *b, lra_err *e);
/* The JSON document of a kind that stands alone: the machine, and these. */
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
int bench_memory(bench *b, lra_err *e); /* likewise, what a first step makes the process grow by */
/* Likewise: what it costs to ask attention, in forward passes. */
int bench_attention(bench *b, lra_err *e);
int bench_data(bench *b, lra_err *e);
/* step --predict: a step, or with --table1 a table of runs, counted without a GPU.  Prints its
 * table. */
int bench_predict(bench *b, lra_err *e);
/* data --task, --all: batches beside training steps.  Prints its table. */
int bench_loader(const lra_options *o, lra_err *e);

#endif
