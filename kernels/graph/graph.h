/* The engine: a static graph whose gradients are nodes, planned once, then run many times.
 *
 *   lra_graph  *g = lra_graph_new(LRA_F32, LRA_TRAIN);
 *   lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(B, D));
 *   lra_tensor *w = lra_param(g, "w", LRA_SHAPE(D, C), LRA_SPEC(LRA_UNIFORM(-0.1, 0.1)));
 *   lra_tensor *y = lra_softmax(lra_matmul(x, w));                       build
 *   lra_grad(y, NULL, 1, &w, &dw);                                       differentiate
 *   lra_plan   *p = lra_plan_new(g, params, space, 2, (lra_tensor *[]){y, dw}, &e);
 *   lra_set(p, x, host, &e);  lra_run(p, &e);  lra_get(p, y, host, &e);  plan and run
 *
 * Op builders are in ops.h; what an op is, in op.h.
 *
 * Types.  An F32 or F64 graph computes in that type.  In a BF16 graph every tensor is `elem` (bf16:
 * activations and their gradients) or `real` (float32: parameters, their gradients, statistics,
 * logits, losses); the op's shape function says which.  Host data are float32 (double in F64
 * graphs) or int32. */
#ifndef LRA_GRAPH_GRAPH_H
#define LRA_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"
#include "kernels/base/formats/h5.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { LRA_F32, LRA_F64, LRA_BF16, LRA_I32 } lra_type;
typedef enum { LRA_TRAIN, LRA_EVAL } lra_mode;
/* What the forward pass keeps for the backward pass; the rest is computed again, bit for bit:
 * recompute.c. */
typedef enum { LRA_KEEP_ALL, LRA_KEEP_PRODUCTS, LRA_KEEP_LAYERS } lra_keep;
enum { LRA_MAX_RANK = 6 };

/* Row-major, d[n-1] fastest; n = 0 is a scalar. */
typedef struct {
    int n;
    int64_t d[LRA_MAX_RANK];
} lra_shape;

typedef struct lra_device lra_device; /* where plans run: backend.h */
typedef struct lra_graph
    lra_graph; /* nodes of one computation (one length bucket); owns its tensors */
typedef struct lra_tensor lra_tensor; /* a node: op, sources, shape; no data */
typedef struct lra_params
    lra_params;                     /* named arrays that outlive graphs: weights, moments, states */
typedef struct lra_space lra_space; /* one device's workspace, shared by all plans of a run */
typedef struct lra_plan lra_plan;   /* graph + params + space: addresses and launch order */

/* ---- shapes ---------------------------------------------------------------------------------- */

