/* Loads the input of tables, figures and pages (load_input.h). */
#include "reports/load_input.h"

#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "reports/results/listops_summary.h"
#include "reports/results/result_files.h"
#include "reports/views/filter.h"
#include "reports/views/run_names.h"

/* Fails because an argument is neither a path nor the name of a run. */
static void fail_no_place(const char *arg, lra_err *e)
{
    bool path = strchr(arg, '/') || strchr(arg, '.');
    lra_fail_usage(e, "there is no file, folder or run '%s'%s", arg,
                   path ? ""
                        : "; '--table NAME' and '--figure NAME' select a table or figure "
                          "('lra-report list')");
}

char **lra_report_places(const lra_options *o, const char *out, int *n, lra_err *e)
{
    int n_args = lra_option_n_args(o);
    char **place = lra_alloc_array((size_t)n_args + 1, sizeof *place);
    for (*n = 0; *n < n_args; ++*n) {
        const char *arg = lra_option_arg(o, *n);
        char *run = lra_file_exists(arg) ? NULL : lra_run_by_name(arg, out, e);
        if (!run && !lra_file_exists(arg)) {
            if (!*e->msg) fail_no_place(arg, e);
            lra_names_free(place, *n);
            return NULL;
        }
        place[*n] = run ? run : lra_copy_text(arg);
    }
    if (*n == 0) place[(*n)++] = lra_copy_text(out);
    return place;
}

int lra_report_no_files(const char *what, const char *command, int n, const char *const *place,
                        lra_err *e)
{
    char *others = n > 1 ? lra_format(" and %d other place%s", n - 1, n > 2 ? "s" : "")
                         : lra_copy_text("");
    int rc = lra_fail(e, "no %s in '%s'%s; '%s' makes them", what, place[0], others, command);
    lra_free(others);
    return rc;
}

static int load_results(const lra_options *o, const char *out, lra_result ***list, lra_err *e)
{
    int n_places;
    char **place = lra_report_places(o, out, &n_places, e);
    if (!place) return LRA_USAGE;
    int n = lra_results_load(n_places, (const char *const *)place, list, e);
    if (n == 0) lra_results_free(*list, 0);
    if (n == 0)
        n = lra_report_no_files("results", "lra-probe receptive-field", n_places,
                                (const char *const *)place, e);
    lra_names_free(place, n_places);
    return n;
}

static int load_tunings(const lra_options *o, const char *out, lra_report_input *in, lra_err *e)
{
    int n_places;
    char **place = lra_report_places(o, out, &n_places, e);
    if (!place) return LRA_USAGE;
    lra_tuning_result **tunings;
    lra_result **results;
    int n = lra_tunings_load(n_places, (const char *const *)place, &tunings, &results, &in->n_tuned,
                             e);
    in->tunings = tunings, in->n_tunings = n, in->tuned = results;
    if (n == 0)
        n = lra_report_no_files("choices of settings", "lra-probe sweep --tune", n_places,
                                (const char *const *)place, e);
    lra_names_free(place, n_places);
    return n < 0 ? LRA_FAILED : 0;
}

static int load_listops(const lra_options *o, const char *out, lra_listops ***list, lra_err *e)
{
    int n_places;
    char **place = lra_report_places(o, out, &n_places, e);
    if (!place) return LRA_USAGE;
    int n = lra_listops_results_load(n_places, (const char *const *)place, list, e);
    if (n == 0) lra_listops_results_free(*list, 0);
    if (n == 0)
        n = lra_report_no_files("ListOps breakdowns", "lra-probe listops RUN...", n_places,
                                (const char *const *)place, e);
    lra_names_free(place, n_places);
    return n;
}

/* Prints a note on runs without a file of the probe, if other runs have one. */
static void note_missing(const char *probe, int n, const char *const *place)
{
    const char *first = NULL;
    char **path, *name = lra_format("%s.h5", probe);
    int missing = 0;
    for (int i = 0; i < n; i++) {
        lra_err e;
        int found = lra_result_files_find(1, &place[i], name, &path, &e);
        if (found >= 0) lra_names_free(path, found);
        if (found == 0 && missing++ == 0) first = place[i];
    }
    char *others = missing > 1
                       ? lra_format(" and %d other place%s", missing - 1, missing > 2 ? "s" : "")
                       : lra_copy_text("");
    if (missing) lra_note("no %s in '%s'%s: skipped", name, first, others);
    lra_free(others);
    lra_free(name);
}

