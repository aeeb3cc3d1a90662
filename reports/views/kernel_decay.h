/* Shared code of figures of decaying kernels: envelopes of layers by distance, and the axes. */
#ifndef LRA_REPORTS_VIEWS_KERNEL_DECAY_H
#define LRA_REPORTS_VIEWS_KERNEL_DECAY_H

#include "reports/draw/plot.h"
#include "reports/results/probe_result.h"

typedef struct {
    /* true: distances are sampled logarithmically; false: there are few, and all are drawn */
    bool octaves;
    bool falls;   /* true: values fall below 0.05, so that their axis is logarithmic */
    double least; /* smallest value of the curves at three quarters of their distances */
    int64_t farthest;
} lra_decay_axes;

/* Quartiles over channels of a unit's envelope, at initialisation or after training: (3,
 * distances). NULL: the unit has no array of this shape. */
const lra_probe_array *lra_decay_envelope(const lra_probe_unit *u, bool trained);
/* Extends the axes such that they contain an envelope. Axes are initialised with {.least = 1};
 * lra_decay_axes_set() must be called after the last envelope. */
void lra_decay_axes_hold(lra_decay_axes *x, const lra_probe_array *envelope);
void lra_decay_axes_set(lra_decay_axes *x);
/* Reason why neither the initial nor the trained envelope can be drawn; NULL: at least one can. */
const char *lra_decay_empty(const lra_decay_axes *x, const lra_probe_array *initial,
                            const lra_probe_array *trained);
/* Adds a data block: one line per distance, with the distance and the quartiles. */
void lra_decay_add_block(lra_text *t, const lra_decay_axes *x, const lra_probe_array *envelope);

/* A figure with one panel per layer, four in a row, below a legend. */
enum { LRA_DECAY_PANELS = 12 };
typedef struct {
    const lra_decay_axes *axes;
    int n, n_key;
    const char *name[LRA_DECAY_PANELS];
    const char *empty[LRA_DECAY_PANELS]; /* reason why panel i has no curves; NULL: it has curves */
    const lra_plot_entry *key;
    /* appends the plot elements of panel i, the text that follows "plot " */
    void (*panel)(lra_text *t, int i);
} lra_decay_figure;
void lra_decay_add_script(lra_plot *f, const lra_decay_figure *d);

#endif
