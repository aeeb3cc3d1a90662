/* Figures without gnuplot: script and data. */
#ifndef LRA_TESTS_FIGURES_H
#define LRA_TESTS_FIGURES_H

#include "reports/report.h"

/* FOLDER/NAME.gp and FOLDER/NAME.dat. */
static inline int write_figure(const lra_report_figure *f, const char *folder,
                               const lra_report_input *in, lra_err *e)
{
    lra_plot p = {0};
    int rc = f->make(in, &p, e);
    if (rc == 0) rc = lra_plot_write(&p, folder, f->name, e);
    lra_plot_free(&p);
    return rc;
}

#endif
