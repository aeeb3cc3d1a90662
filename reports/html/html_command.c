/* lra-report html: writes all results of the given runs as one page (page.h). */
#include "reports/html/html_command.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/core/origin.h"
#include "kernels/base/os/file.h"
#include "reports/html/page_make.h"
#include "reports/load_input.h"

enum { MOST_LAYOUTS = 64 };

const lra_option lra_html_options[] = {
    {.name = "out",
     .letter = 'o',
     .kind = LRA_OPTION_TEXT,
     .value = "report.html",
     .arg = "FILE",
     .help = "page that is written; - = standard output"},
    {.name = "results",
     .kind = LRA_OPTION_TEXT,
     .value = "lra-out",
     .arg = "DIR",
     .help = "folder of the results: used if no RUN is given, and to find runs by name or hash"},
    {.name = "experiment",
     .kind = LRA_OPTION_TEXT,
     .arg = "NAME",
     .help = "add the table of a paper with the measured values ('lra-report list papers')"},
    {.name = "force",
     .kind = LRA_OPTION_FLAG,
     .help = "replace FILE also if it is not a page of this command"},
    {.name = "quiet",
     .letter = 'q',
     .kind = LRA_OPTION_FLAG,
     .help = "print errors only, no progress or notes"},
    {.name = NULL}};

/* Fails if a file with this name exists that this program did not write. */
static int check_target(const char *path, lra_err *e)
{
    enum { HEAD = 512 };
    char head[HEAD + 1] = "";
    if (!lra_file_exists(path)) return 0;
    if (lra_is_folder(path))
        return lra_fail(e,
                        "--out '%s' is a folder, expected the name of a page such as "
                        "'%s/report.html'",
                        path, path);
    FILE *f = lra_file_open(path, e);
    if (!f) return LRA_FAILED;
    head[fread(head, 1, HEAD, f)] = 0;
    fclose(f);
    if (strstr(head, "<meta name=\"generator\" content=\"lra-report ")) return 0;
    return lra_fail(
        e, "'%s' exists and is no page of lra-report: choose another --out, or '--force'", path);
}

static int write_page(const lra_text *page, const char *to, lra_err *e)
{
    if (strcmp(to, "-") != 0) {
        int rc = lra_file_write(to, page->s, page->n, e);
        if (rc == 0) printf("wrote %s\n", to);
        return rc;
    }
    if (fwrite(page->s, 1, page->n, stdout) == page->n && fflush(stdout) == 0) return 0;
    return lra_fail_errno(e, "cannot write the page");
}

/* The layout of --experiment; NULL: none. */
static int choose_layout(const lra_options *o, const lra_layout **l, lra_err *e)
{
    const char *name = lra_option_text(o, "experiment"), *ids[MOST_LAYOUTS];
    int n = 0;
    *l = name ? lra_layout_find(name) : NULL;
    for (; lra_layout_at(n) && n < MOST_LAYOUTS; n++) ids[n] = lra_layout_at(n)->id;
    if (!name || *l) return 0;
    return lra_fail_unknown(e, "experiment", name, n, ids, "lra-report list papers");
}

int lra_html_command(const lra_options *o, lra_err *e)
{
    const char *to = lra_option_text(o, "out");
    const lra_layout *layout;
    lra_report_input in;
    if (choose_layout(o, &layout, e) != 0) return LRA_USAGE;
    int rc = strcmp(to, "-") == 0 || lra_option_flag(o, "force") ? 0 : check_target(to, e);
    if (rc == 0) rc = lra_report_load_everything(o, lra_option_text(o, "results"), &in, e);
    if (rc != 0) return rc;
    in.layout = layout;
    lra_origin here = {0};
    lra_text page = {0};
    lra_origin_here(&here, "lra-report");
    lra_page_make(&in, here.command ? here.command : "lra-report html", &page);
    rc = write_page(&page, to, e);
    lra_text_free(&page);
    lra_origin_free(&here);
    lra_report_unload(&in);
    return rc;
}
