/* Shared parts of figures of decaying kernels: envelopes of layers over distance, and their
 * axes. */
#ifndef LRA_REPORTS_VIEWS_KERNEL_DECAY_H
#define LRA_REPORTS_VIEWS_KERNEL_DECAY_H

#include "reports/draw/plot.h"
#include "reports/results/probe_result.h"

typedef struct {
    bool octaves; /* logarithmic sampling of distances; else all distances, which are few */
    bool falls;   /* true: values fall below 0.05, and their axis is logarithmic */
    double least; /* smallest value of the lines, at three quarters of their distances */
    int64_t farthest;
} lra_decay_axes;

/* Quartiles over channels of a unit's envelope, initial or trained (3, distances); NULL: it has
 * none of that shape. */
const lra_probe_array *lra_decay_envelope(const lra_probe_unit *u, bool trained);
/* Extends the axes to an envelope.  Initialise the axes with {.least = 1}; call
 * lra_decay_axes_set() after the last envelope. */
void lra_decay_axes_hold(lra_decay_axes *x, const lra_probe_array *envelope);
void lra_decay_axes_set(lra_decay_axes *x);
/* Reason why neither the initial nor the trained envelope can be drawn; NULL: at least one can. */
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
    const char *empty[LRA_DECAY_PANELS]; /* reason why panel i has no lines; NULL: it has lines */
    const lra_plot_entry *key;
    /* appends the plot elements of panel i: the text after "plot " */
    void (*panel)(lra_text *t, int i);
} lra_decay_figure;
void lra_decay_add_script(lra_plot *f, const lra_decay_figure *d);

#endif
