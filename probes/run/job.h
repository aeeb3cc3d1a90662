/* A run: its task, model and settings, its configuration and hash, its folder, its data. */
#ifndef LRA_PROBES_RUN_JOB_H
#define LRA_PROBES_RUN_JOB_H

#include "kernels/graph/backend.h"
#include "models/training/train.h"
#include "models/training/weights.h"
#include "probes/run/preset.h"

typedef struct {
    const lra_task *task;
    const lra_model *model;
    const char *preset; /* "quick", "small", "paper" */
    const char *precision, *out, *data_dir;
    lra_config *task_config, *model_config, *train_config;
    const lra_objective *objective;
    const lra_schedule_kind *schedule;
    lra_preset plan; /* defaults of the preset */
    /* best.h5 of the run that this one starts from. NULL: none, or its place is unknown */
    char *from;
    lra_device device;
    lra_err no_gpu; /* why --device auto is the CPU; empty: no reason */
    lra_dataset *data;
    bool dry; /* nothing is written */
    bool debug_nodes;
    double checkpoint_every; /* seconds */
    double memory;           /* bytes; 0: all that is free */
    int recompute;           /* of lra_train_spec */
    /* Initial weights from a file; NULL: random. Their hash is part of the configuration. */
    const char *weights_path;
    lra_safetensors weights;
    bool evaluate; /* spec.untrained */
    /* Attributes of the ladder that the run is a rung of (rungs.h), stored in the result; not part
     * of the configuration. Nullable */
    const char *ladder;
    const char *differs;    /* the settings that differ from other cells, in messages. Nullable */
    const char *user_label; /* --label, stored with the result, not part of the configuration */
    /* Of a finished run, of any version: its stored configuration and hash. NULL: computed anew. */
    const char *stored, *stored_hash;
} lra_job;

int lra_job_load_data(lra_job *r, lra_err *e);
/* The same with loaded data: takes ownership, and removes the rows that the settings exclude. */
int lra_job_use_data(lra_job *r, lra_dataset *data, lra_err *e);
/* Initial weights from a safetensors file; call it before the configuration is computed. */
int lra_job_load_weights(lra_job *r, const char *path, lra_err *e);
void lra_job_close(lra_job *r);

/* The configuration of one seed as "key=value" lines (every option that changes the result and
 * differs from its default) and its folder OUT/runs/TASK-MODEL-HASH; the caller frees both. */
char *lra_job_config(const lra_job *r, int64_t seed, char hash[17]);
char *lra_job_folder(const lra_job *r, int64_t seed);
/* Fills a training specification; the caller frees folder, title and config. */
void lra_job_spec(const lra_job *r, int64_t seed, lra_train_spec *s);
void lra_job_spec_free(lra_train_spec *s);
int64_t lra_job_reach(const lra_job *r);
/* "12"; "all" if it is unbounded. */
const char *lra_reach_text(int64_t reach, char text[24]);

#endif
