/* Measures a model that this program did not train: writes a run folder with its answers for the
 * test rows (result.h5) and the measurements of the parts that it can answer (influence.h5). Tables
 * and figures take the folder like a trained run. */
#ifndef LRA_PROBES_INFLUENCE_MODEL_RUN_H
#define LRA_PROBES_INFLUENCE_MODEL_RUN_H

#include "probes/influence/part.h"

typedef struct {
    lra_responder *model;
    const lra_dataset *data;
    const char *name; /* of the model in files and tables: a-z 0-9 and -_. */
    const char *out;  /* the folder is OUT/runs/TASK-user.NAME-HASH */
    int64_t batch;    /* rows of a request */
    uint64_t seed, sample_seed;
    /* Reason why a part is not measured (lra_influence.refused), and its context. Nullable */
    const char *(*refused)(const void *context, const char *part);
    const void *context;
    const lra_options *options; /* of the command: those of measure_parts.h */
} lra_model_run;

/* A name for a model: its letters in lower case, other characters as '-'. The caller frees it. */
char *lra_model_run_name(const char *from);
/* Measures the model. The identity of a run is its name, its data and what the model declares about
 * its weights; if its answers differ from those in the folder, all parts are measured again.
 * *out: the measurements, which the caller frees; *folder: of the run, freed by the caller. Both
 * are NULL after a failure. */
int lra_model_run_measure(const lra_model_run *m, lra_probe_result **out, char **folder,
                          lra_err *e);

#endif
