/* Progress of a measurement whose work is known in advance. The unit of work is a pass: one row
 * forward or backward through the network. */
#ifndef LRA_PROBES_SHARED_STEPS_H
#define LRA_PROBES_SHARED_STEPS_H

#include <stddef.h>

#include "kernels/base/cli/progress.h"

typedef struct {
    lra_progress *bar;
    double done;
} lra_steps;

/* Nullable: s */
static inline void lra_steps_add(lra_steps *s, double passes)
{
    if (!s) return;
    s->done += passes;
    lra_progress_at(s->bar, s->done, NULL);
}

#endif
