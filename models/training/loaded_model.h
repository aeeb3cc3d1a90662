/* A trained model, loaded for evaluation, in five steps:
 *   lra_load_model(&m, &run, device, LRA_BEST_WEIGHTS, &e);                              which run, which weights
 *   for (b..) view = lra_loaded_graph(&m, m.run->batch, m.buckets.length[b]);        the network of a length
 *   lra_graph_nodes(view->network.graph, &lra_op_attention, ..);                   its nodes, found by op;
 *   lra_length_graph_output(view, lra_attention_profile_of(node));                            outputs, gradients, profiles
 *   lra_loaded_plan(&m, &e);                                                         plans, and the weights
 *   lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, each, context, &e);                     rows of any split
 * The influence of distance is measured with distance limits (kernels/graph/graph.h), which may
 * change between runs:
 *   lra_loaded_limit(&m, &e);                          before the first graph; LRA_USAGE: "undefined" for this model
 *   for (i..) m.limit[i] = r;                          after the graphs: m.n_limits of them, LRA_NO_LIMIT at first
 *   lra_loaded_run(..);
 * The graphs are in evaluation mode: no dropout, running statistics.  Works on every device. */
#ifndef LRA_MODELS_TRAINING_LOADED_MODEL_H
#define LRA_MODELS_TRAINING_LOADED_MODEL_H

#include "datasets/loader/batch.h"
#include "datasets/loader/buckets.h"
#include "models/training/train_spec.h"

/* INITIAL: the weights at initialisation, drawn from the run's seed, except for the bias of a VALUE
 * head; then external weights: a file of weights, or the inputs and the encoder of another run.
 * VALUE heads: head/b = the means of the training targets, of all rows, even if only a fraction is
 * trained on: the best constant prediction (datasets/loader/dataset.h).  Published heads are
 * initialised near 0.  Targets are not normalised, and heart rates are around 87: from 0 a head
 * spends its first epochs on learning the mean, and short runs end worse than the constant.
 * Afterwards the bias is an ordinary parameter, so that checkpoints contain it. */
typedef enum {
    LRA_INITIAL_WEIGHTS,
    LRA_BEST_WEIGHTS, /* of the selected epoch */
    LRA_LAST_WEIGHTS  /* of the checkpoint */
} lra_weights_kind;

/* Puts them into parameters that a plan has made: the one way from files to a model, for training,
 * evaluation, export and probes.  Nullable: step, of the last checkpoint; other weights leave it as
 * it is. */
int lra_weights_read(const lra_train_spec *run, lra_params *p, lra_weights_kind which,
                     int64_t *step, lra_err *e);

/* The graph of one length, and its outputs. */
typedef struct {
    lra_network network;
    int64_t rows, T; /* rows of a batch; steps */
    lra_tensor **out;
    int n_out;
    lra_plan *plan;
} lra_length_graph;

typedef struct {
    const lra_train_spec *run;
    lra_device *device;
    lra_weights_kind weights;
    lra_type type; /* of the graphs; the run's, unless changed before the first */
    lra_params *params;
    lra_space *space;
    lra_buckets buckets;
    lra_length_graph **view;
    int n_views;
    int64_t step; /* of the last checkpoint; other weights: -1 */
    bool limited;
    /* set before the first graph: batches may give position ids of their own (lra_batch.place) */
    bool placed;
    /* (n_limits) distance limit of each op between positions (for attention one for each head), in
     * the order of the network */
    int32_t *limit;
    int n_limits;
    /* number of rows of a split that lra_loaded_run() samples, equal for all runs on these data; 0:
     * all */
    int64_t sample;
} lra_loaded_model;

/* Loads a model.  The run's data must be loaded.  Close it even after a failure. */
int lra_load_model(lra_loaded_model *m, const lra_train_spec *run, lra_device *dev,
                   lra_weights_kind weights, lra_err *e);
/* Makes the graphs read m->limit.  LRA_USAGE: undefined for this model, with the reason as the
 * message. */
int lra_loaded_limit(lra_loaded_model *m, lra_err *e);
/* The node of the first graph that m->limit[i] limits (the node, or one of its heads). */
const lra_tensor *lra_loaded_limited_node(const lra_loaded_model *m, int i);
/* Builds a network for batches of `rows` rows; call before the plan is made.  Owned by m. */
lra_length_graph *lra_loaded_graph(lra_loaded_model *m, int64_t rows, int64_t T);
/* The head only, for given features of D channels (lra_network.given); not run by
 * lra_loaded_run(). */
lra_length_graph *lra_open_head(lra_loaded_model *m, int64_t rows, int64_t T, int64_t D);
/* One of every bucket of the run, for batches of the run's size. */
void lra_loaded_buckets(lra_loaded_model *m);
/* Adds a tensor of the graph to the outputs of the plan; lra_get() reads it after a run. */
void lra_length_graph_output(lra_length_graph *v, lra_tensor *x);
int lra_loaded_plan(lra_loaded_model *m, lra_err *e);
/* Runs the batches of a split through the graphs of their lengths and calls `each` for every batch,
 * which returns 0 to continue.  Nullable: wanted, (rows of the split): rows to evaluate; the other
 * rows of a batch have row -1. */
int lra_loaded_run(lra_loaded_model *m, int split, const bool *wanted,
                   int (*each)(const lra_length_graph *v, const lra_batch *b, void *context,
                               lra_err *e),
                   void *context, lra_err *e);
void lra_loaded_free(lra_loaded_model *m);
/* Runs the graph of a length once, with its inputs already set, under the limits of m. */
int lra_length_graph_run(const lra_loaded_model *m, const lra_length_graph *v, lra_err *e);

/* Evaluates a run's weights on a split: logits or numbers (rows, outputs) in the order of the
 * split. Nullable: output, for heads with an output for each position; row: (rows) contribution of
 * each row to the metric. */
int lra_evaluate(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights, int split,
                 float *output, lra_sums *row, lra_err *e);

#endif
