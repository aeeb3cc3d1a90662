/* Caveats that apply to the results of the page. */
#include <math.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/html/facts.h"
#include "reports/results/result_metric.h"
#include "reports/views/integrity.h"

static void add(lra_text *to, const char *text)
{
    lra_html_wrap(to, "<li>", text, "</li>\n");
}

/* Adds a formatted caveat and frees the text. */
static void add_owned(lra_text *to, char *text)
{
    add(to, text);
    lra_free(text);
}

/* Meaning of the flags of measurements; flag: bit of lra_measurement_flag. */
static const struct {
    unsigned flag;
    const char *means;
} flags[] = {
    {LRA_CENSORED, "did not reach their threshold: the value is a bound"},
    {LRA_FLAT, "cannot be distinguished from a value without dependence on distance"},
    {LRA_ONE_SEED, "are of one seed: their intervals do not include the variance over seeds"},
    {LRA_APPROX, "were computed from a sample of positions or directions"},
    {LRA_FALLBACK, "were computed by another method than the requested one"},
    {LRA_ILL_FORMED, "were measured on inputs that the task does not produce"},
    {LRA_FEW_SEEDS, "vary more over seeds than over examples, with fewer than five seeds"},
    {LRA_NO_GAIN,
     "are undefined gains: the examples have no labels, or the outputs have another order"},
    {LRA_NOISE, "contain a share below 0, because of noise"},
    {LRA_NO_MEDIAN, "are undefined ratios: the median that divides them is almost 0"}};

static void add_flags(const lra_page *p, lra_text *to)
{
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        int64_t n = 0, all = 0;
        for (int i = 0; i < p->all->n_probes; i++)
            for (int u = 0; u < p->all->probes[i]->n_units; u++) {
                const lra_probe_unit *unit = p->all->probes[i]->unit[u];
                for (int k = 0; k < unit->n_measurements; k++)
                    n += (unit->measurement[k].flags & flags[f].flag) != 0, all++;
            }
        if (n)
            add_owned(to, lra_format("%lld of %lld measurements %s.", (long long)n, (long long)all,
                                     flags[f].means));
    }
}

/* Adds caveats about training: seeds, selection, deviations, size. */
static void add_runs(const lra_page *p, lra_text *to)
{
    int least, most, on_test = 0, deviate = 0, quick = 0, chance = 0;
    lra_result_group *group;
    lra_page_seeds(p, &least, &most);
    int n = lra_results_group(p->all->list, p->all->n, &group);
    for (int i = 0; i < n; i++) {
        lra_result *r = group[i].run[0];
        const lra_metric *m = lra_result_metric(r);
        lra_estimate v = lra_results_value(group[i].run, group[i].n);
        double at = lra_result_chance(r);
        chance += m->lower ? !(v.hi < at) : !(v.lo > at);
        quick += strcmp(r->preset, "quick") == 0;
        on_test += lra_result_selected_on_test(r);
        deviate += r->deviations && *r->deviations;
    }
    lra_result_groups_free(group, n);
    if (n && least == 1 && !lra_page_is_audit(p))
        add(to, "Some configurations were trained with one seed: differences between them may be "
                "differences between seeds.");
    if (n && least > 1 && least < 5)
        add_owned(to, lra_format("Some configurations were trained with only %d seeds.", least));
    if (chance)
        add_owned(
            to,
            lra_format(
                "Not significantly better than chance: %d of %d configurations. Their distances "
                "describe models that have not learned the task.",
                chance, n));
    if (quick)
        add(to,
            "Preset quick is a small variant of a task: its numbers do not describe the published "
            "benchmark.");
    if (on_test)
        add_owned(to,
                  lra_format("Checkpoint selected on the test examples: %d of %d configurations.",
                             on_test, n));
    if (deviate)
        add_owned(to,
                  lra_format("Differences from the published settings: %d of %d configurations; "
                             "'lra-report show' lists them.",
                             deviate, n));
}

static void add_methods(const lra_page *p, lra_text *to)
{
    if (lra_page_tables_of(p, &lra_section_ladder)->n > 0)
        add(to,
            "A ladder describes its models: more reach may help a model that is larger or trained "
            "longer.");
    if (p->source[LRA_FROM_INFLUENCE].n_probes)
        add(to,
            "Restricted inputs differ from those of training. A loss of gain can be due to missing "
            "information or to the unusual input; the replacements (cropped, from another example, "
            "token 0) separate the two, and their difference is measured where several were used.");
    if (p->source[LRA_FROM_INFLUENCE].n_probes)
        add(to,
            "Gradients describe small changes of the input; large changes can act differently.");
    if (p->source[LRA_FROM_ATTENTION].n_probes)
        add(to,
            "An attention weight is no measure of influence: the output can depend weakly on a token "
            "with a large weight.");
    if (p->source[LRA_FROM_KERNELS].n_probes)
        add(to, "A kernel describes one layer: deeper layers and gates change the distance of the "
                "complete model.");
    if (p->source[LRA_FROM_INFORMATION].n_probes)
        add(to, "Mutual information of tokens is a property of the inputs, not of the label.");
    if (lra_page_is_audit(p))
        add(to,
            "The model was trained elsewhere: differences from other models include those of its "
            "training.");
}

static void write(lra_page *p, lra_text *to)
{
    lra_text list = {0};
    char *unsealed = lra_report_integrity(p->all);
    if (unsealed) add(&list, unsealed);
    lra_free(unsealed);
    if (p->all->n) add_runs(p, &list);
    add_flags(p, &list);
    add_methods(p, &list);
    if (list.n) lra_text_add(to, "<ul>\n%s</ul>\n", list.s);
    lra_text_free(&list);
}

const lra_page_section lra_section_caveats = {.id = "caveats", .title = "Caveats", .write = write};
