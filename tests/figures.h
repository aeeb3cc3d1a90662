/* Figures without gnuplot: script and data.  After cmocka.h. */
#ifndef LRA_TESTS_FIGURES_H
#define LRA_TESTS_FIGURES_H

#include "kernels/base/mem.h"
#include "reports/report.h"
#include "tests/golden.h"

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

/* The script of a figure, and its data; the caller frees both. */
static inline char *drawn_figure(const lra_report_figure *f, const lra_report_input *in,
                                 char **data)
{
    lra_err e = {{0}};
    if (write_figure(f, ".", in, &e) != 0) fail_msg("%s", e.msg);
    char *gp = lra_format("%s.gp", f->name), *dat = lra_format("%s.dat", f->name);
    char *script = take_file(gp);
    *data = take_file(dat);
    lra_free(gp);
    lra_free(dat);
    return script;
}

#endif
