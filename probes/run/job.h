/* A run: its task, model and settings, its configuration and hash, its folder and its data. */
#ifndef LRA_PROBES_RUN_JOB_H
#define LRA_PROBES_RUN_JOB_H

#include "kernels/graph/backend.h"
#include "models/training/train.h"
#include "models/training/weights.h"
#include "probes/run/preset.h"

typedef struct {
    const lra_task *task;  /* own data: the instance data->own after the data are loaded */
    const char *task_name; /* task as typed by the user, such as "file:reviews". Nullable */
    const lra_model *model;
    const char *preset; /* "quick", "small", "paper" */
    const char *precision, *out, *data_dir;
    lra_config *task_config, *model_config, *train_config;
    const lra_objective *objective;
    const lra_schedule_kind *schedule;
    lra_preset plan; /* defaults of the preset */
    /* best.h5 of the run from which this one starts. NULL: it starts from no run, or the path is
     * unknown */
    char *from;
    lra_device device;
    lra_err no_gpu; /* reason why --device auto selects the CPU; empty if there is none */
    lra_dataset *data;
    bool dry; /* dry run: writes nothing */
    bool debug_nodes;
    double checkpoint_every; /* interval of checkpoints in seconds */
    double memory;           /* memory limit in bytes (0 = all free memory) */
    int recompute;           /* see lra_train_spec.recompute */
    /* Initial weights from a file, whose hash is part of the configuration. NULL: random
     * weights. */
    const char *weights_path;
    lra_safetensors weights;
    bool evaluate; /* evaluates the initial weights without training (lra_train_spec.untrained) */
    /* Attributes of the ladder that contains the run as a rung (rungs.h). They are stored in the
     * result and are not part of the configuration. Nullable */
    const char *ladder;
    /* The run is a cell of a sweep or ladder: do not wait for another process that trains it, and
     * leave a failure file (failure.h) if it fails. */
    bool no_wait;
    const char *differs;      /* settings that differ from other cells, for messages. Nullable */
    const char *label_column; /* --label of own data. Nullable */
    const char *user_label;   /* --label; stored in the result, not part of the configuration */
    /* Configuration and hash that a finished run has stored, whatever version wrote them. NULL:
     * they are computed from the settings. */
    const char *stored, *stored_hash;
} lra_job;

/* Loads the data unless they are already loaded. */
int lra_job_load_data(lra_job *r, lra_err *e);
/* Uses data that are already loaded: takes ownership and removes the rows that the settings
 * exclude. For own data, r->task becomes the instance of the data. */
int lra_job_use_data(lra_job *r, lra_dataset *data, lra_err *e);
/* Loads initial weights from a safetensors file; must be called before the configuration is
 * computed. */
int lra_job_load_weights(lra_job *r, const char *path, lra_err *e);
void lra_job_close(lra_job *r);

/* lra_job_config() returns the configuration of one seed as "key=value" lines: every option that
 * changes the result and differs from its default. lra_job_folder() returns its folder
 * OUT/runs/TASK-MODEL-HASH, or OUT/trials/TASK-MODEL-HASH for a trial (tune.h). The caller frees
 * both. */
char *lra_job_config(const lra_job *r, int64_t seed, char hash[17]);
char *lra_job_folder(const lra_job *r, int64_t seed);
/* Fills a training specification; lra_job_spec_free() frees its folder, title and config. */
void lra_job_spec(const lra_job *r, int64_t seed, lra_train_spec *s);
void lra_job_spec_free(lra_train_spec *s);
int64_t lra_job_reach(const lra_job *r);
/* Writes a reach as text: "12", or "all" if it is unbounded. */
const char *lra_reach_text(int64_t reach, char text[24]);

#endif
