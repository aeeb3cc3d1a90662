/* lra-report: prints tables and draws figures from result files alone. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "kernels/base/core/gsl.h"
#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/cli/program.h"
#include "kernels/base/core/version.h"
#include "reports/views/cell_names.h"
#include "reports/views/compare.h"
#include "reports/draw/draw.h"
#include "reports/views/filter.h"
#include "reports/html/html_command.h"
#include "reports/load_input.h"
#include "reports/report.h"
#include "reports/results/listops_summary.h"
#include "reports/results/result_files.h"
#include "reports/results/result_metric.h"
#include "reports/views/run_names.h"
#include "reports/papers/items.h"
#include "reports/print/dump.h"
#include "reports/tables/layout_table.h"
#include "reports/views/integrity.h"

static const lra_report_table *const tables[] = {
#define LRA_TABLE(name) &lra_table_##name,
#include "reports/tables.def"
#undef LRA_TABLE
};
static const lra_report_figure *const figures[] = {
#define LRA_FIGURE(name) &lra_figure_##name,
#include "reports/figures.def"
#undef LRA_FIGURE
};
enum { N_TABLES = sizeof tables / sizeof *tables, N_FIGURES = sizeof figures / sizeof *figures };
enum { MOST_LAYOUTS = 64 };

static const lra_option common[] = {
    {.name = "out",
     .letter = 'o',
     .kind = LRA_OPTION_TEXT,
     .value = "lra-out",
     .arg = "DIR",
     .help = "folder of the results; tables and figures are written there"},
    {.name = "quiet",
     .letter = 'q',
     .kind = LRA_OPTION_FLAG,
     .help = "print errors only, no progress or notes"},
    {.name = NULL}};
/* Options of every command that prints a table. */
#define FORMAT_OPTION                                                                              \
    {                                                                                              \
        .name = "format", .letter = 'f', .kind = LRA_OPTION_CHOICE, .value = "text",               \
        .choices = "text|markdown|md|latex|csv|json|html", .help = "output format"                 \
    }
#define WIDE_OPTION                                                                                  \
    {                                                                                                \
        .name = "wide", .letter = 'w', .kind = LRA_OPTION_FLAG,                                      \
        .help =                                                                                      \
            "do not wrap text tables (default: wrapped at 100 characters; notes only on a terminal)" \
    }
#define REFERENCE_OPTION                                                                           \
    {                                                                                              \
        .name = "reference-results", .kind = LRA_OPTION_TEXT, .arg = "FILE",                       \
        .help = "for table or figure 'locality': add the rows of FILE, a table 'locality' as JSON" \
    }
static const lra_option table_options[] = {
    {.name = "table",
     .kind = LRA_OPTION_TEXT,
     .value = "ladder",
     .arg = "TABLE",
     .help = "name of the table ('lra-report list')"},
    FORMAT_OPTION,
    {.name = "columns",
     .letter = 'c',
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "print only these columns (CSV key or printed head, separated by commas)"},
    WIDE_OPTION,
    {.name = "verbose",
     .letter = 'v',
     .kind = LRA_OPTION_FLAG,
     .help = "print all statistics below a table (files always contain them)"},
    REFERENCE_OPTION,
    {.name = NULL}};
static const lra_option figure_options[] = {
    {.name = "figure",
     .kind = LRA_OPTION_TEXT,
     .value = "loc-T1",
     .arg = "FIGURE",
     .help = "name of the figure ('lra-report list'); all = every figure "
             "for which there are results"},
    {.name = "format",
     .letter = 'f',
     .kind = LRA_OPTION_TEXT,
     .value = "pdf,svg,png",
     .arg = "LIST",
     .help = "image formats: pdf, svg, png, separated by commas"},
    {.name = "width",
     .kind = LRA_OPTION_REAL,
     .value = "0",
     .max = 40,
     .arg = "CM",
     .help = "width of the figure in centimetres, 6 to 40 "
             "(0 = 8.5 for one column, 17.8 for a page)"},
    {.name = "font-size",
     .kind = LRA_OPTION_REAL,
     .value = "8",
     .min = 5,
     .max = 14,
     .arg = "POINTS",
     .help = "font size in points"},
    {.name = "title",
     .kind = LRA_OPTION_TEXT,
     .arg = "TEXT",
     .help = "title of the figure ('none' = no title; default: chosen by "
             "the figure)"},
    {.name = "grey",
     .kind = LRA_OPTION_FLAG,
     .help = "draw in shades of grey, for print without colour"},
    REFERENCE_OPTION,
    {.name = NULL}};
