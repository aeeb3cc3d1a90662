/* Draws figures with gnuplot (draw.h). */
#include "reports/draw/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/os/file.h"
#include "kernels/base/os/process.h"
#include "reports/draw/image_metadata.h"
#include "reports/views/weight_phases.h"

int lra_draw_check(const char *list, lra_err *e)
{
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        bool known = n == 3 &&
                     (!strncmp(at, "pdf", 3) || !strncmp(at, "svg", 3) || !strncmp(at, "png", 3));
        if (!known)
            return lra_fail_usage(e, "unknown format '%.*s', expected pdf, svg or png", (int)n, at);
        at += n + (at[n] == ',');
    }
    return *list ? 0
                 : lra_fail_usage(
                       e, "--format is empty, expected pdf, svg or png, separated by commas");
}

/* Draws one image. gnuplot runs in the folder of the script, without the user's settings, and
 * writes the image to its stdout. Scripts therefore contain no paths, and an image is either
 * complete or missing. */
static int draw_one(const char *name, const lra_plot *p, const char *folder, const char *format,
                    lra_err *e)
{
    enum { MOST = 64 << 20 };
    char *script = lra_format("%s.gp", name), *output = NULL,
         *argv[] = {"gnuplot", "-d", "-c", script, (char *)(uintptr_t)format, "-", NULL},
         *to = lra_format("%s/%s.%s", folder, name, format);
    lra_text image = {0};
    int status = lra_process_run_in(folder, argv, MOST, &image, &output, e);
    if (status < 0)
        lra_fail_in(e, "gnuplot is not installed: wrote '%s/%s' and its .dat file, no image",
                    folder, script);
    else if (status > 0)
        lra_fail(e, "gnuplot could not draw '%s/%s': %.200s", folder, script, output);
    char *described = lra_format("%s%s%s", p->sources.s ? p->sources.s : "", p->caption ? "; " : "",
                                 p->caption ? p->caption : "");
    int rc = status == 0 ? lra_metadata_add(&image, format, p->title, described, e) : LRA_FAILED;
    lra_free(described);
    if (rc == 0) rc = lra_file_write(to, image.s, image.n, e);
    if (rc == 0) printf("wrote %s\n", to);
    lra_text_free(&image);
    lra_free(script);
    lra_free(output);
    lra_free(to);
    return rc;
}

/* Runs gnuplot on NAME.gp in a folder and removes both files. */
static int run_gnuplot(const lra_report_figure *f, const char *folder, lra_text *svg, lra_err *e)
{
    enum { MOST = 64 << 20 };
    char *script = lra_format("%s.gp", f->name), *output = NULL,
         *argv[] = {"gnuplot", "-d", "-c", script, "svg", "-", NULL};
    int status = lra_process_run_in(folder, argv, MOST, svg, &output, e);
    if (status < 0) lra_fail_in(e, "gnuplot is not installed");
    if (status > 0) lra_fail(e, "gnuplot could not draw it: %.200s", output);
    for (int i = 0; i < 2; i++) {
        char *path = lra_format("%s/%s.%s", folder, f->name, i ? "gp" : "dat");
        unlink(path);
        lra_free(path);
    }
    lra_free(script);
    lra_free(output);
    return status == 0 ? 0 : LRA_FAILED;
}

static int make(const lra_report_figure *f, const lra_report_input *in, lra_plot *p, lra_err *e)
{
    int rc = f->make(in, p, e);
    if (rc == 0) lra_phase_caption(p, in->n_probes, in->probes);
    return rc;
}

int lra_draw_svg(const lra_report_figure *f, const lra_report_input *in, lra_plot *p, lra_text *svg,
                 lra_err *e)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = lra_format("%s/lra-report.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    int rc = make(f, in, p, e);
    if (rc == 0 && !mkdtemp(folder))
        rc = lra_fail_errno(e, "cannot make the folder '%s'", folder);
    else if (rc == 0) {
        rc = lra_plot_write(p, folder, f->name, e);
        if (rc == 0) rc = run_gnuplot(f, folder, svg, e);
        rmdir(folder);
    }
    lra_free(folder);
    return rc;
}

int lra_draw(const lra_report_figure *f, const lra_report_input *in, const char *folder,
             const char *formats, lra_err *e)
{
    lra_plot p = {0};
    int rc = make(f, in, &p, e);
    if (rc == 0) rc = lra_folder_make(folder, e);
    if (rc == 0) rc = lra_plot_write(&p, folder, f->name, e);
    for (const char *at = formats; *at && rc == 0;) {
        char format[4] = {at[0], at[1], at[2], 0};
        rc = draw_one(f->name, &p, folder, format, e);
        at += 3 + (at[3] == ',');
    }
    if (rc == 0 && p.caption) printf("caption: %s\n", p.caption);
    lra_plot_free(&p);
    return rc;
}
