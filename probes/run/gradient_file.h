/* The gradients of one batch in a file: the output of `lra-probe export --gradients`. */
#ifndef LRA_PROBES_RUN_GRADIENT_FILE_H
#define LRA_PROBES_RUN_GRADIENT_FILE_H

#include "models/training/loaded_model.h"
#include "probes/run/finished_run.h"

/* An untrained model on random tokens, (B,T); row i has i T / (2 B) padding tokens, so its length
 * is T - i T / (2 B). */
typedef struct {
    const lra_model *model;
    lra_config *config;
    lra_type type;
    int64_t B, T, vocab, classes;
    uint64_t seed;
    int threads; /* number of threads (0 = all processors) */
} lra_fresh_model;

/* Writes the gradients of an untrained model in evaluation mode: no dropout, running statistics.
 * *n: number of arrays in the file. */
int lra_gradient_file_of_model(const lra_fresh_model *m, const char *to, int *n, lra_err *e);
/* Writes the gradients of a finished run on the first batch of its training rows, in file order.
 * The data must be loaded. */
int lra_gradient_file_of_run(const lra_finished_run *run, lra_weights_kind which, const char *to,
                             int *n, lra_err *e);
/* Fills the specification with which a run is loaded from any folder; lra_job_spec_free() frees
 * it. */
void lra_gradient_spec(const lra_finished_run *run, lra_train_spec *spec);

#endif
