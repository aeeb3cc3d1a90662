/* The gradients of one batch in a file: what `lra-probe export --gradients` writes. */
#ifndef LRA_PROBES_RUN_GRADIENT_FILE_H
#define LRA_PROBES_RUN_GRADIENT_FILE_H

#include "models/training/loaded_model.h"
#include "probes/run/finished_run.h"

/* A model as it starts, on random tokens: row i of B is T - i T / (2 B) long. */
typedef struct {
    const lra_model *model;
    lra_config *config;
    lra_type type;
    int64_t B, T, vocab, classes;
    uint64_t seed;
    int threads; /* 0: all processors */
} lra_fresh_model;

/* Both as a model in evaluation: nothing is dropped, running statistics are used.  *n: arrays in
 * the file. */
int lra_gradient_file_of_model(const lra_fresh_model *m, const char *to, int *n, lra_err *e);
/* Of the first batch of the training rows, in their order; its data must be loaded. */
int lra_gradient_file_of_run(const lra_finished_run *run, lra_weights_kind which, const char *to,
                             int *n, lra_err *e);
/* What a run is opened by, wherever its folder is now; lra_job_spec_free() it. */
void lra_gradient_spec(const lra_finished_run *run, lra_train_spec *spec);

#endif
