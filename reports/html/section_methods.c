/* A paragraph on methods, with the numbers of the results filled in, for a paper. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/html/facts.h"

static const lra_result *first_trained(const lra_page *p)
{
    for (int i = 0; i < p->all->n; i++)
        if (strncmp(p->all->list[i]->model, "user.", 5) != 0) return p->all->list[i];
    return NULL;
}

/* Value of a setting if all trained runs share it; NULL: they differ, or have none. */
static char *shared(const lra_page *p, const char *key)
{
    char *same = NULL;
    for (int i = 0; i < p->all->n; i++) {
        if (strncmp(p->all->list[i]->model, "user.", 5) == 0) continue;
        char *value = lra_page_value(p->all->list[i]->config, key);
        bool differs = !value || (same && strcmp(same, value) != 0);
        if (differs) {
            lra_free(value);
            lra_free(same);
            return NULL;
        }
        lra_free(same);
        same = value;
    }
    return same;
}

static void add_training(const lra_page *p, lra_text *t)
{
    const lra_result *r = first_trained(p);
    static const char *const key[][2] = {{"train.epochs", "%s epochs"},
                                         {"train.batch", "batches of %s"},
                                         {"train.rate", "a peak learning rate of %s"},
                                         {"train.decay", "a weight decay of %s"}};
    lra_text how = {0};
    int least, most;
    if (!r) return;
    for (int i = 0; i < 4; i++) {
        char *value = shared(p, key[i][0]);
        bool one = value && i == 0 && strcmp(value, "1") == 0;
        const char *rest = strstr(key[i][1], "%s");
        if (one)
            lra_text_add(&how, "1 epoch");
        else if (value)
            lra_text_add(&how, "%s%.*s%s%s", how.n ? ", " : "", (int)(rest - key[i][1]), key[i][1],
                         value, rest + 2);
        lra_free(value);
    }
    lra_page_seeds(p, &least, &most);
    lra_text_add(t, " Models were trained by lra-locality%s%s with ", how.n ? " for " : "",
                 how.n ? how.s : "");
    if (least == most)
        lra_text_add(t, "%d seed%s each", most, most == 1 ? "" : "s");
    else
        lra_text_add(t, "%d to %d seeds each", least, most);
    lra_text_add(t,
                 ", and the epoch with the best validation %s was evaluated once on the test "
                 "examples.",
                 lra_result_metric(r)->text);
    lra_text_free(&how);
}

/* Adds the smallest and the largest number of examples that measurements of a probe used. */
static void add_probe(const lra_page *p, lra_report_source source, const char *sentence,
                      const char *split, lra_text *t)
{
    int64_t least = 0, most = 0;
    const lra_report_input *in = &p->source[source];
    for (int i = 0; i < in->n_probes; i++)
        for (int u = 0; u < in->probes[i]->n_units; u++)
            for (int k = 0; k < in->probes[i]->unit[u]->n_measurements; k++) {
                int64_t n = in->probes[i]->unit[u]->measurement[k].examples;
                if (n > 0 && (least == 0 || n < least)) least = n;
                if (n > most) most = n;
            }
    if (in->n_probes == 0) return;
    lra_text_add(t, " %s", sentence);
    if (most && least == most) lra_text_add(t, " on %" PRId64 " %s examples", most, split);
    if (most && least != most)
        lra_text_add(t, " on %" PRId64 " to %" PRId64 " %s examples", least, most, split);
    lra_text_add(t, ".");
}

static char *influence_parts(const lra_page *p)
{
    const lra_report_input *in = &p->source[LRA_FROM_INFLUENCE];
    lra_word_set parts = {0};
    for (int i = 0; i < in->n_probes; i++)
        for (int u = 0; u < in->probes[i]->n_units; u++) {
            const char *name = in->probes[i]->unit[u]->name;
            char *part = lra_format("%.*s", (int)strcspn(name, "."), name);
            lra_words_add(&parts, part);
            lra_free(part);
        }
    char *list = lra_words_join(&parts, 30);
    char *text = lra_format("The influence of tokens by distance was measured by the parts %s",
                            list);
    lra_free(list);
    lra_word_set_free(&parts);
    return text;
}

static const lra_origin *origin_of(const lra_page *p)
{
    if (p->all->n) return &p->all->list[0]->origin;
    return p->all->n_probes ? &p->all->probes[0]->origin : NULL;
}

static void write(lra_page *p, lra_text *to)
{
    lra_text t = {0};
    lra_word_set models = {0}, tasks = {0};
    const lra_origin *o = origin_of(p);
    lra_page_models(p, &models);
    lra_page_tasks(p, &tasks);
    char *m = lra_words_join(&models, 40), *k = lra_words_join(&tasks, 20);
    char *parts = influence_parts(p);
    if (models.n)
        lra_text_add(&t, "We measured the locality of %s on %s.", m, k);
    else
        lra_text_add(&t, "We measured the locality of the data of %s.", k);
    add_training(p, &t);
    add_probe(p, LRA_FROM_INFLUENCE, parts, "test", &t);
    add_probe(p, LRA_FROM_ATTENTION, "Attention weights were averaged by distance", "test", &t);
    add_probe(p, LRA_FROM_KERNELS, "Convolution kernels were read from the weights", "test", &t);
    add_probe(p, LRA_FROM_INFORMATION, "Mutual information of tokens was estimated", "training",
              &t);
    lra_text_add(
        &t, " Every value has a 95 %% interval over test examples and, where there are "
            "several, over seeds, and is compared with its null value: chance, uniform weights "
            "under the same mask, or the model at initialisation.");
    if (o && o->program)
        lra_text_add(&t, " Software: %s (revision %s; %s).", o->program,
                     o->revision ? o->revision : "unknown", o->libraries ? o->libraries : "");
    lra_page_paragraph(to, "methods", t.s);
    lra_text_free(&t);
    lra_free(m);
    lra_free(k);
    lra_free(parts);
    lra_word_set_free(&models);
    lra_word_set_free(&tasks);
}

const lra_page_section lra_section_methods = {.id = "methods", .title = "Methods", .write = write};
