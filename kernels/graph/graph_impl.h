/* Internal declarations shared by the files of kernels/graph. */
#ifndef LRA_GRAPH_GRAPH_IMPL_H
#define LRA_GRAPH_GRAPH_IMPL_H

#include "kernels/base/core/mem.h"
#include "kernels/graph/backend.h"

struct lra_graph {
    lra_arena *arena;
    lra_type type;
    lra_mode mode;
    lra_tensor **node;
    int n_nodes, capacity;
    const char *scope; /* current scope; "" at the top level */
    lra_keep keep;
    bool limited;
    lra_tensor *limit;           /* input with the distance limits.  NULL: no op is limited */
    struct lra_declared *mixing; /* declared mixing matrices, in the order of their nodes */
    int n_mixing;
    lra_err err;
    bool failed;
};

/* Arguments of input, param and state nodes. */
typedef struct {
    lra_param_spec spec; /* specification of a parameter, state or constant */
    const char *fill;    /* test samples: how the input is filled; NULL: an ordinary input */
} lra_leaf;

bool lra_is(const lra_tensor *x, const lra_op *op);
/* True for a parameter, state or constant, whose array is in the store. */
bool lra_is_stored(const lra_tensor *x);
/* True if, in a BF16 graph, the op reads source i through its bf16 copy (shadow). */
bool lra_reads_shadow(const lra_op *op, int i);
/* Execution order: 0 ordinary nodes, 1 parameter updates, 2 state assignments. */
int lra_rank(const lra_tensor *t);
/* Returns the node that owns the memory of x, and sets the byte offset of x in it. */
const lra_tensor *lra_root(const lra_tensor *x, size_t *offset);

/* Adds a second node with the op, arguments and scope of t, without a name, and with sources of the
 * same shapes. */
lra_tensor *lra_copy_node(const lra_tensor *t, lra_tensor **src);
/* Selects the results that stay stored for the backward pass, by id up to `last`. on: nodes that
 * propagate gradients. The caller frees the array. */
bool *lra_find_kept(const lra_graph *g, int last, const bool *on);

/* FLOP and memory traffic in bytes of one execution of a node. */
double lra_node_flops(const lra_tensor *t);
double lra_node_bytes(const lra_tensor *t);

/* One array of a parameter store. */
typedef struct {
    char *path;
    lra_shape shape;
    bool trained, constant;
    lra_array_layout layout;
    void *data;   /* values of type real, on the device */
    void *shadow; /* bf16 copy on the device; NULL: none needed */
} lra_array;

struct lra_params {
    lra_device *device;
    uint64_t seed;
    lra_type real; /* type of all arrays; set by the first plan */
    lra_array *array;
    int n, capacity;
    void **slab;
    int n_slabs;
    double n_bytes;
};

lra_array *lra_params_find(const lra_params *p, const char *path);
/* Computes the initial values v of an array (init.c). */
void lra_init_fill(const lra_param_spec *spec, uint64_t seed, const char *path, lra_shape s,
                   double *v);
/* Creates the arrays of a graph's leaves that the store lacks, in one allocation. */
int lra_params_bind(lra_params *p, const lra_graph *g, int n, lra_tensor *const *leaf,
                    const bool *shadow, lra_err *e);

struct lra_space {
    lra_device *device;
    size_t size;
    char *base;
    bool sealed, no_inplace;
};
int lra_space_seal(lra_space *s, lra_err *e);

/* A range of the workspace, and the positions [first, last] of the launch order in which it is in
 * use. */
typedef struct {
    size_t offset, size;
    int first, last;
} lra_range;

/* Selects the calls that run as one on the plan's device. Reorders the nodes and fills p->fused and
 * p->hidden. */
void lra_fuse_nodes(lra_plan *p, lra_tensor **order, int n_out, lra_tensor *const *out);

/* Assigns calls to the side stream of the plan's device: fills p->lane and p->until. */
void lra_find_lanes(lra_plan *p, lra_tensor **order);

/* Assigns offsets so that ranges in use at the same time do not overlap. Returns the total size.
 * The ranges must be sorted by `first`. */
size_t lra_layout(lra_range *r, int n);
/* Compares all pairs of ranges. Returns -1 and a message if two ranges in use at the same time
 * overlap. */
int lra_layout_check(const lra_range *r, int n, lra_err *e);

struct lra_plan {
    lra_graph *graph;
    lra_params *params;
    lra_space *space;
    lra_call *call;
    int n_calls;
    lra_range *range; /* ranges of result buffers and of scratch */
    int n_ranges;
    int *range_of;   /* index in `range` of a node's result, by id; -1: none */
    int *scratch_of; /* index in `range` of a call's scratch; -1: none */
    int *fused;      /* size of the fused group that a call starts; 0: fused with an earlier call */
    bool *hidden;    /* by node id: the result is elided, because only its fused group reads it */
    lra_stream_use *lane; /* stream and wait of each call */
    /* last position at which memory that the call reads or writes is in use */
    int *until;
    void **addresses; /* addresses of inputs and shadows of all calls, contiguous */
    const void *gate; /* address of the adamw node's result; set when addresses are known */
    int gate_node;    /* id of the adamw node, -1: none */
    lra_cost cost;
    int n_threads;
    bool poison, resolved;
    void *captured;
};
/* Memory traffic of a call in bytes, not counting operands that earlier calls of its fused group
 * have already loaded or never store. */
double lra_call_bytes(const lra_plan *p, int at);
/* Device address of an output; NULL with an error in e: out of memory. */
const void *lra_plan_result(lra_plan *p, const lra_tensor *out, lra_err *e);
/* Converts n bf16 numbers at f to float32 in place. */
void lra_widen(float *f, int64_t n);

#endif
