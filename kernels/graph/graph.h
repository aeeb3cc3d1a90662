/* The engine: a static graph whose gradients are nodes. It is planned once and then run many times.
 *
 *   lra_graph  *g = lra_graph_new(LRA_F32, LRA_TRAIN);
 *   lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(B, D));
 *   lra_tensor *w = lra_param(g, "w", LRA_SHAPE(D, C), LRA_SPEC(LRA_UNIFORM(-0.1, 0.1)));
 *   lra_tensor *y = lra_softmax(lra_matmul(x, w));                       build
 *   lra_grad(y, NULL, 1, &w, &dw);                                       differentiate
 *   lra_plan   *p = lra_plan_new(g, params, space, 2, (lra_tensor *[]){y, dw}, &e);
 *   lra_set(p, x, host, &e);  lra_run(p, &e);  lra_get(p, y, host, &e);  plan and run
 *
 * ops.h declares the op builders, op.h the record that defines an op.
 *
 * Types. An F32 or F64 graph computes in that type. In a BF16 graph every tensor is `elem` (bf16:
 * activations and their gradients) or `real` (float32: parameters, their gradients, statistics,
 * logits, losses); the op's shape function sets the type. Host data are float32 (double in F64
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
/* Activation checkpointing: which results the forward pass stores for the backward pass.  The
 * others are recomputed, with identical bits (recompute.c). */
typedef enum { LRA_KEEP_ALL, LRA_KEEP_PRODUCTS, LRA_KEEP_LAYERS } lra_keep;
enum { LRA_MAX_RANK = 6 };

/* Shape of a tensor; row-major, dimension n-1 is the fastest. n = 0 is a scalar. */
typedef struct {
    int n;
    int64_t d[LRA_MAX_RANK];
} lra_shape;

typedef struct lra_device lra_device; /* a CPU or GPU on which plans run (backend.h) */
typedef struct lra_graph
    lra_graph; /* nodes of one computation (one length bucket); owns its tensors */
typedef struct lra_tensor lra_tensor; /* a node: op, sources, shape; no data */
typedef struct lra_params
    lra_params;                     /* named arrays that outlive graphs: weights, moments, states */