static const lra_option compare_options[] = {FORMAT_OPTION, WIDE_OPTION, {.name = NULL}};
static const lra_option *const compare_tables[] = {compare_options, lra_filter_options, common,
                                                   NULL};
static const lra_option *const table_tables[] = {table_options, lra_filter_options,
                                                 lra_ladder_scale_options, common, NULL};
static const lra_option *const figure_tables[] = {figure_options, lra_filter_options,
                                                  lra_ladder_scale_options, common, NULL};
static const lra_option *const html_tables[] = {lra_html_options, lra_filter_options,
                                                lra_ladder_scale_options, NULL};
static const lra_option json_options[] = {
    {.name = "json", .kind = LRA_OPTION_FLAG, .help = "print one JSON document"}, {.name = NULL}};
static const lra_option *const plain_tables[] = {json_options, common, NULL};
/* Fails with a hint if the name of a table or figure is given as a result instead of after its
 * option. */
static int check_places(const lra_options *o, const char *option, int n, const char *const *ids,
                        lra_err *e)
{
    for (int i = 0; i < lra_option_n_args(o); i++)
        for (int k = 0; k < n; k++)
            if (strcmp(lra_option_arg(o, i), ids[k]) == 0 && !lra_file_exists(ids[k]))
                return lra_fail_usage(e,
                                      "'%s' is the name of a %s, expected a result; write "
                                      "'--%s %s'",
                                      ids[k], option, option, ids[k]);
    return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Prints a table in a format. screen: print only the columns of --columns, and details only with
 * --verbose; files contain everything. */
static int print_as(const lra_options *o, const lra_report_table *t, const lra_report_input *in,
                    const char *format, bool screen, FILE *out, lra_err *e)
{
    lra_table **list;
    bool text = strcmp(format, "text") == 0 || strcmp(format, "md") == 0 ||
                strcmp(format, "markdown") == 0;
    int n = lra_report_make(t, in, format, &list, e);
    if (n < 0) return n;
    if (screen && text && !lra_option_flag(o, "verbose")) lra_tables_brief(list, n);
    int rc = screen && lra_option_given(o, "columns")
                 ? lra_tables_choose(list, n, lra_option_text(o, "columns"), e)
                 : 0;
    if (rc == 0)
        rc = lra_tables_print_wide(list, n, format,
                                   lra_option_flag(o, "wide") ? 0 : LRA_TABLE_WIDTH, out, e);
    lra_tables_free(list, n);
    return rc;
}

/* Writes a table in all formats: OUT/tables/ID.txt, .md, .tex, .csv, .json. */
static int write_table(const lra_options *o, const lra_report_table *t, const lra_report_input *in,
                       lra_err *e)
{
    static const char *const kind[][2] = {
        {"text", "txt"}, {"markdown", "md"}, {"latex", "tex"}, {"csv", "csv"}, {"json", "json"}};
    char *folder = lra_format("%s/tables", lra_option_text(o, "out"));
    int rc = lra_folder_make(folder, e);
    for (int i = 0; i < 5 && rc == 0; i++) {
        char *path = lra_format("%s/%s.%s", folder, t->name, kind[i][1]);
        lra_file *f = lra_file_create(path, e);
        rc = f ? print_as(o, t, in, kind[i][0], false, lra_file_stream(f), e) : LRA_FAILED;
        if (rc == 0)
            rc = lra_file_commit(f, e);
        else
            lra_file_abort(f);
        lra_free(path);
    }
    if (rc == 0) lra_note("wrote %s/%s.{txt,md,tex,csv,json}", folder, t->name);
    lra_free(folder);
    return rc;
}

/* Finds the table of --table: one of `tables`, or that of a layout (then *l is not NULL). */
static int choose_table(const lra_options *o, lra_report_table *t, const lra_layout **l, lra_err *e)
{
    const char *ids[N_TABLES + MOST_LAYOUTS], *name = lra_option_text(o, "table");
    int n = 0;
    bool found = false;
    for (int i = 0; i < N_TABLES; i++) {
        ids[n++] = tables[i]->name;
        if (strcmp(tables[i]->name, name) == 0) *t = *tables[i], found = true;
    }
    for (int i = 0; lra_layout_at(i) && i < MOST_LAYOUTS; i++) ids[n++] = lra_layout_at(i)->id;
    *l = found ? NULL : lra_layout_find(name);
    if (*l) *t = lra_layout_table(*l);
    for (int i = 0; !found && !*l && lra_paper_item_at(i); i++) {
        const char *command = lra_paper_item_at(i)->print, *id = strrchr(command, ' ') + 1;
        if (strcmp(id, name) == 0 && strncmp(command, "lra-probe", 9) == 0)
            return lra_fail_usage(e, "table '%s' contains settings of presets; '%s' prints it",
                                  name, command);
    }
    if (!found && !*l) return lra_fail_unknown(e, "table", name, n, ids, "lra-report list");
    return check_places(o, "table", n, ids, e);
}

static int print_tables(const lra_options *o, lra_err *e)
{
    lra_report_table table;
    const lra_layout *layout;
    if (choose_table(o, &table, &layout, e) != 0) return LRA_USAGE;
    lra_report_input in;
    const char *out = lra_option_text(o, "out");
    int rc = layout ? lra_report_load_layout(o, out, layout, &in, e)
                    : lra_report_load(o, out, table.source, &in, e);
    in.reference = lra_option_text(o, "reference-results");
    if (rc != 0) return rc;
    /* If results are named as arguments, tables are only printed; files are written if --out is
     * given. Files are written before the table is printed, because "| head" can end this
     * program. */
    if (lra_option_n_args(o) == 0 || lra_option_given(o, "out"))
        rc = write_table(o, &table, &in, e);
    if (rc == 0) rc = print_as(o, &table, &in, lra_option_text(o, "format"), true, stdout, e);
    lra_report_unload(&in);
    return rc;
}

/* ---- figures --------------------------------------------------------------------------------- */

static int use_plot_options(const lra_options *o, lra_err *e)
{
    lra_plot_options p = {.width = lra_option_real(o, "width"),
                          .points = lra_option_real(o, "font-size"),
                          .grey = lra_option_flag(o, "grey")};
    if (lra_option_given(o, "title")) p.title = lra_option_text(o, "title");
    if (p.width != 0 && p.width < 6)
        return lra_fail_usage(e, "--width is %g, expected 0 or 6 to 40 centimetres", p.width);
    lra_plot_use(&p);
    return 0;
}

static int draw_one(const lra_options *o, const lra_report_figure *f, lra_err *e)
{
    lra_report_input in;
    int rc = lra_report_load(o, lra_option_text(o, "out"), f->source, &in, e);
    in.reference = lra_option_text(o, "reference-results");
    if (rc != 0) return rc;
    char *unsealed = lra_report_integrity(&in);
    if (unsealed) lra_note("%s", unsealed);
    lra_free(unsealed);
    char *folder = lra_format("%s/figures", lra_option_text(o, "out"));
    rc = lra_draw(f, &in, folder, lra_option_text(o, "format"), e);
    lra_free(folder);
    lra_report_unload(&in);
    return rc;
}

/* Draws every figure for which the files contain the data. */
static int draw_all(const lra_options *o, lra_err *e)
{
    int drawn = 0;
    for (int i = 0; i < N_FIGURES; i++) {
        lra_err why = {{0}};
        if (draw_one(o, figures[i], &why) == 0)
            drawn++;
        else
            lra_note("figure %s: not drawn: %s", figures[i]->name, why.msg);
        *e = why;
    }
    return drawn ? 0
                 : lra_fail(e, "none of the %d figures could be drawn (reasons above)",
                            (int)N_FIGURES);
}

static int draw_figures(const lra_options *o, lra_err *e)
{
    const char *ids[N_FIGURES + 1], *requested = lra_option_text(o, "figure");
    int chosen = -1;
    for (int i = 0; i < N_FIGURES; i++) {
        ids[i] = figures[i]->name;
        if (strcmp(ids[i], requested) == 0) chosen = i;
    }
    ids[N_FIGURES] = "all";
    bool all = strcmp(requested, "all") == 0;
    if (chosen < 0 && !all)
        return lra_fail_unknown(e, "figure", requested, N_FIGURES + 1, ids, "lra-report list");
    if (check_places(o, "figure", N_FIGURES, ids, e) != 0) return LRA_USAGE;
    if (lra_draw_check(lra_option_text(o, "format"), e) != 0 || use_plot_options(o, e) != 0)
        return LRA_USAGE;
    return all ? draw_all(o, e) : draw_one(o, figures[chosen], e);
}

/* ---- compare --------------------------------------------------------------------------------- */

static int compare(const lra_options *o, lra_err *e)
{
    lra_report_input in;
    int rc = lra_report_load(o, lra_option_text(o, "out"), LRA_FROM_RESULTS_AND_PROBES, &in, e);
    if (rc != 0) return rc;
    lra_table *t = lra_compare_table(&in, e);
    rc = t ? 0 : LRA_FAILED;
    if (rc == 0) lra_report_mark_integrity(&in, &t, 1);
    if (rc == 0)
        rc = lra_tables_print_wide(&t, 1, lra_option_text(o, "format"),
                                   lra_option_flag(o, "wide") ? 0 : LRA_TABLE_WIDTH, stdout, e);
    lra_table_free(t);
    lra_report_unload(&in);
    return rc;
}

/* ---- show, list ------------------------------------------------------------------------------ */

/* Reads the probe files among the *n paths `place` into `probes`, and removes their paths from the
 * list. Sets *n to the number of remaining paths. */
static int take_probes(char **place, int *n, lra_probe_result **probes, int *n_probes, lra_err *e)
{
    int left = 0, rc = 0;
    for (int i = 0; i < *n; i++) {
        bool is_probe = lra_file_exists(place[i]) && !lra_is_folder(place[i]);
        if (is_probe) lra_h5_distrust(place[i]); /* the file may come from an untrusted source */
        lra_probe_result *r = is_probe && rc == 0 ? lra_probe_file_read(place[i], &is_probe, e)
                                                  : NULL;
        if (r) probes[(*n_probes)++] = r;
        if (is_probe && !r) rc = LRA_FAILED;
        if (r)
            lra_free(place[i]);
        else
            place[left++] = place[i];
    }
    *n = left;
    return rc;
}

static void print_shown(const lra_options *o, lra_result *const *list, int n,
                        lra_probe_result *const *probes, int n_probes)
{
    lra_cell_identity *identity = lra_alloc_array((size_t)n + 1, sizeof *identity);
    for (int i = 0; i < n; i++)
        identity[i] = (lra_cell_identity){list[i]->model, list[i]->task, list[i]->config,
                                          list[i]->kernel, list[i]->user_label};
    char **name = lra_cell_names(n, identity);
    bool json = lra_option_flag(o, "json");
    if (json) lra_results_dump_json(list, name, n, probes, n_probes, stdout);
    for (int i = 0; i < n && !json; i++) lra_result_dump(list[i], name[i], stdout);
    for (int i = 0; i < n_probes && !json; i++) lra_probe_result_show(probes[i], stdout);
    lra_names_free(name, n);
    lra_free(identity);
}

static int show(const lra_options *o, lra_err *e)
{
    int n_places, n = 0, n_probes = 0;
    lra_result **list = NULL;
    char **place = lra_report_places(o, lra_option_text(o, "out"), &n_places, e);
    if (!place) return LRA_USAGE;
    lra_probe_result **probes = lra_alloc_array((size_t)n_places + 1, sizeof *probes);
    int rc = take_probes(place, &n_places, probes, &n_probes, e);
    if (rc == 0 && n_places) n = lra_results_load(n_places, (const char *const *)place, &list, e);
    if (rc == 0 && n == 0 && n_probes == 0)
        n = lra_report_no_files("results", "lra-probe receptive-field", n_places,
                                (const char *const *)place, e);
    if (n < 0) rc = LRA_FAILED;
    if (rc == 0) print_shown(o, list, n, probes, n_probes);
    lra_probe_results_free(probes, n_probes);
    if (list) lra_results_free(list, n > 0 ? n : 0);
    lra_names_free(place, n_places);
    return rc;
}

static void list_json(void)
{
    json_t *of[2] = {json_array(), json_array()};
    for (int i = 0; i < N_TABLES; i++)
        json_array_append_new(
            of[0], json_pack("{s:s,s:s}", "name", tables[i]->name, "summary", tables[i]->summary));
    for (int i = 0; lra_layout_at(i); i++)
        json_array_append_new(of[0], json_pack("{s:s,s:s}", "name", lra_layout_at(i)->id, "summary",
                                               lra_layout_at(i)->title));
    for (int i = 0; i < N_FIGURES; i++)
        json_array_append_new(of[1], json_pack("{s:s,s:s}", "name", figures[i]->name, "summary",
                                               figures[i]->summary));
    json_t *all = json_pack("{s:i,s:o,s:o}", "schema", 1, "tables", of[0], "figures", of[1]);
    json_dumpf(all, stdout, JSON_INDENT(1));
    printf("\n");
    json_decref(all);
}

/* Prints every table and figure of the papers with its commands. */
static void list_papers(bool json)
{
    json_t *rows = json_array();
    const char *paper = "";
    const lra_paper_item *x;
    for (int i = 0; (x = lra_paper_item_at(i)) != NULL; i++) {
        json_array_append_new(rows, json_pack("{s:s,s:s,s:s,s:s?,s:s}", "paper", x->paper, "item",
                                              x->item, "content", x->content, "train", x->train,
                                              "print", x->print));
        if (json) continue;
        if (strcmp(paper, x->paper) != 0)
            printf("%s%s\n", *paper ? "\n" : "", lra_layout_paper(x->paper));
        paper = x->paper;
        printf("  %-12s%s\n", x->item, x->content);
        printf("  %-12s  %s%s%s\n", "", x->train ? x->train : "", x->train ? " && " : "", x->print);
    }
    if (json) {
        json_t *all = json_pack("{s:i,s:O}", "schema", 1, "papers", rows);
        json_dumpf(all, stdout, JSON_INDENT(1));
        printf("\n");
        json_decref(all);
    }
    json_decref(rows);
}

static int list_all(const lra_options *o, lra_err *e)
{
    const char *kind = lra_option_arg(o, 0);
    if (kind && strcmp(kind, "papers") != 0)
        return lra_fail_usage(e,
                              "'lra-report list %s'; expected 'lra-report list papers' or no "
                              "argument",
                              kind);
    if (kind) {
        list_papers(lra_option_flag(o, "json"));
        return 0;
    }
    if (lra_option_flag(o, "json")) {
        list_json();
        return 0;
    }
    for (int i = 0; i < N_TABLES; i++)
        printf("table   %-14s%s\n", tables[i]->name, tables[i]->summary);
    for (int i = 0; lra_layout_at(i); i++)
        printf("table   %-14s%s: %s\n", lra_layout_at(i)->id,
               lra_layout_paper(lra_layout_at(i)->paper), lra_layout_at(i)->title);
    for (int i = 0; i < N_FIGURES; i++)
        printf("figure  %-14s%s\n", figures[i]->name, figures[i]->summary);
    return 0;
}

/* ---- main ------------------------------------------------------------------------------------ */

static int help(const lra_options *o, lra_err *e);

static const lra_command commands[] = {
    {"lra-report tables",
     "Prints a table from result files and writes it in all formats to OUT/tables.", "[RESULT...]",
     "  lra-report tables --out lra-out\n  lra-report tables --format latex runs/a/result.h5\n"
     "  lra-report tables --table listops lra-out",
     NULL, 0, -1, table_tables},
    {"lra-report figures", "Draws a figure from result files with gnuplot.", "[RESULT...]",
     "  lra-report figures --out lra-out\n  lra-report figures --figure loc-2 --format png --out "
     "lra-out",
     NULL, 0, -1, figure_tables},
    {"lra-report show", "Prints the contents of result files.", "RESULT...",
     "  lra-report show lra-out/runs/*/result.h5\n  lra-report show lra-out", NULL, 1, -1,
     plain_tables},
    {"lra-report compare", "Prints the settings and measurements that differ between runs.",
     "RUN...",
     "  lra-report compare lra-out/runs/listops-s4d-*\n  lra-report compare 0418fd ea018c", NULL, 1,
     -1, compare_tables},
    {"lra-report html",
     "Writes all results of runs as one HTML page that needs no other file and no script.",
     "[RUN...]",
     "  lra-report html\n  lra-report html lra-out/runs/listops-user.mynet-* --out mynet.html",
     NULL, 0, -1, html_tables},
    {"lra-report list",
     "Lists all tables and figures; 'papers': every table and figure of the papers with its "
     "commands.",
     "[papers]", "  lra-report list\n  lra-report list papers", NULL, 0, 1, plain_tables},
    {"lra-report help", "Prints help, a man page or a shell completion script.", "[COMMAND]",
     "  lra-report help --man tables | man -l -\n  source <(lra-report help --completion bash)",
     NULL, 0, 1, lra_help_tables}};
static const lra_subcommand subcommands[] = {
    {"tables", "prints a table and writes it in all formats", &commands[0], print_tables},
    {"figures", "draws a figure with gnuplot", &commands[1], draw_figures},
    {"show", "prints the contents of result files", &commands[2], show},
    {"compare", "prints the settings and measurements that differ between runs", &commands[3],
     compare},
    {"html", "writes all results as one HTML page", &commands[4], lra_html_command},
    {"list", "lists all tables and figures", &commands[5], list_all},
    {"help", "prints help, a man page, or a completion script for bash, zsh or fish", &commands[6],
     help}};

static const lra_subcommand *command_at(int i)
{
    return i < (int)(sizeof subcommands / sizeof *subcommands) ? &subcommands[i] : NULL;
}

static void words(const char *arg, lra_text *to)
{
    bool table = strcmp(arg, "TABLE") == 0, figure = strcmp(arg, "FIGURE") == 0;
    for (int i = 0; table && i < N_TABLES; i++) lra_text_add(to, "%s ", tables[i]->name);
    for (int i = 0; table && lra_layout_at(i); i++) lra_text_add(to, "%s ", lra_layout_at(i)->id);
    for (int i = 0; figure && i < N_FIGURES; i++) lra_text_add(to, "%s ", figures[i]->name);
}

static int version(lra_err *e)
{
    (void)e;
    char *libraries = lra_format("HDF5 %s, %s, jansson %s", lra_h5_version(), lra_gsl_library(),
                                 JANSSON_VERSION);
    lra_version_print(stdout, "lra-report", libraries, "portable (no kernels in this program)");
    lra_free(libraries);
    return 0;
}

static const lra_program program = {
    .name = "lra-report",
    .summary = "Makes tables and figures from result files.",
    .examples = "  lra-report tables --out lra-out\n  lra-report figures --out lra-out",
    .codes = "0 success, 1 failure, 2 usage error",
    .at = command_at,
    .words = words,
};

static int help(const lra_options *o, lra_err *e)
{
    return lra_help_run(&program, o, e);
}

int main(int argc, char **argv)
{
    lra_gsl_start();
    return lra_program_main(&program, version, argc, argv);
}
