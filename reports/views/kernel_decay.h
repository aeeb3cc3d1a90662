/* What figures of decaying kernels share: envelopes of layers over distance, and the axes that show
 * them. */
#ifndef LRA_REPORTS_VIEWS_KERNEL_DECAY_H
#define LRA_REPORTS_VIEWS_KERNEL_DECAY_H

#include "reports/draw/plot.h"
#include "reports/results/probe_result.h"

typedef struct {
    bool octaves; /* of distance; else all distances, which are few */
    bool falls;   /* so far that logarithms show it better */
    double least; /* of the lines, at three quarters of their distances */
    int64_t farthest;
} lra_decay_axes;

/* Quartiles over channels of a unit's envelope, initial or trained (3, distances); NULL: it has
 * none of that shape. */
const lra_probe_array *lra_decay_envelope(const lra_probe_unit *u, bool trained);
/* Of all envelopes that are given.  Starts with {.least = 1}; set() behind the last. */
void lra_decay_axes_hold(lra_decay_axes *x, const lra_probe_array *envelope);
void lra_decay_axes_set(lra_decay_axes *x);
/* Why nothing of an initial and a trained envelope can be drawn, in a few words; NULL: it can. */
const char *lra_decay_empty(const lra_decay_axes *x, const lra_probe_array *initial,
                            const lra_probe_array *trained);
/* A block: distance, quartiles. */
void lra_decay_add_block(lra_text *t, const lra_decay_axes *x, const lra_probe_array *envelope);

/* A panel for each layer, four in a row, below a legend. */
enum { LRA_DECAY_PANELS = 12 };
typedef struct {
    const lra_decay_axes *axes;
    int n, n_key;
    const char *name[LRA_DECAY_PANELS];
    const char *empty[LRA_DECAY_PANELS]; /* why panel i has no lines; NULL: it has */
    const lra_plot_entry *key;
    /* what to draw into panel i: what follows "plot " */
    void (*panel)(lra_text *t, int i);
} lra_decay_figure;
void lra_decay_add_script(lra_plot *f, const lra_decay_figure *d);

#endif
