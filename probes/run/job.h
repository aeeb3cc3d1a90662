/* A run: the options that describe it, its configuration and hash, its folder, training it. */
#ifndef LRA_PROBES_RUN_JOB_H
#define LRA_PROBES_RUN_JOB_H

#include "kernels/base/options.h"
#include "kernels/graph/backend.h"
#include "models/training/train.h"
#include "models/training/weights.h"
#include "probes/run/preset.h"
#include "reports/result.h"

/* --task --model --preset --set --seed(s) --threads --device --precision --out --data-dir ... */
extern const lra_option lra_job_options[];

typedef struct {
    const lra_task *task;
    const lra_model *model;
    const char *preset; /* "quick", "small", "paper" */
    const char *precision, *out, *data_dir;
    lra_config *task_config, *model_config, *train_config;
    const lra_objective *objective;
    const lra_schedule_kind *schedule;
    lra_preset plan; /* what the preset says of them */
    char *
        from; /* best.h5 of the run that this one starts from.  NULL: none, or it is not known where it is */
    lra_device device;
    lra_err no_gpu; /* why --device auto is the CPU; empty: nothing to say */
    lra_dataset *data;
    bool dry; /* nothing is written */
    bool debug_nodes;
    double checkpoint_every; /* seconds */
    double memory;           /* bytes; 0: what is free */
    int recompute;           /* of lra_train_spec */
    /* Initial weights from outside; NULL: drawn.  Their hash is part of the configuration. */
    const char *weights_path;
    lra_safetensors weights;
    bool evaluate; /* spec.untrained */
    /* What the result says of the ladder it is a rung of (rungs.h); not part of the configuration.  Nullable */
    const char *ladder;
    /* A run that is done, of whatever version: its configuration as it was stored, and its hash.  NULL: made anew. */
    const char *stored, *stored_hash;
} lra_job;

/* Opens what --device names: auto, cpu, cuda, cuda:N.  no_gpu: why auto is the CPU in a build with CUDA, else
 * empty. */
int lra_job_device(const char *asked, int n_threads, lra_device *out, lra_err *no_gpu, lra_err *e);
/* What --precision is on this device. */
const char *lra_job_precision(const char *asked, const lra_device *d);
/* What --recompute means for lra_train_spec. */
int lra_job_recompute(const lra_options *o);
/* Keys beside those of training that say which run this one is related to; absent: none. */
extern const lra_key lra_relation_keys[];
/* All settings as they are unless somebody changes them; the task's only where there are none yet. */
void lra_job_defaults(lra_job *r);
/* Fills the settings of task, model and training from the options.  Nullable: assignment, one more --set. */
int lra_job_configure(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);
/* Reads the options; opens the device, not the data. */
int lra_job_open(lra_job *r, const lra_options *o, lra_err *e);
/* The same with one more --set.  Nullable: assignment. */
int lra_job_open_with(lra_job *r, const lra_options *o, const char *assignment, lra_err *e);
int lra_job_load_data(lra_job *r, lra_err *e);
/* Initial weights from a safetensors file; before anything that asks for the configuration. */
int lra_job_load_weights(lra_job *r, const char *path, lra_err *e);
void lra_job_close(lra_job *r);

/* The configuration of one seed as "key=value" lines (every option that changes the result and differs
 * from its default) and its folder OUT/runs/TASK-MODEL-HASH; the caller frees both. */
char *lra_job_config(const lra_job *r, int64_t seed, char hash[17]);
char *lra_job_folder(const lra_job *r, int64_t seed);
/* Fills a training specification; the caller frees folder, title and config. */
void lra_job_spec(const lra_job *r, int64_t seed, lra_train_spec *s);
void lra_job_spec_free(lra_train_spec *s);
/* What is decided before a run starts, in full: "name  text" lines; caller frees. */
char *lra_job_plan_text(const lra_job *r, const lra_train_spec *s, const lra_train_cost *c);
/* Where it differs from what is published, a line each; caller frees. */
char *lra_job_deviations(const lra_job *r);
/* Trains what is missing and writes result.h5; a finished run is left alone.
 * 0, LRA_STOPPED or a negative code. */
int lra_job_train(const lra_job *r, int64_t seed, lra_err *e);
int64_t lra_job_reach(const lra_job *r);

#endif
