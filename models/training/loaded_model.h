/* A trained model, loaded for evaluation, in five steps:
 *   1. load a run and its weights
 *      lra_load_model(&m, &run, device, LRA_BEST_WEIGHTS, &e);
 *   2. build the network of each length
 *      for (b..) view = lra_loaded_graph(&m, m.run->batch, m.buckets.length[b]);
 *   3. find nodes by their op, and add outputs: their values, gradients, profiles
 *      lra_graph_nodes(view->network.graph, &lra_op_attention, ..);
 *      lra_length_graph_output(view, lra_attention_profile_of(node));
 *   4. make the plans and read the weights
 *      lra_loaded_plan(&m, &e);
 *   5. evaluate rows of any split
 *      lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, each, context, &e);
 * The influence of distance is measured with distance limits (kernels/graph/graph.h), which may
 * change between runs:
 *   lra_loaded_limit(&m, &e);       before the first graph; LRA_USAGE: undefined for this model
 *   for (i..) m.limit[i] = r;       after the graphs: m.n_limits limits, LRA_NO_LIMIT at first
 *   lra_loaded_run(..);
 * The graphs are in evaluation mode: no dropout, running statistics. All devices are supported. */
#ifndef LRA_MODELS_TRAINING_LOADED_MODEL_H
#define LRA_MODELS_TRAINING_LOADED_MODEL_H

#include "datasets/loader/batch.h"
#include "datasets/loader/buckets.h"
#include "models/training/train_spec.h"

/* LRA_INITIAL_WEIGHTS: the weights at initialisation, drawn from the run's seed. They are replaced
 * by external weights, if the run has any: a file of weights, or inputs and encoder of another run.
 * The bias head/b of a VALUE head is initialised to the means of the training targets (of all rows,
 * even if only a fraction is trained on), which is the best constant prediction. Published heads
 * are initialised near 0. Targets are not normalised, and heart rates are around 87: from 0, the
 * first epochs would only learn the mean, and short runs would end worse than the constant. The
 * bias is otherwise an ordinary parameter, which checkpoints contain. */
typedef enum {
    LRA_INITIAL_WEIGHTS,
    LRA_BEST_WEIGHTS, /* weights of the selected epoch, best.h5 */
    LRA_LAST_WEIGHTS  /* weights of the last checkpoint */
} lra_weights_kind;

/* Reads weights into the parameters of a plan. Training, evaluation, export and probes all use this
 * function. *step: step of the last checkpoint; unchanged for other weights. Nullable: step. */
int lra_weights_read(const lra_train_spec *run, lra_params *p, lra_weights_kind which,
                     int64_t *step, lra_err *e);

/* The network of one length, and the outputs requested from it. */
typedef struct {
    lra_network network;
    int64_t rows, T; /* rows of a batch; length in tokens */
    lra_tensor **out;
    int n_out;
    lra_plan *plan;
} lra_length_graph;

typedef struct {
    const lra_train_spec *run;
    lra_device *device;
    lra_weights_kind weights;
    lra_type type; /* type of the graphs; that of the run, unless changed before the first graph */
    lra_params *params;
    lra_space *space;
    lra_buckets buckets;
    lra_length_graph **view;
    int n_views;
    int64_t step; /* step of the last checkpoint; -1 for other weights */
    bool limited;
    /* Set before the first graph: batches may contain position ids (lra_batch.place). */
    bool explicit_positions;
    /* (n_limits) distance limit in tokens of each op that mixes positions, in the order of the
     * network; attention has one for each head. */
    int32_t *limit;
    int n_limits;
    /* Number of rows of a split that lra_loaded_run() samples; the sample is the same for all runs
     * on these data. 0: all rows. */
    int64_t sample;
} lra_loaded_model;

/* Loads a model. The run's data must be loaded before. The caller closes the model, even after a
 * failure. */
int lra_load_model(lra_loaded_model *m, const lra_train_spec *run, lra_device *dev,
                   lra_weights_kind weights, lra_err *e);
/* Makes the graphs read m->limit. LRA_USAGE: distance limits are undefined for this model; the
 * message is the reason. */
int lra_loaded_limit(lra_loaded_model *m, lra_err *e);
/* Returns the node of the first graph to which m->limit[i] applies (to the node, or to one of its
 * heads). */
const lra_tensor *lra_loaded_limited_node(const lra_loaded_model *m, int i);
/* Builds a network for batches of `rows` rows of length T, before the plan is made. The network
 * belongs to m. */
lra_length_graph *lra_loaded_graph(lra_loaded_model *m, int64_t rows, int64_t T);
/* Builds only the head, for given features of D channels (lra_network.given); lra_loaded_run() does
 * not run it. */
lra_length_graph *lra_loaded_head(lra_loaded_model *m, int64_t rows, int64_t T, int64_t D);
/* Builds the networks of all buckets of the run, for batches of the run's size. */
void lra_loaded_buckets(lra_loaded_model *m);
/* Adds a tensor of the graph to the outputs of the plan; after a run, lra_get() reads it. */
void lra_length_graph_output(lra_length_graph *v, lra_tensor *x);
int lra_loaded_plan(lra_loaded_model *m, lra_err *e);
/* Runs all batches of a split through the networks of their lengths, and calls each() after every
 * batch; each() returns 0 to continue. wanted: (rows of the split) rows to evaluate; the other rows
 * of a batch have index -1. Nullable: wanted. */
int lra_loaded_run(lra_loaded_model *m, int split, const bool *wanted,
                   int (*each)(const lra_length_graph *v, const lra_batch *b, void *context,
                               lra_err *e),
                   void *context, lra_err *e);
void lra_loaded_free(lra_loaded_model *m);
/* Runs the network of a length once, with its inputs already set, under the distance limits of
 * m. */
int lra_length_graph_run(const lra_loaded_model *m, const lra_length_graph *v, lra_err *e);

/* Evaluates the weights of a run on a split. output: (rows, outputs) logits or predicted numbers in
 * the order of the split, NULL for heads with an output at every token. row: (rows) contribution of
 * each row to the metric. Nullable: output, row. */
int lra_evaluate(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights, int split,
                 float *output, lra_sums *row, lra_err *e);

#endif
