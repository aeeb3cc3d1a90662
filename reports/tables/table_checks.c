/* Table checks: the checks of external models (lra-probe audit) before their measurement. For each
 * run its checks with outcome and result; below the table, for each failed check, the usual
 * meaning, the remedy and the parts of the audit that it disables. */
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/views/probe_measurements.h"

/* True if an earlier file of the list has the checks of the same run. */
static bool is_listed(const lra_report_input *in, int i)
{
    for (int k = 0; k < i; k++) {
        const lra_probe_result *a = in->probes[k], *b = in->probes[i];
        if (a->checks.n && a->seed == b->seed && strcmp(a->run, b->run) == 0 &&
            strcmp(a->fingerprint, b->fingerprint) == 0)
            return true;
    }
    return false;
}

static void add_note(lra_table *t, const lra_model_check *r)
{
    lra_table_note(t, "%s\tusual meaning: %s; remedy: %s; disables: %s", r->name, r->meaning,
                   r->remedy,
                   strcmp(r->disables, "all") == 0 ? "every part"
                   : *r->disables                  ? r->disables
                                                   : "nothing");
}

static lra_table *table_of(const lra_probe_result *p)
{
    static const char *const head[] = {"check", "outcome", "result", "", "", ""};
    static const char *const key[] = {"check",   "outcome", "result",
                                      "meaning", "remedy",  "disables"};
    int count[3] = {0};
    char *name = lra_probe_run_name(p), *title = lra_format("Checks of the model: %s", name);
    lra_table *t = lra_table_new(title, sizeof head / sizeof *head, head);
    lra_table_keys(t, key);
    t->left[1] = t->left[2] = true;
    for (int i = 0; i < p->checks.n; i++) {
        const lra_model_check *r = &p->checks.row[i];
        lra_table_row(t);
        lra_table_cell(t, "%s", r->name);
        lra_table_cell(t, "%s", lra_check_outcome_names[r->outcome]);
        lra_table_cell(t, "%s", r->found);
        lra_table_cell(t, "%s", r->meaning);
        lra_table_cell(t, "%s", r->remedy);
        lra_table_cell(t, "%s", r->disables);
        count[r->outcome]++;
    }
    lra_table_add_constant(t, "run", p->run);
    lra_table_add_constant(t, "task", p->task);
    lra_table_add_constant(t, "model", p->model);
    for (int k = 0; k < 3; k++) lra_table_fact(t, lra_check_outcome_names[k], count[k]);
    for (int i = 0; i < p->checks.n; i++)
        if (p->checks.row[i].outcome == LRA_CHECK_FAILED) add_note(t, &p->checks.row[i]);
    lra_free(title);
    lra_free(name);
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    int n = 0;
    *list = lra_alloc_array((size_t)in->n_probes + 1, sizeof **list);
    for (int i = 0; i < in->n_probes; i++)
        if (in->probes[i]->checks.n && !is_listed(in, i)) (*list)[n++] = table_of(in->probes[i]);
    if (n) return n;
    lra_free(*list);
    *list = NULL;
    return lra_fail(e,
                    "no file has the checks of an external model; 'lra-probe audit' stores them, "
                    "unless --no-check is given");
}

const lra_report_table lra_table_checks = {
    "checks", "checks of external models before an audit: outcome, result, remedy", make,
    LRA_FROM_RESULTS_AND_PROBES, NULL};
