/* Numbers that describe one training run. lra_train() fills them; a result file stores them as
 * attributes of its root. */
#ifndef LRA_BASE_CORE_TRAINING_H
#define LRA_BASE_CORE_TRAINING_H

#include <stdint.h>

typedef struct {
    int64_t parameters;
    int64_t steps, skipped; /* number of optimiser steps; number of skipped updates */
    int64_t best_epoch;     /* the selected epoch, from 1; 0: nothing was trained */
    double seconds; /* duration of the training, summed over all sessions of a resumed run */
    /* floating-point operations of an optimiser step on the longest length bucket */
    double step_flops;
    double memory;  /* bytes of parameters and largest workspace; 0: not recorded */
    double padding; /* share of padding among the positions of all training batches, 0 to 1 */
} lra_training;

#endif