/* LRA_SHAPE(B, T, D) */
#define LRA_SHAPE(...)                                                                             \
    lra_shape_from((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                      \
                   (const int64_t[]){__VA_ARGS__})
lra_shape lra_shape_from(int n, const int64_t *d);
int64_t lra_shape_elements(lra_shape s); /* 1 for a scalar */
bool lra_shape_equal(lra_shape a, lra_shape b);
const char *lra_shape_text(lra_shape s, char buf[96]); /* "(12,4,1024)" */
size_t lra_type_size(lra_type t);                      /* bytes: 4, 8, 2, 4 */

/* ---- what a parameter is --------------------------------------------------------------------- */

/* How an array starts.  Drawn or computed in double on the host, from (seed, path) alone. */
typedef enum {
    LRA_INIT_CONSTANT,         /* a */
    LRA_INIT_NORMAL,           /* deviation a, mean b */
    LRA_INIT_UNIFORM,          /* in [a, b) */
    LRA_INIT_TRUNCATED_NORMAL, /* a normal cut at two deviations; a: the deviation of what is left
                                */
    LRA_INIT_LOG_UNIFORM,      /* exp of a uniform in [ln a, ln b) */
    LRA_INIT_FAN,              /* uniform in +-1/sqrt(a), a: inputs of an output */
    LRA_INIT_XAVIER,      /* uniform in +-a sqrt(6/(inputs + outputs)); (..,inputs,outputs), taps in
                             front */
    LRA_INIT_RAMP,        /* a + b i along the last dimension */
    LRA_INIT_ALTERNATING, /* +b, -b, +b, .. along the last dimension, plus a normal of deviation a
                           */
    LRA_INIT_FILL         /* fill() */
} lra_init;

/* What a fill function sees: streams of lra_rng_new(seed, stream, i) are its own. */
typedef struct {
    lra_shape shape;
    uint64_t seed;
    uint32_t stream;
    const void *data; /* of the spec */
} lra_fill;

/* How files in PyTorch's layout hold it. */
typedef enum {
    LRA_LAYOUT_SAME,
    LRA_LAYOUT_REVERSED /* dimensions in the opposite order */
} lra_array_layout;

typedef struct {
    lra_init init;
    double a, b;
    void (*fill)(const lra_fill *f, double *v);
    const void *data; /* of fill(): data_size bytes, copied.  Nullable */
    size_t data_size;
    double rate_factor; /* of the learning rate; 0: 1 */
    double rate;        /* a rate of its own, scheduled like the others; 0: none */
    bool no_decay, frozen;
    lra_array_layout layout;
} lra_param_spec;
/* LRA_SPEC(LRA_NORMAL(0.02), .no_decay = true) */
#define LRA_SPEC(...)                  (&(const lra_param_spec){__VA_ARGS__})
#define LRA_CONSTANT(v)                .init = LRA_INIT_CONSTANT, .a = (v)
#define LRA_NORMAL(deviation)          .init = LRA_INIT_NORMAL, .a = (deviation)
#define LRA_UNIFORM(lo, hi)            .init = LRA_INIT_UNIFORM, .a = (lo), .b = (hi)
#define LRA_TRUNCATED(deviation)       .init = LRA_INIT_TRUNCATED_NORMAL, .a = (deviation)
#define LRA_LOG_UNIFORM(lo, hi)        .init = LRA_INIT_LOG_UNIFORM, .a = (lo), .b = (hi)
#define LRA_FAN(inputs)                .init = LRA_INIT_FAN, .a = (double)(inputs)
#define LRA_XAVIER(gain)               .init = LRA_INIT_XAVIER, .a = (gain)
#define LRA_RAMP(from, step)           .init = LRA_INIT_RAMP, .a = (from), .b = (step)
#define LRA_ALTERNATING(size, deviate) .init = LRA_INIT_ALTERNATING, .a = (deviate), .b = (size)
#define LRA_FILL(function)             .init = LRA_INIT_FILL, .fill = (function)

/* ---- build: a builder given bad shapes records the first message in the graph and still returns a
 *      tensor, so that model code needs no checks; lra_plan_new() reports it ------------------------- */

lra_graph *lra_graph_new(lra_type type, lra_mode mode);
void lra_graph_free(lra_graph *g); /* Nullable: g */
lra_type lra_graph_type(const lra_graph *g);
lra_mode lra_graph_mode(const lra_graph *g);
void lra_push(lra_graph *g, const char *fmt, ...) LRA_PRINTF(2, 3); /* opens a scope: "layer%d" */
void lra_pop(lra_graph *g);
/* For the model's own complaints ("kernel 4 must be odd"); the first message stays. */
void lra_graph_fail(lra_graph *g, const char *fmt, ...) LRA_PRINTF(2, 3);
/* 0, or -1 with the first message recorded. */
int lra_graph_check(const lra_graph *g, lra_err *e);

/* Data from the host; t is the graph's own type or LRA_I32 (in a BF16 graph real inputs are
 * LRA_F32).
 * What was set is valid until the next run of any plan of the same space. */
lra_tensor *lra_input(lra_graph *g, const char *name, lra_type t, lra_shape s);
/* A trained array, bound by its scope path ("layer0/conv/w"), real.  A path that is there already
 * is an error: who means the same array says lra_shared().  Nullable: spec, zeros that train like
 * any other. */
lra_tensor *lra_param(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec);
/* Stored and checkpointed like a parameter, has no gradient, written only by lra_assign().  Of the
 * spec its start and layout count. */
lra_tensor *lra_state(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec);
/* Numbers that follow from the spec's start and never change (position tables, slopes): made once,
 * in no checkpoint, without a gradient. */
lra_tensor *lra_constant(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec);
/* The parameter, state or constant with this path from the top, once more. */
lra_tensor *lra_shared(lra_graph *g, const char *path);
/* state = value, after everything else of the plan has run; in a plan with lra_adamw() only when
 * that update was applied. */
void lra_assign(lra_tensor *state, lra_tensor *value);
/* The int32 (16) input that holds what changes from step to step; made at the first call. */
lra_tensor *lra_step_input(lra_graph *g);
/* Names a tensor in the current scope; probes find it by path. */
lra_tensor *lra_name(lra_tensor *x, const char *name);
lra_tensor *lra_find(const lra_graph *g, const char *path); /* NULL: no such name */
/* Nodes of an op in the order of their making: how probes find attention or convolution in any
 * model.  Returns how many there are.  Nullable: out, room for `most`. */
typedef struct lra_op lra_op;
int lra_graph_nodes(const lra_graph *g, const lra_op *op, int most, lra_tensor **out);
lra_shape lra_tensor_shape(const lra_tensor *x);
lra_type lra_tensor_type(const lra_tensor *x);
/* The parameters of the graph in the order of their creation; returns their number.  Nullable:
 * out */
int lra_graph_params(const lra_graph *g, lra_tensor **out);
const char *lra_tensor_path(const lra_tensor *x); /* "layer0/conv/w"; for other nodes "scope/op" */

/* ---- the limit of distance: an intervention, not a setting ----------------------------------- */

enum { LRA_NO_LIMIT = INT32_MAX };
/* Ops between positions (lra_conv, lra_long_conv, lra_attention) that are built from now on obey a
 * limit: what stands more than r steps away does not count there, whatever the weights say.  One
 * plan serves every r.  With r from T-1 on an op computes what it does without a limit, bit for
 * bit; nothing that is farther away than the sum of all limits changes a bit of a result. */
void lra_graph_limit(lra_graph *g);
/* The int32 (n) input "limit": r of each such op, of attention one for each head, from 0, in the
 * order of their making (limit.h).  NULL: there is none. */
lra_tensor *lra_limit_input(const lra_graph *g);

/* ---- differentiate --------------------------------------------------------------------------- */

/* Before lra_grad(); LRA_KEEP_ALL unless said otherwise. */
void lra_graph_keep(lra_graph *g, lra_keep keep);

/* Emits nodes; dx[i] is d(y . seed)/d(x[i]); seed NULL means ones.  A tensor that y does not depend
 * on gets zeros; a dependence through an op without a gradient is an error (lra_detach() stops one
 * on purpose). */
void lra_grad(lra_tensor *y, lra_tensor *seed, int n, lra_tensor *const *x, lra_tensor **dx);

/* What stands in lra_step_input(); 64 bytes. */
typedef struct {
    uint64_t seed; /* of the run: dropout */
    uint64_t step; /* number of the batch in the run: dropout */
    float rate;    /* learning rate of this step */
    int32_t pad[11];
} lra_step;

/* ---- plan and run ---------------------------------------------------------------------------- */

lra_params *lra_params_new(lra_device *dev, uint64_t seed);
void lra_params_free(lra_params *p); /* Nullable: p */
lra_space *lra_space_new(lra_device *dev);
void lra_space_free(lra_space *s); /* Nullable: s */

/* Makes the launch order and the addresses of everything that the n outputs (and the states
 * assigned in g) need; makes missing parameters in p with their initial values, and changes none
 * that are there.  All plans of a space are made before the first lra_set() or lra_run() on it
 * allocates the largest workspace once. */
lra_plan *lra_plan_new(lra_graph *g, lra_params *p, lra_space *s, int n, lra_tensor *const *out,
                       lra_err *e);
void lra_plan_free(lra_plan *p); /* Nullable: p */
int lra_set(lra_plan *p, const lra_tensor *input, const void *host, lra_err *e);
int lra_run(lra_plan *p, lra_err *e);
int lra_get(lra_plan *p, const lra_tensor *out, void *host, lra_err *e);

typedef struct {
    double flops;           /* of one run, 2 per multiply-add */
    double bytes;           /* read and written by the nodes */
    double workspace_bytes; /* of this plan in the space */
    int n_nodes;
} lra_cost;
lra_cost lra_plan_cost(const lra_plan *p);
double lra_params_bytes(const lra_params *p);
double lra_params_copy_bytes(
    const lra_params *p); /* what saving and loading take beside them: one array */

/* What one node did in a timed run. */
typedef struct {
    const char *op, *path;
    lra_shape shape;
    double flops, bytes, seconds;
} lra_node_time;
/* One run, node by node; out: cost.n_nodes entries, in the order of running.  For benchmarks: on a
 * device that queues its work the queue is timed, marks between nodes, and none waits for its
 * launch. */
int lra_run_timed(lra_plan *p, lra_node_time *out, lra_err *e);

/* Node by node; stops at the first node that produces a non-finite value and names it:
 * "'layer3/softmax' (12,4,1024): first NaN at element 913". */
int lra_run_checked(lra_plan *p, lra_err *e);
/* Threads a plan may use; 0 (the default): chosen by its FLOPs per node. */
void lra_plan_threads(lra_plan *p, int n_threads);
/* FLOP/s that the device could do at best with the plan's threads; measured, some ten
 * milliseconds. */
double lra_plan_peak(const lra_plan *p);
/* Fills every freed range with NaN before it is used again; for tests, and on when LRA_POISON is
 * set. */
void lra_plan_poison(lra_plan *p, bool on);
/* Refuses in-place execution in plans made from now on; for tests. */
void lra_space_no_inplace(lra_space *s, bool on);

/* ---- parameters ------------------------------------------------------------------------------ */

/* Arrays by path; NULL when there is none.  Addresses are on the device. */
int lra_params_count(const lra_params *p);
const char *lra_params_path(const lra_params *p, int i);
lra_shape lra_params_shape(const lra_params *p, int i);
bool lra_params_trained(const lra_params *p, int i);  /* a parameter; false: state or moment */
bool lra_params_constant(const lra_params *p, int i); /* in no file */
lra_array_layout lra_params_layout(const lra_params *p, int i);
int lra_params_get(const lra_params *p, const char *path, void *host, lra_err *e);
int lra_params_set(lra_params *p, const char *path, const void *host, lra_err *e);
/* xxh3-64 over all arrays with their names: equal bits, equal hash. */
uint64_t lra_params_hash(const lra_params *p);

/* Checkpoint: one dataset per array: /param/<path>, /adam/m/<path>, /adam/v/<path>, /state/<path>.
 * load: every array of p must be there with its shape; shadows are rewritten. */
int lra_params_write(const lra_params *p, lra_h5 *file, lra_err *e);
int lra_params_read(lra_params *p, lra_h5 *file, lra_err *e);
/* Only the trained arrays (a model for evaluation). */
int lra_params_read_weights(lra_params *p, lra_h5 *file, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
