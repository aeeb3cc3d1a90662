/* Measures a model that this program did not train: writes a run folder with its outputs for the
 * test rows (result.h5) and the measurements of the parts for which it can answer the requests
 * (influence.h5). Tables and figures read the folder like that of a trained run. */
#ifndef LRA_PROBES_INFLUENCE_MODEL_RUN_H
#define LRA_PROBES_INFLUENCE_MODEL_RUN_H

#include "probes/influence/part.h"

typedef struct {
    lra_responder *model;
    const lra_dataset *data;
    const char *name; /* name of the model in files and tables; characters a-z 0-9 and -_. */
    const char *out;  /* output folder OUT; the run folder is OUT/runs/TASK-user.NAME-HASH */
    int64_t batch;    /* maximum number of rows of a request */
    /* Number of rows that exchange tokens (lra_subject.donors); 0: batch. Requests have `batch`
     * rows, rounded down to a multiple of it, and at least this number. */
    int64_t donors;
    uint64_t seed, sample_seed;
    /* Returns the reason why a part is not measured (lra_influence.refused); context: its first
     * argument. Nullable */
    const char *(*refused)(const void *context, const char *part);
    const void *context;
    const lra_model_checks *checks; /* check table of the model, for the files. Nullable */
    const char *const *other_parts; /* lra_influence.other_parts. Nullable */
    bool unsaved;                   /* true: no file is written; for the plan of an audit */
    const lra_options *options;     /* options of the command, including those of measure_parts.h */
    /* Folder of a finished run of this model (lra-probe fit) whose identity and folder the
     * measurements have. Nullable: a run folder of its own */
    const char *into;
} lra_model_run;

/* Converts a text to a name for a model: lower case, with '-' for other characters. The caller
 * frees it. */
char *lra_model_run_name(const char *from);
/* Measures the model. The identity of the run consists of the name, the data, and the
 * identification of the weights that the model declares. If its outputs differ from those in the
 * folder, all parts are measured again. With `into`, fails if more than 1 % of the test rows are
 * right in one and wrong in the other. *out: the measurements; *folder: the run folder. The caller
 * frees both; they are NULL after a failure. */
int lra_model_run_measure(const lra_model_run *m, lra_probe_result **out, char **folder,
                          lra_err *e);

#endif
