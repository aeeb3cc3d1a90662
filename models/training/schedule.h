/* The learning rate of every step; the schedule is printed when a run starts.
 *
 *   rate(step) = rate * warmup(step) * shape(step)        W: steps of warm-up, T: total, t: step, counted from 0
 *   warmup     ((t + 1) / W)^power, at most 1
 *
 * shape: one of the files in schedules/. To add a schedule: a file there, and one line in
 * schedules.def; its settings are fields of lra_schedule. */
#ifndef LRA_MODELS_TRAINING_SCHEDULE_H
#define LRA_MODELS_TRAINING_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/key.h"
#include "kernels/base/core/mem.h"

typedef struct lra_schedule lra_schedule;

/* State of a schedule, stored in checkpoints. */
typedef struct {
    double plateau; /* product of the reduction factors so far; 1 at first */
    double best;    /* best validation score; -infinity at first */
    int64_t bad;    /* epochs since the best score */
} lra_schedule_state;

typedef struct {
    const char *name, *paper, *summary;
    const lra_key
        *keys; /* settings of runs with this schedule, fields of lra_schedule. Nullable: none */
    /* Returns the learning rate at a step, before multiplication by warmup(step). */
    double (*rate)(const lra_schedule *s, const lra_schedule_state *now, int64_t step);
    /* Updates the state at the end of an epoch. Nullable. */
    void (*epoch)(const lra_schedule *s, lra_schedule_state *now, int64_t epoch, double score);
    /* Appends a description of the schedule after warm-up, for users. */
    void (*text)(const lra_schedule *s, lra_text *to);
} lra_schedule_kind;

#define LRA_SCHEDULE(name) extern const lra_schedule_kind lra_schedule_##name;
#include "models/training/schedules.def"
#undef LRA_SCHEDULE
const lra_schedule_kind *lra_schedule_at(int i); /* NULL after the last */
const lra_schedule_kind *lra_schedule_find(const char *name, lra_err *e);

struct lra_schedule {
    const lra_schedule_kind *kind; /* shape of the schedule; NULL: lra_schedule_plateau */
    double rate;                   /* peak learning rate */
    /* warm-up: below 1 a share of all steps, else number of steps; 0: none */
    double warmup;
    double power;            /* exponent of the warm-up; 0: 1 */
    double factor;           /* factor on the rate at a reduction (plateau, multistep) */
    int64_t patience, every; /* in epochs: patience of plateau, interval of multistep */
    double threshold;        /* minimum improvement of the score, absolute */
    double min_rate;
    double final_share; /* share of the epochs, at the end, with a linear decrease; 0: none */
    double final_rate;  /* rate at the end of the linear decrease / rate at its start */
    int64_t epochs, steps_per_epoch;
    int64_t total; /* number of steps T; 0: the steps of all epochs */
};

lra_schedule_state lra_schedule_start(void);
/* Returns the learning rate of a step (0-based, counted over the run). */
double lra_schedule_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step);
void lra_schedule_epoch(const lra_schedule *s, lra_schedule_state *now, int64_t epoch,
                        double score);
/* Returns a description of the schedule in one line; the caller frees it. */
char *lra_schedule_text(const lra_schedule *s);

/* ---- for the shapes ---- */

double lra_schedule_total(const lra_schedule *s); /* number of steps T */
double lra_schedule_warm(const lra_schedule *s);  /* number of warm-up steps W */
/* Returns the progress of the schedule: 0 at the end of the warm-up, 1 at step T. */
double lra_schedule_progress(const lra_schedule *s, int64_t step);
/* Settings that several schedules have. */
#define LRA_SCHEDULE_FACTOR                                                                        \
    LRA_REAL_FIELD(lra_schedule, factor, "factor", "0.5", 1e-6, 1, "factor on the learning rate")
#define LRA_SCHEDULE_TOTAL                                                                         \
    LRA_INT_FIELD(lra_schedule, total, "total-steps", "0", 0, 1e15,                                \
                  "step at which the rate reaches 0 (0 = the last step)")

#endif