static int load_probes(const lra_options *o, const char *out, const char *probe,
                       lra_probe_result ***list, lra_err *e)
{
    int n_places;
    char **place = lra_report_places(o, out, &n_places, e);
    if (!place) return LRA_USAGE;
    char *what = lra_format("'%s' results", probe);
    bool of_data = strcmp(probe, "information") == 0;
    char *command = of_data ? lra_copy_text("lra-probe data TASK --information")
                            : lra_format("lra-probe %s RUN...", probe);
    int n = lra_probe_results_load(n_places, (const char *const *)place, probe, list, e);
    if (n == 0) lra_probe_results_free(*list, 0);
    if (n == 0) n = lra_report_no_files(what, command, n_places, (const char *const *)place, e);
    if (n > 0) note_missing(probe, n_places, (const char *const *)place);
    lra_free(what);
    lra_free(command);
    lra_names_free(place, n_places);
    return n;
}

void lra_report_unload(lra_report_input *in)
{
    if (in->list) lra_results_free((lra_result **)(uintptr_t)in->list, in->n);
    if (in->listops)
        lra_listops_results_free((lra_listops **)(uintptr_t)in->listops, in->n_listops);
    if (in->probes)
        lra_probe_results_free((lra_probe_result **)(uintptr_t)in->probes, in->n_probes);
    if (in->tuned) lra_results_free((lra_result **)(uintptr_t)in->tuned, in->n_tuned);
    if (in->tunings) lra_tunings_free((lra_tuning_result **)(uintptr_t)in->tunings, in->n_tunings);
    lra_ladder_scale_close(&in->scale);
}

/* Replaces places that are files by their folders. The caller frees the names and the list. */
static char **folders_of(int n, const char *const *place)
{
    char **folder = lra_alloc_array((size_t)n + 1, sizeof *folder);
    for (int i = 0; i < n; i++) {
        const char *slash = strrchr(place[i], '/');
        if (lra_is_folder(place[i]))
            folder[i] = lra_copy_text(place[i]);
        else
            folder[i] = slash ? lra_format("%.*s", (int)(slash - place[i]), place[i])
                              : lra_copy_text(".");
    }
    return folder;
}

/* Loads all probe results of the runs at these paths; there may be none. */
static int load_all_probes(int n_places, const char *const *place, lra_report_input *in, lra_err *e)
{
    static const char *const probe[] = {"kernels", "attention", "influence"};
    lra_probe_result **list[3] = {NULL}, **all;
    int n[3] = {0}, total = 0, rc = 0;
    for (int k = 0; k < 3 && rc == 0; k++) {
        n[k] = lra_probe_results_load(n_places, place, probe[k], &list[k], e);
        if (n[k] < 0) n[k] = 0, rc = LRA_FAILED;
        total += n[k];
    }
    all = lra_alloc_array((size_t)total + 1, sizeof *all);
    for (int k = 0; k < 3; k++) {
        if (n[k]) memcpy(all + in->n_probes, list[k], (size_t)n[k] * sizeof *all);
        in->n_probes += n[k];
        lra_free(list[k]);
    }
    in->probes = all;
    return rc;
}

static int load_results_and_probes(const lra_options *o, const char *out, lra_report_input *in,
                                   lra_err *e)
{
    lra_result **results;
    int n_places;
    in->n = load_results(o, out, &results, e);
    if (in->n < 0) return LRA_FAILED;
    in->list = results;
    char **place = lra_report_places(o, out, &n_places, e);
    if (!place) return LRA_USAGE;
    char **folder = folders_of(n_places, (const char *const *)place);
    int rc = load_all_probes(n_places, (const char *const *)folder, in, e);
    lra_names_free(folder, n_places);
    lra_names_free(place, n_places);
    if (rc != 0) lra_report_unload(in);
    return rc;
}

/* Loads the files of a source from all paths in the arguments. */
static int load_all(const lra_options *o, const char *out, lra_report_source source,
                    lra_report_input *in, lra_err *e)
{
    static const char *const probe[] = {[LRA_FROM_KERNELS] = "kernels",
                                        [LRA_FROM_ATTENTION] = "attention",
                                        [LRA_FROM_INFLUENCE] = "influence",
                                        [LRA_FROM_INFORMATION] = "information"};
    *in = (lra_report_input){0};
    if (source == LRA_FROM_RESULTS_AND_PROBES) return load_results_and_probes(o, out, in, e);
    if (source == LRA_FROM_TUNING) return load_tunings(o, out, in, e);
    if (source >= LRA_FROM_KERNELS) {
        lra_probe_result **list;
        in->n_probes = load_probes(o, out, probe[source], &list, e);
        in->probes = list;
        return in->n_probes < 0 ? LRA_FAILED : 0;
    }
    if (source == LRA_FROM_LISTOPS) {
        lra_listops **list;
        in->n_listops = load_listops(o, out, &list, e);
        in->listops = list;
        return in->n_listops < 0 ? LRA_FAILED : 0;
    }
    lra_result **list;
    int rc = lra_ladder_scale_open(&in->scale, o, out, e);
    if (rc != 0) return rc;
    in->n = load_results(o, out, &list, e);
    in->list = list;
    if (in->n >= 0) return 0;
    lra_ladder_scale_close(&in->scale);
    return LRA_FAILED;
}

