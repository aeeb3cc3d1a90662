/* A trained model, opened to be asked, in five steps:
 *   lra_load_model(&m, &run, device, LRA_BEST_WEIGHTS, &e);                              which run, which weights
 *   for (b..) view = lra_loaded_graph(&m, m.run->batch, m.buckets.length[b]);        the network of a length
 *   lra_graph_nodes(view->network.graph, &lra_op_attention, ..);                   what is in it, found by op;
 *   lra_length_graph_output(view, lra_attention_profile_of(node));                            outputs, gradients, profiles
 *   lra_loaded_plan(&m, &e);                                                         plans, and the weights
 *   lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, each, context, &e);                     rows of any split
 * What distance matters is asked with a limit (kernels/graph/graph.h), which is changed from run to
 * run:
 *   lra_loaded_limit(&m, &e);                          before the first graph; LRA_USAGE: "undefined" for this model
 *   for (i..) m.limit[i] = r;                          behind the graphs: m.n_limits of them, LRA_NO_LIMIT at first
 *   lra_loaded_run(..);
 * Graphs are those of evaluation: nothing is dropped, running statistics are used.  Works on every
 * device. */
#ifndef LRA_MODELS_TRAINING_LOADED_MODEL_H
#define LRA_MODELS_TRAINING_LOADED_MODEL_H

#include "datasets/loader/batch.h"
#include "datasets/loader/buckets.h"
#include "models/training/train_spec.h"

/* INITIAL: where the run starts, as drawn from its seed, but for the bias of a head of numbers;
 * then what comes from
 * outside: a file of weights, or the inputs and the encoder of another run.
 * VALUE heads: head/b = the means of the training targets, whatever share of the rows is trained
 * on: what a constant answers (datasets/loader/dataset.h).  Published heads start near 0.  Targets
 * are not normalised, and heart rates lie around 87: from 0 a head spends its first epochs on
 * learning their mean, and short runs end worse than the constant.  The bias is a parameter like
 * any other from there on, so that checkpoints hold it. */
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

/* The graph of one length, and what is asked of it. */
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
    bool placed;    /* before the first graph: batches may say that rows stand elsewhere
                       (lra_batch.place) */
    int32_t *limit; /* (n_limits) most distance of each op between positions, of attention one for
                       each head, in the order of the network */
    int n_limits;
    int64_t sample; /* rows of a split that lra_loaded_run() takes, the same of all runs on these
                       data; 0: all */
} lra_loaded_model;

/* The run's data must be loaded.  Close it whatever happened. */
int lra_load_model(lra_loaded_model *m, const lra_train_spec *run, lra_device *dev,
                   lra_weights_kind weights, lra_err *e);
/* The graphs obey m->limit.  LRA_USAGE: for this model that is undefined, the message says why. */
int lra_loaded_limit(lra_loaded_model *m, lra_err *e);
/* The node that obeys number i of m->limit, or whose head does, in the first graph. */
const lra_tensor *lra_loaded_limited_node(const lra_loaded_model *m, int i);
/* A network for batches of so many rows; all are made before the plan.  Belongs to m. */
lra_length_graph *lra_loaded_graph(lra_loaded_model *m, int64_t rows, int64_t T);
/* The head alone, of features of D channels that are set (lra_network.given); not run by
 * lra_loaded_run(). */
lra_length_graph *lra_open_head(lra_loaded_model *m, int64_t rows, int64_t T, int64_t D);
/* One of every bucket of the run, for batches of the run's size. */
void lra_loaded_buckets(lra_loaded_model *m);
/* Asks for a tensor of the graph; lra_get() reads it after a run. */
void lra_length_graph_output(lra_length_graph *v, lra_tensor *x);
int lra_loaded_plan(lra_loaded_model *m, lra_err *e);
/* Runs the batches of a split through the views of their lengths and hands each to `each`, which
 * returns 0 to go on. Nullable: wanted, (rows of the split) those that count; of a batch the others
 * have row -1. */
int lra_loaded_run(lra_loaded_model *m, int split, const bool *wanted,
                   int (*each)(const lra_length_graph *v, const lra_batch *b, void *context,
                               lra_err *e),
                   void *context, lra_err *e);
void lra_loaded_free(lra_loaded_model *m);
/* One run of a view whose inputs are set, with the limits of m. */
int lra_length_graph_run(const lra_loaded_model *m, const lra_length_graph *v, lra_err *e);

/* Logits or numbers (rows, outputs) of a split, in its order, by the weights of a run.  Nullable:
 * output, where the goal is asked at steps; row: (rows) what each adds to the metric. */
int lra_evaluate(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights, int split,
                 float *output, lra_sums *row, lra_err *e);

#endif
