/* Figures of accuracy from scratch and after self-pretraining as bars: one panel for each
 * architecture, groups are tasks and their average. A third bar is the control, trained from
 * scratch for the steps of both phases (--matched), if there is one. Hollow points are published
 * values. */
#ifndef LRA_REPORTS_VIEWS_PRETRAINING_BARS_H
#define LRA_REPORTS_VIEWS_PRETRAINING_BARS_H

#include "reports/draw/plot.h"
#include "reports/report_input.h"

typedef enum { LRA_BARS_SCRATCH, LRA_BARS_MATCHED, LRA_BARS_PRETRAINED, LRA_BARS_SERIES } lra_bars;

/* An architecture: results of one of the models for which a setting has a value. */
typedef struct {
    const char *name, *models; /* models: ids separated by blanks */
    const char *key, *value;   /* setting; key NULL: any */
    const char *missing;       /* value of a result without the setting: its default */
    /* In published.csv: table, model, and variants from scratch and after self-pretraining; table
     * NULL: no published values. */
    const char *table, *model, *scratch, *pretrained;
    const char *average; /* task of the published average; NULL: mean of the published tasks */
} lra_bars_panel;

typedef struct {
    const char *figure, *title;
    const char *const *task; /* (n_tasks) */
    int n_tasks, averaged;   /* the average is over the first `averaged` tasks */
    int n_panels;
    const lra_bars_panel *panel;
} lra_pretraining_bars;

/* Fills the figure. Averages need results of all their tasks. Fails without any result, and if one
 * bar has several configurations. */
int lra_pretraining_bars_make(const lra_pretraining_bars *s, const lra_report_input *in,
                              lra_plot *f, lra_err *e);

#endif
