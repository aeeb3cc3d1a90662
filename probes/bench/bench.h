/* Code that the benchmarks share: the machine, measured rows, and their output. */
#ifndef LRA_PROBES_BENCH_BENCH_H
#define LRA_PROBES_BENCH_BENCH_H

#include "kernels/base/core/config.h"
#include "kernels/base/cli/options.h"
#include "kernels/cpu/peak.h"
#include "kernels/graph/backend.h"
#include "models/model.h"
#include "models/network.h"

/* Time of one item in seconds: median, 10th (low) and 90th (high) percentile of n measurements. */
typedef struct {
    double median, low, high;
    int n;
} bench_time;
/* Computes the percentiles of n times in seconds; sorts the array. */
bench_time bench_time_of(double *seconds, int n);

/* One line of a table. floor: roofline time in seconds, 0 if unknown. */
typedef struct {
    char *name;
    int64_t count; /* number of occurrences in one measurement */
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
    lra_type type; /* element type of the graphs */
    lra_keep keep; /* which activations the training step keeps */
    const lra_model *model;
    lra_config *config; /* settings of the model */
    int64_t B, T, vocab, classes;
    double seconds; /* measuring time of one item in seconds */
    lra_peaks peaks;
    /* measured rate of op `exp` in exponentials per second, with data in the cache; 0: not
     * measured */
    double exps;
    bench_table table[64];
    int n_tables;
} bench;

/* Adds a table to b; the title is formatted like printf. */
bench_table *bench_table_add(bench *b, const char *unit, const char *title, ...) LRA_PRINTF(3, 4);
/* Adds a row; the table takes ownership of row.name. */
void bench_row_add(bench_table *t, bench_row row);
/* Roofline time in seconds: time of the arithmetic and of the exponentials at peak rates, or time
 * of the memory traffic if that is larger. */
double bench_floor(const bench *b, double flops, double bytes, double exps);
/* The first of n nodes with this op, or NULL. */
const lra_node_time *bench_first_node(const lra_node_time *times, int n, const char *op);
/* Number of exponentials that a node computes: one per element, or one per (query, key) pair; 0 for
 * most ops. attention: the forward node of an attention gradient. Nullable: attention */
double bench_exps(const lra_node_time *node, const lra_node_time *attention);
/* Measures the machine's rate of exponentials per second: b->exps. */
int bench_measure_exps(bench *b, lra_err *e);
/* Adds one row per op to t, from the times of `runs` executions of a plan with n nodes. */
void bench_nodes(const bench *b, bench_table *t, const lra_node_time *times, int n, int runs);

/* Fails if the plan's workspace exceeds the memory of the device. */
int bench_room(const bench *b, const lra_plan *plan, lra_err *e);
/* Fails if a signal has requested a stop. */
int bench_stopped(lra_err *e);

/* A network of b->model with its inputs and device state (network.c). */
typedef struct {
    lra_network k; /* the caller builds it */
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} bench_network;
/* Compiles a plan for n outputs of the network's graph, and sets random tokens without padding as
 * input. The caller calls bench_network_close() also after a failure. */
int bench_network_plan(bench *b, bench_network *m, int n, lra_tensor *const *out, lra_err *e);
void bench_network_close(bench_network *m);

void bench_print_text(const bench *b);
int bench_print_json(const bench *b, lra_err *e);
/* Prints the JSON document of a benchmark without rows: the machine and these values. */
typedef struct {
    const char *key, *text; /* if text is NULL, the value is `number` */
    double number;
} bench_value;
int bench_print_values(const bench *b, int n, const bench_value *values, lra_err *e);

/* The benchmarks; unless stated otherwise, each adds its tables to b. */
int bench_step(bench *b, lra_err *e);
int bench_ops(bench *b, lra_err *e);
int bench_params(bench *b, lra_err *e);
int bench_levels(bench *b, lra_err *e); /* self-test of the GPU; prints its own lines */
/* process memory growth in a first step; prints its own lines */
int bench_memory(bench *b, lra_err *e);
/* Cost of attention introspection relative to a forward pass; prints its own lines. */
int bench_attention(bench *b, lra_err *e);
int bench_data(bench *b, lra_err *e);
/* 'step --predict': estimates a step without a GPU; with --table1, a table of runs. Prints its own
 * table. */
int bench_predict(bench *b, lra_err *e);
/* 'data --task' and 'data --all': times batches and training steps. Prints its own table. */
int bench_loader(const lra_options *o, lra_err *e);

#endif