typedef struct lra_space lra_space; /* one device's workspace, shared by all plans of a run */
typedef struct lra_plan lra_plan;   /* a graph with addresses and a launch order, ready to run */

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The shape with the given dimensions: LRA_SHAPE(B, T, D). */
#define LRA_SHAPE(...)                                                                             \
    lra_shape_from((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                      \
                   (const int64_t[]){__VA_ARGS__})
lra_shape lra_shape_from(int n, const int64_t *d);
int64_t lra_shape_elements(lra_shape s); /* number of elements; a scalar has 1 */
bool lra_shape_equal(lra_shape a, lra_shape b);
/* writes "(12,4,1024)" to buf; returns buf */
const char *lra_shape_text(lra_shape s, char buf[96]);
size_t lra_type_size(lra_type t); /* bytes per element; BF16: 2 */

/* ---- parameter specifications ---------------------------------------------------------------- */

/* Initialiser of an array.  Values are drawn or computed in double on the host and depend only on
 * (seed, path). */
typedef enum {
    LRA_INIT_CONSTANT, /* all values are a */
    LRA_INIT_NORMAL,   /* normal, standard deviation a, mean b */
    LRA_INIT_UNIFORM,  /* uniform in [a, b) */
    /* normal truncated at two standard deviations; a: standard deviation after the truncation */
    LRA_INIT_TRUNCATED_NORMAL,
    LRA_INIT_LOG_UNIFORM, /* exp of a uniform in [ln a, ln b) */
    LRA_INIT_FAN,         /* uniform in +-1/sqrt(a), a: fan-in */
    /* uniform in +-a sqrt(6/(fan_in + fan_out)); shape (taps..,fan_in,fan_out) */
    LRA_INIT_XAVIER,
    LRA_INIT_RAMP, /* a + b i along the last dimension */
    /* alternates +b, -b, +b, .. along the last dimension, plus a normal of standard deviation a */
    LRA_INIT_ALTERNATING,
    LRA_INIT_FILL /* values are computed by fill() */
} lra_init;

/* Argument of fill(), which takes its random numbers from lra_rng_new(seed, stream, i). */
typedef struct {
    lra_shape shape;
    uint64_t seed;
    uint32_t stream;
    const void *data; /* lra_param_spec.data */
} lra_fill;

/* Layout in which PyTorch files store the array. */
typedef enum {
    LRA_LAYOUT_SAME,
    LRA_LAYOUT_REVERSED /* dimensions in the opposite order */
} lra_array_layout;

typedef struct {
    lra_init init;
    double a, b;
    void (*fill)(const lra_fill *f, double *v);
    const void *data; /* data for fill(): data_size bytes, copied.  Nullable */
    size_t data_size;
    double rate_factor; /* multiplies the learning rate; 0 means 1 */
    double rate;        /* separate learning rate, with the common schedule; 0: none */
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

/* ---- build: after an error a builder records the first message in the graph and still returns a
 *      tensor, so that model code needs no checks; lra_plan_new() reports it ------------------- */

lra_graph *lra_graph_new(lra_type type, lra_mode mode);
void lra_graph_free(lra_graph *g); /* Nullable: g */
lra_type lra_graph_type(const lra_graph *g);
lra_mode lra_graph_mode(const lra_graph *g);
void lra_push(lra_graph *g, const char *fmt, ...) LRA_PRINTF(2, 3); /* opens a scope: "layer%d" */
void lra_pop(lra_graph *g);
/* Records an error of the model itself ("kernel 4 must be odd"); only the first message is kept. */
void lra_graph_fail(lra_graph *g, const char *fmt, ...) LRA_PRINTF(2, 3);
/* Returns 0, or -1 with the first recorded message in e. */
int lra_graph_check(const lra_graph *g, lra_err *e);

/* Data from the host; t is the graph's own type or LRA_I32 (in a BF16 graph real inputs are
 * LRA_F32). Values that were set stay valid until the next run of any plan of the same space. */
lra_tensor *lra_input(lra_graph *g, const char *name, lra_type t, lra_shape s);
/* A trained array of real type, identified by its scope path ("layer0/conv/w").  A path that exists
 * already is an error; lra_shared() returns an existing array.  Nullable: spec (initialised to
 * zero, trained like any other). */
lra_tensor *lra_param(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec);
/* A non-trained array: stored and checkpointed like a parameter, without a gradient, written only
 * by lra_assign().  Only the initialiser and the layout of the spec are used. */
lra_tensor *lra_state(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec);
/* Constant values that the initialiser of the spec defines (position tables, slopes): computed
 * once, not stored in checkpoints, without a gradient. */
lra_tensor *lra_constant(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec);
/* Returns the existing parameter, state or constant with this absolute path. */
lra_tensor *lra_shared(lra_graph *g, const char *path);
/* state = value, executed after all other nodes of the plan; in a plan with lra_adamw() only if
 * that update was applied. */
void lra_assign(lra_tensor *state, lra_tensor *value);
/* The int32 (16) input with the values that change at every optimiser step (lra_step). The first
 * call creates it. */
lra_tensor *lra_step_input(lra_graph *g);
/* Names a tensor in the current scope; probes find it by path. */
lra_tensor *lra_name(lra_tensor *x, const char *name);
lra_tensor *lra_find(const lra_graph *g, const char *path); /* node with this path; NULL: none */
/* Lists the nodes of an op in order of creation, at most `most` of them. Probes use it to find the
 * attention or convolution nodes of any model. Returns the number of such nodes.  Nullable: out */
typedef struct lra_op lra_op;
int lra_graph_nodes(const lra_graph *g, const lra_op *op, int most, lra_tensor **out);
lra_shape lra_tensor_shape(const lra_tensor *x);
lra_type lra_tensor_type(const lra_tensor *x);
/* Lists the parameters of the graph in order of creation and returns their number. Nullable:
 * out */
int lra_graph_params(const lra_graph *g, lra_tensor **out);
const char *lra_tensor_path(const lra_tensor *x); /* "layer0/conv/w"; for other nodes "scope/op" */

/* ---- distance limit: an intervention, not a setting ------------------------------------------ */

enum { LRA_NO_LIMIT = INT32_MAX };
/* Enables distance limits: ops between positions (lra_conv, lra_long_conv, lra_attention) that are
 * built after this call have a distance limit r. Positions more than r away do not contribute,
 * independently of the weights. One plan serves every r. For r >= T-1 the result is bit-identical
 * to that of the op without a limit. A position that is farther away than the sum of all limits
 * changes no bit of a result. */
void lra_graph_limit(lra_graph *g);
/* The int32 (n) input "limit" with the limits r of all limited ops (for attention one per head), in
 * order of creation (distance_limit.h). NULL: the graph has no limited op. */
lra_tensor *lra_limit_input(const lra_graph *g);

/* ---- differentiate --------------------------------------------------------------------------- */

/* Selects which results are stored for the backward pass. Call it before lra_grad(). Default:
 * LRA_KEEP_ALL. */
void lra_graph_keep(lra_graph *g, lra_keep keep);

/* Adds the nodes that compute gradients: dx[i] is d(y . seed)/d(x[i]); seed NULL means ones. The
 * gradient is zeros if y does not depend on x[i]. A dependence through an op without a gradient
 * rule is an error (lra_detach() stops a gradient on purpose). */
void lra_grad(lra_tensor *y, lra_tensor *seed, int n, lra_tensor *const *x, lra_tensor **dx);

/* Contents of lra_step_input(); 64 bytes. */
typedef struct {
    uint64_t seed; /* seed of the training run, for dropout */
    uint64_t step; /* index of the batch in the training run, for dropout */
    float rate;    /* learning rate of this optimiser step */
    int32_t pad[11];
} lra_step;

/* ---- plan and run ---------------------------------------------------------------------------- */

lra_params *lra_params_new(lra_device *dev, uint64_t seed);
void lra_params_free(lra_params *p); /* Nullable: p */
lra_space *lra_space_new(lra_device *dev);
void lra_space_free(lra_space *s); /* Nullable: s */

/* Computes the launch order and the addresses of all nodes that the n outputs (and the states
 * assigned in g) need.  Creates and initialises parameters that p lacks, and changes no existing
 * ones.  All plans of a space must be made before the first lra_set() or lra_run() on it, which
 * allocates the largest workspace once. */
lra_plan *lra_plan_new(lra_graph *g, lra_params *p, lra_space *s, int n, lra_tensor *const *out,
                       lra_err *e);
void lra_plan_free(lra_plan *p); /* Nullable: p */
int lra_set(lra_plan *p, const lra_tensor *input, const void *host, lra_err *e);
int lra_run(lra_plan *p, lra_err *e);
int lra_get(lra_plan *p, const lra_tensor *out, void *host, lra_err *e);

typedef struct {
    double flops;           /* FLOP of one run of the plan; a multiply-add counts as 2 */
    double bytes;           /* memory traffic of the nodes, read and written */
    double workspace_bytes; /* workspace that this plan needs in the space */
    int n_nodes;
} lra_cost;
lra_cost lra_plan_cost(const lra_plan *p);
double lra_params_bytes(const lra_params *p);
double lra_params_copy_bytes(
    const lra_params *p); /* host memory in bytes that saving or loading needs: one array */

/* Measurement of one node in a timed run of a plan. */
typedef struct {
    const char *op, *path;
    lra_shape shape;
    double flops, bytes, seconds;
} lra_node_time;
/* Runs the plan once and times each node; out: cost.n_nodes entries in execution order.  For
 * benchmarks. On a device with a queue the times are those between events on the queue, without
 * launch latency. */
int lra_run_timed(lra_plan *p, lra_node_time *out, lra_err *e);

/* Runs node by node, stops at the first node that produces a non-finite value and names it:
 * "'layer3/softmax' (12,4,1024): first NaN at element 913". */
int lra_run_checked(lra_plan *p, lra_err *e);
/* Sets the number of threads of a plan. 0 (the default): chosen by its FLOPs per node. */
void lra_plan_threads(lra_plan *p, int n_threads);
/* Peak FLOP/s of the device with the plan's number of threads; measured in about ten
 * milliseconds. */
double lra_plan_peak(const lra_plan *p);
/* Fills every freed range of the workspace with NaN before it is used again, to detect reads of
 * dead buffers. For tests; also enabled if LRA_POISON is set. */
void lra_plan_poison(lra_plan *p, bool on);
/* Disables in-place execution in plans made after this call; for tests. */
void lra_space_no_inplace(lra_space *s, bool on);

/* ---- parameters ------------------------------------------------------------------------------ */

/* Arrays of a store, by index or by path; NULL if the path does not exist. Addresses are on the
 * device. */
int lra_params_count(const lra_params *p);
const char *lra_params_path(const lra_params *p, int i);
lra_shape lra_params_shape(const lra_params *p, int i);
bool lra_params_trained(const lra_params *p, int i);  /* true: parameter; false: state or moment */
bool lra_params_constant(const lra_params *p, int i); /* true: not stored in files */
lra_array_layout lra_params_layout(const lra_params *p, int i);
int lra_params_get(const lra_params *p, const char *path, void *host, lra_err *e);
int lra_params_set(lra_params *p, const char *path, const void *host, lra_err *e);
/* xxh3-64 over the names and contents of all arrays: equal contents give equal hashes. */
uint64_t lra_params_hash(const lra_params *p);

/* Checkpoint: one dataset per array: /param/<path>, /adam/m/<path>, /adam/v/<path>, /state/<path>.
 * Loading fails unless the file contains every array of p with its shape; it updates the bf16
 * shadows. */
int lra_params_write(const lra_params *p, lra_h5 *file, lra_err *e);
int lra_params_read(lra_params *p, lra_h5 *file, lra_err *e);
/* Reads the trained arrays only, for a model that is evaluated. */
int lra_params_read_weights(lra_params *p, lra_h5 *file, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
