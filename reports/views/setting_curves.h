/* Figures of the test metric against a setting on a logarithmic axis: one panel for each task,
 * one curve for each model; a model without the setting is a horizontal line. Points are means
 * over seeds with 95 % intervals over examples and seeds; hollow points are published values. */
#ifndef LRA_REPORTS_VIEWS_SETTING_CURVES_H
#define LRA_REPORTS_VIEWS_SETTING_CURVES_H

#include "reports/draw/plot.h"
#include "reports/report_input.h"

enum { LRA_SETTING_PUBLISHED = 4 };
typedef struct {
    const char *figure, *title, *axis; /* id; title; quantity and unit of the x axis */
    /* Value of the setting of a result, above 0; 0: the complete input; NAN: the model has no such
     * setting. */
    double (*value)(const lra_result *r, const lra_config *c);
    /* Value of another setting by which curves of one model differ, such as "chunk 128"; "": none.
     * NULL: the result is left out. The caller frees it. */
    char *(*variant)(const lra_result *r, const lra_config *c);
    /* Writes the published values of a model on a task, in the displayed unit, with their settings;
     * returns their number. */
    int (*published)(const lra_result *r, const char *variant, double x[LRA_SETTING_PUBLISHED],
                     double y[LRA_SETTING_PUBLISHED]);
} lra_setting_curves;

/* Fills the figure. Pretrained runs and their controls are left out, and curves of one point, if
 * others have more. Fails if a model has several configurations with the same value on a task. */
int lra_setting_curves_make(const lra_setting_curves *s, const lra_report_input *in, lra_plot *f,
                            lra_err *e);

#endif
