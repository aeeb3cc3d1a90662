/* A sample of an op in a graph of its own, filled with data, run on a device of choice: what the
 * registry walks of op_test.c, shim_test.c and cuda_test.c share. */
#ifndef LRA_TESTS_TRIAL_H
#define LRA_TESTS_TRIAL_H

#include "kernels/graph/graph_impl.h"

enum { MAX_LEAVES = 64 };

typedef struct {
    lra_graph *g;
    lra_tensor *y, *seed;
    lra_tensor *leaf[MAX_LEAVES]; /* inputs and parameters, the seed last */
    double *value[MAX_LEAVES];
    lra_tensor *x[MAX_LEAVES], *dx[MAX_LEAVES]; /* real leaves and their gradients */
    int n_leaves, n_x;
} trial;

typedef struct {
    lra_device device;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} machine;

typedef struct {
    int n_threads;
    bool no_inplace, poison;
} setting;

/* One array of a result, and everything that a run left: y, gradients, parameters and states. */
typedef struct {
    double *v;
    int64_t n, first[2 * MAX_LEAVES];
    int n_parts;
} result;

/* Where trials run from now on; the CPU at first. */
void trial_use(int (*open)(lra_device *d, lra_err *e));

/* False after the last sample. */
bool trial_new(trial *t, const lra_op *op, int i, lra_type type);
void trial_free(trial *t);
void machine_new(machine *m, const trial *t, bool with_gradients, setting s);
void machine_free(machine *m);
void set_leaf(machine *m, const trial *t, int k);
/* One run of a sample and its gradient; v is freed with lra_free(). */
result run_sample(const lra_op *op, int i, lra_type type, setting s);

/* Largest difference of a part over the part's largest value. */
void expect_close(const lra_op *op, int i, const char *what, const result *a, const result *b,
                  double tolerance);
void expect_same(const lra_op *op, int i, const char *what, const result *a, const result *b);

/* Sizes that only tensor-core kernels and tests of kernels need: too slow for gradients by
 * differences. */
extern const lra_op trial_large, trial_attention, trial_profile, trial_long_conv, trial_block,
    trial_modes;

int count_samples(const lra_op *op);
/* Every sample of every op, or of those whose names begin with LRA_TEST_OP of the environment
 * ("=conv": that one). */
void each_sample(void (*f)(const lra_op *op, int i));
/* The same of the large ones. */
void each_large_sample(void (*f)(const lra_op *op, int i));

#endif