int lra_report_load(const lra_options *o, const char *out, lra_report_source source,
                    lra_report_input *in, lra_err *e)
{
    int rc = load_all(o, out, source, in, e);
    if (rc != 0) return rc;
    rc = lra_filter(o, in, e);
    if (rc != 0) lra_report_unload(in);
    return rc;
}

int lra_report_load_layout(const lra_options *o, const char *out, const lra_layout *l,
                           lra_report_input *in, lra_err *e)
{
    *in = (lra_report_input){.layout = l, .out = lra_option_given(o, "out") ? out : NULL};
    if (lra_option_n_args(o) == 0 && !lra_option_given(o, "out") && !lra_file_exists(out)) return 0;
    int n_places;
    lra_result **list = NULL;
    char **place = lra_report_places(o, out, &n_places, e);
    if (!place) return LRA_USAGE;
    in->n = lra_results_load(n_places, (const char *const *)place, &list, e);
    lra_names_free(place, n_places);
    if (in->n < 0) return LRA_FAILED;
    in->list = list;
    int rc = in->n > 0 ? lra_filter(o, in, e) : 0;
    if (rc != 0) lra_report_unload(in);
    return rc;
}

/* ---- everything ------------------------------------------------------------------------------ */

enum { KINDS = 4 };
static const char *const kinds[KINDS] = {"kernels", "attention", "influence", "information"};

static bool is_probe_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    bool probe = strcmp(base, "listops.h5") == 0;
    for (int k = 0; k < KINDS; k++) {
        char *name = lra_format("%s.h5", kinds[k]);
        probe = probe || strcmp(base, name) == 0;
        lra_free(name);
    }
    return probe;
}

/* Loads the files of all kinds. place: (n) results; folder: (n) their folders, for the other files.
 * *failed: number of kinds whose files cannot be read; the first error is in `e`. */
static void load_kinds(int n, char *const *place, char *const *folder, lra_report_input *in,
                       int *failed, lra_err *e)
{
    const char *const *folders = (const char *const *)folder;
    lra_probe_result **probes[KINDS] = {NULL}, **all;
    lra_result **results = NULL;
    lra_listops **listops = NULL;
    int n_probes[KINDS], total = 0;
    lra_err other = {{0}};
    in->n = lra_results_load(n, (const char *const *)place, &results, e);
    if (in->n < 0) in->n = 0, ++*failed;
    in->n_listops = lra_listops_results_load(n, folders, &listops, *failed ? &other : e);
    if (in->n_listops < 0) in->n_listops = 0, ++*failed;
    for (int k = 0; k < KINDS; k++) {
        n_probes[k] = lra_probe_results_load(n, folders, kinds[k], &probes[k],
                                             *failed ? &other : e);
        if (n_probes[k] < 0) n_probes[k] = 0, ++*failed;
        total += n_probes[k];
    }
    all = lra_alloc_array((size_t)total + 1, sizeof *all);
    for (int k = 0; k < KINDS; k++) {
        if (n_probes[k]) memcpy(all + in->n_probes, probes[k], (size_t)n_probes[k] * sizeof *all);
        in->n_probes += n_probes[k];
        lra_free(probes[k]);
    }
    in->list = results, in->listops = listops, in->probes = all;
}

/* Loads the choices of settings. place: (n) results, or folders of them. */
static void load_choices(int n, char *const *place, lra_report_input *in)
{
    lra_tuning_result **tunings = NULL;
    lra_result **results = NULL;
    lra_err ignored;
    int found = lra_tunings_load(n, (const char *const *)place, &tunings, &results, &in->n_tuned,
                                 &ignored);
    in->tunings = tunings, in->n_tunings = found < 0 ? 0 : found, in->tuned = results;
}

int lra_report_load_everything(const lra_options *o, const char *out, lra_report_input *in,
                               lra_err *e)
{
    int n, failed = 0;
    *in = (lra_report_input){0};
    char **place = lra_report_places(o, out, &n, e);
    if (!place) return LRA_USAGE;
    char **folder = folders_of(n, (const char *const *)place);
    for (int i = 0; i < n; i++) {
        if (!is_probe_file(place[i]) || lra_is_folder(place[i])) continue;
        lra_free(place[i]);
        place[i] = lra_copy_text(folder[i]);
    }
    int rc = lra_ladder_scale_open(&in->scale, o, out, e);
    if (rc == 0) {
        load_kinds(n, place, folder, in, &failed, e);
        load_choices(n, place, in);
        if (in->n + in->n_probes + in->n_listops == 0)
            rc = failed ? LRA_FAILED
                        : lra_report_no_files("results", "lra-probe receptive-field", n,
                                              (const char *const *)place, e);
        if (rc == 0) rc = lra_filter(o, in, e);
        if (rc != 0) lra_report_unload(in);
    }
    lra_names_free(place, n);
    lra_names_free(folder, n);
    return rc;
}
