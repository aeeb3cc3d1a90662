/* Selects results by --task, --model and --label (filter.h). */
#include "reports/views/filter.h"

#include <stdbool.h>
#include <string.h>

const lra_option lra_filter_options[] = {
    {.name = "task",
     .letter = 't',
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "use only results of these tasks, separated by commas"},
    {.name = "model",
     .letter = 'm',
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "use only results of these models, separated by commas"},
    {.name = "label",
     .kind = LRA_OPTION_TEXT,
     .arg = "TEXT",
     .help = "use only runs with this label ('lra-probe train --label TEXT')"},
    {.name = NULL}};

/* True if the text is in the list of the option, or the option is not given. */
static bool is_asked(const lra_options *o, const char *option, const char *text)
{
    const char *list = lra_option_given(o, option) ? lra_option_text(o, option) : "";
    size_t size = strlen(text);
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        if (n == size && strncmp(at, text, n) == 0) return true;
        at += n + (at[n] == ',');
    }
    return !*list;
}

static bool is_kept(const lra_options *o, const char *task, const char *model, const char *label)
{
    bool labelled = !lra_option_given(o, "label") ||
                    strcmp(lra_option_text(o, "label"), label ? label : "") == 0;
    return labelled && is_asked(o, "task", task) && is_asked(o, "model", model);
}

/* Removes a result, which is freed, from the choices of settings that refer to it. */
static void forget(const lra_report_input *in, const lra_result *r)
{
    for (int c = 0; c < in->n_tunings; c++) {
        lra_tuning_result *t = in->tunings[c];
        for (int i = 0; i < t->n; i++)
            for (int k = 0; k < t->n_seeds; k++)
                if (t->trial[i].result[k] == r) t->trial[i].result[k] = NULL;
        for (int k = 0; k < t->n_runs; k++)
            if (t->result[k] == r) t->result[k] = NULL;
    }
}

/* Removes choices of settings that are not selected, and their results. */
static void filter_tunings(const lra_options *o, lra_report_input *in)
{
    lra_tuning_result **tuning = (lra_tuning_result **)(uintptr_t)in->tunings;
    lra_result **tuned = (lra_result **)(uintptr_t)in->tuned;
    int n_tuned = 0, n = 0;
    for (int i = 0; i < in->n_tuned; i++) {
        lra_result *r = tuned[i];
        if (is_kept(o, r->task, r->model, r->user_label)) {
            tuned[n_tuned++] = r;
        } else {
            forget(in, r);
            lra_result_free(r);
        }
    }
    for (int i = 0; i < in->n_tunings; i++) {
        lra_tuning_result *t = tuning[i];
        if (is_kept(o, t->task, t->model, t->label))
            tuning[n++] = t;
        else
            lra_tuning_free(t);
    }
    in->n_tuned = n_tuned, in->n_tunings = n;
}

int lra_filter(const lra_options *o, lra_report_input *in, lra_err *e)
{
    lra_result **result = (lra_result **)(uintptr_t)in->list;
    lra_probe_result **probe = (lra_probe_result **)(uintptr_t)in->probes;
    lra_listops **listops = (lra_listops **)(uintptr_t)in->listops;
    int all = in->n + in->n_probes + in->n_listops + in->n_tunings, kept[3] = {0};
    for (int i = 0; i < in->n; i++) {
        lra_result *r = result[i];
        if (is_kept(o, r->task, r->model, r->user_label))
            result[kept[0]++] = r;
        else
            lra_result_free(r);
    }
    for (int i = 0; i < in->n_probes; i++) {
        lra_probe_result *r = probe[i];
        if (is_kept(o, r->task, r->model, r->user_label))
            probe[kept[1]++] = r;
        else
            lra_probe_result_free(r);
    }
    for (int i = 0; i < in->n_listops; i++) {
        lra_listops *r = listops[i];
        if (is_kept(o, r->task, r->model, r->user_label))
            listops[kept[2]++] = r;
        else
            lra_listops_result_free(r);
    }
    filter_tunings(o, in);
    in->n = kept[0], in->n_probes = kept[1], in->n_listops = kept[2];
    if (all == 0 || in->n + in->n_probes + in->n_listops + in->n_tunings > 0) return 0;
    return lra_fail(e, "none of %d files has the given --task, --model and --label", all);
}
