/* Figures drawn by gnuplot. */
#include "reports/draw.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/process.h"

int lra_draw_check(const char *list, lra_err *e)
{
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        bool known = n == 3 &&
                     (!strncmp(at, "pdf", 3) || !strncmp(at, "svg", 3) || !strncmp(at, "png", 3));
        if (!known)
            return lra_fail_usage(e, "format '%.*s' is unknown, expected pdf, svg or png", (int)n,
                                  at);
        at += n + (at[n] == ',');
    }
    return *list ? 0 : lra_fail_usage(e, "no format, expected pdf, svg or png");
}

/* Runs the script with one terminal in the folder of the figure. */
static int draw_one(const lra_report_figure *f, const char *folder, const char *format, lra_err *e)
{
    lra_text t = {0};
    if (strcmp(format, "png") == 0)
        lra_text_add(&t,
                     "set terminal pngcairo size %d,%d font 'Sans,9' fontscale 2.2 linewidth 2.2 "
                     "pointscale 2.2\n",
                     (int)(f->width_cm / 2.54 * 220), (int)(f->height_cm / 2.54 * 220));
    else if (strcmp(format, "pdf") == 0)
        lra_text_add(&t, "set terminal pdfcairo size %gcm,%gcm font 'Sans,9'\n", f->width_cm,
                     f->height_cm);
    else
        lra_text_add(&t,
                     "set terminal svg size %d,%d dynamic font 'Sans,9' fontscale 1.27 "
                     "linewidth 1.333 background rgb 'white'\n",
                     (int)(f->width_cm / 2.54 * 96), (int)(f->height_cm / 2.54 * 96));
    lra_text_add(&t, "cd '%s'\nset output '%s.%s.tmp'\nload '%s.gp'\nset output\n", folder, f->name,
                 format, f->name);
    char *argv[] = {(char[]){"gnuplot"}, (char[]){"-"}, NULL}, *said = NULL;
    int status = lra_process_run(argv, t.s, NULL, &said, e);
    lra_text_free(&t);
    if (status < 0)
        lra_fail_in(e, "'%s/%s.gp' and '.dat' are written, not drawn (install gnuplot)", folder,
                    f->name);
    else if (status > 0)
        lra_fail(e, "gnuplot failed on '%s/%s.gp': %.200s", folder, f->name, said);
    lra_free(said);
    char *from = lra_format("%s/%s.%s.tmp", folder, f->name, format);
    char *to = lra_format("%s/%s.%s", folder, f->name, format);
    int rc = status == 0 ? 0 : LRA_FAILED;
    if (rc == 0 && rename(from, to) != 0) rc = lra_fail_errno(e, "cannot write '%s'", to);
    if (rc == 0)
        printf("wrote %s\n", to);
    else
        remove(from);
    lra_free(from);
    lra_free(to);
    return rc;
}

int lra_draw(const lra_report_figure *f, const char *folder, const char *formats, lra_err *e)
{
    int rc = 0;
    for (const char *at = formats; *at && rc == 0;) {
        char format[4] = {at[0], at[1], at[2], 0};
        rc = draw_one(f, folder, format, e);
        at += 3 + (at[3] == ',');
    }
    return rc;
}
