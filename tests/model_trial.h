/* A model as small as its record says, in a graph with a plan: what the registry walks of
 * model_test.c and cuda_model_test.c share. */
#ifndef LRA_TESTS_MODEL_TRIAL_H
#define LRA_TESTS_MODEL_TRIAL_H

#include "kernels/graph/backend.h"
#include "models/network.h"

enum { TRIAL_VOCAB = 9, TRIAL_CLASSES = 4 };

/* What is built.  vocab 0: real numbers instead of tokens. */
typedef struct {
    const lra_model *model;
    const char *variant; /* changes beside those of `tiny` */
    lra_type type;
    int64_t vocab, B, T, T_max;
    enum { MODEL_FORWARD, MODEL_GRADIENTS, MODEL_UPDATE } what;
    lra_head head;
    lra_pool_kind pool;
    double rate;        /* of a step; 0: 0.01 */
    lra_params *params; /* of another trial.  Nullable: its own */
    lra_device *device; /* Nullable: the CPU, one thread */
    bool limited;       /* by distance: lra_network.limit */
} model_case;

typedef struct {
    model_case is;
    lra_device device;
    lra_config *config;
    lra_network k;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
    lra_tensor **param, **grad; /* (n) */
    lra_tensor *update;         /* with MODEL_UPDATE */
    int n;
} model_trial;

/* The settings of a model's tests; the caller frees them. */
lra_config *model_tiny(const lra_model *m, const char *variant);
void model_open(model_trial *f, const model_case *what);
void model_close(model_trial *f);
/* Rows of random tokens and labels; what stands behind their ends is `pad`. */
void model_set(model_trial *f, const int32_t *length, int32_t pad);
/* The same of given tokens (B,T). */
void model_set_tokens(model_trial *f, const int32_t *length, const int32_t *token);
void model_run(model_trial *f);
/* A step of AdamW; returns the loss. */
double model_step(model_trial *f, int i);
/* A result, as double whatever its type; the caller frees it. */
double *model_get(model_trial *f, const lra_tensor *x);
double model_loss(model_trial *f); /* after a run */

/* Every model, with each of its variants ("" first); with LRA_TEST_SHARD=I/N every N-th one from
 * the I-th on. */
void each_model(void (*f)(const lra_model *m, const char *variant));

#endif
