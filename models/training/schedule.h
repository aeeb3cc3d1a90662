/* The learning rate of every step; the one implementation, printed in full when a run starts.
 *
 *   rate(step, epoch) = base * warmup(step) * plateau * final(epoch)
 *
 * warmup: step/warmup_steps, up to 1, over the first `warmup` share of all steps;
 * plateau: halved ("factor") after `patience` epochs whose validation score is not above the best by
 *          `threshold`; never below min_rate.  The score is the metric of the task, its negative where less is
 *          better;
 * final: from epoch ceil(0.9 E) on the rate falls linearly to 1 % of its value at entry.
 * Source: the locality paper states a plateau schedule and a reduction in the last 10 % of the epochs;
 * the numbers are our concretisation, one choice for all runs. */
#ifndef LRA_MODELS_TRAINING_SCHEDULE_H
#define LRA_MODELS_TRAINING_SCHEDULE_H

#include <stdint.h>

typedef struct {
    double rate;      /* peak */
    double warmup;    /* share of all steps, 0: none */
    double factor;    /* of a plateau */
    int64_t patience; /* epochs */
    double threshold; /* of the score, absolute */
    double min_rate;
    double final_share; /* of the epochs, at the end; 0: none */
    double final_rate;  /* share of the rate at entry that is left at the end */
    int64_t epochs, steps_per_epoch;
} lra_schedule;

/* What a checkpoint keeps of it. */
typedef struct {
    double plateau; /* product of the factors so far, starts at 1 */
    double best;    /* score; starts at -infinity */
    int64_t bad;    /* epochs since the best */
} lra_schedule_state;

lra_schedule_state lra_schedule_start(void);
/* Rate of a step (0-based, counted over the whole run). */
double lra_schedule_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step);
/* At the end of an epoch.  During the final phase the plateau rests. */
void lra_schedule_epoch(const lra_schedule *s, lra_schedule_state *now, int64_t epoch,
                        double score);
/* One line for people. */
void lra_schedule_text(const lra_schedule *s, char *buf, int size);

#endif
