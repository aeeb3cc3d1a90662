/* The learning rate of every step, printed in full when a run starts.
 *
 *   rate(step) = rate * warmup(step) * shape(step)        W: steps of warm-up, T: total, t: step, counted from 0
 *   warmup     ((t + 1) / W)^power, at most 1
 *
 * shape: the files of schedules/.  To add one: a file there and one line in schedules.def; numbers
 * of its own are fields of lra_schedule. */
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
    double plateau; /* product of the factors so far, initially 1 */
    double best;    /* score; initially -infinity */
    int64_t bad;    /* epochs since the best */
} lra_schedule_state;

typedef struct {
    const char *name, *paper, *summary;
    const lra_key
        *keys; /* settings of the runs that have it, with fields of lra_schedule.  Nullable: none */
    /* After warm-up. */
    double (*rate)(const lra_schedule *s, const lra_schedule_state *now, int64_t step);
    /* At the end of an epoch.  Nullable. */
    void (*epoch)(const lra_schedule *s, lra_schedule_state *now, int64_t epoch, double score);
    /* describes the schedule after warm-up, for people */
    void (*text)(const lra_schedule *s, lra_text *to);
} lra_schedule_kind;

#define LRA_SCHEDULE(name) extern const lra_schedule_kind lra_schedule_##name;
#include "models/training/schedules.def"
#undef LRA_SCHEDULE
const lra_schedule_kind *lra_schedule_at(int i); /* NULL after the last */
const lra_schedule_kind *lra_schedule_find(const char *name, lra_err *e);

struct lra_schedule {
    const lra_schedule_kind *kind; /* NULL: plateau */
    double rate;                   /* peak */
    double warmup;                 /* below 1: share of the total, else steps; 0: none */
    double power;                  /* of the warm-up; 0: 1 */
    double factor;                 /* of a plateau or step */
    int64_t patience, every;       /* epochs */
    double threshold;              /* of the score, absolute */
    double min_rate;
    double final_share; /* of the epochs, at the end; 0: none */
    double final_rate;  /* share of the rate at entry that is left at the end */
    int64_t epochs, steps_per_epoch;
    int64_t total; /* steps; 0: those of all epochs */
};

lra_schedule_state lra_schedule_start(void);
/* Learning rate of a step (0-based, counted over all of the run). */
double lra_schedule_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step);
void lra_schedule_epoch(const lra_schedule *s, lra_schedule_state *now, int64_t epoch,
                        double score);
/* One line for people; caller frees. */
char *lra_schedule_text(const lra_schedule *s);

/* ---- for the shapes ---- */

double lra_schedule_total(const lra_schedule *s); /* T */
double lra_schedule_warm(const lra_schedule *s);  /* W */
/* From 0 at the end of the warm-up to 1 at T. */
double lra_schedule_progress(const lra_schedule *s, int64_t step);
/* Settings that several have. */
#define LRA_SCHEDULE_FACTOR                                                                        \
    LRA_REAL_FIELD(lra_schedule, factor, "factor", "0.5", 1e-6, 1, "factor on the learning rate")
#define LRA_SCHEDULE_TOTAL                                                                         \
    LRA_INT_FIELD(lra_schedule, total, "total-steps", "0", 0, 1e15,                                \
                  "step at which the rate reaches 0 (0 = the last step)")

#endif
