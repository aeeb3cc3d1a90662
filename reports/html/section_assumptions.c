/* Assumptions on which the numbers of the page are based. */
#include <inttypes.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/html/facts.h"

static void add(lra_text *to, const char *what, const char *text)
{
    lra_text_add(to, "<li><b>%s.</b> ", what);
    lra_html_wrap(to, "", text, "</li>\n");
}

/* Side of the input that outputs depend on, as recorded with the probes of gradients. */
static void add_mask(const lra_page *p, lra_text *to)
{
    bool past = false, both = false;
    const lra_report_input *in = &p->source[LRA_FROM_INFLUENCE];
    for (int i = 0; i < in->n_probes; i++) {
        static const char *const key[] = {"jacobian-equal", "field-equal", "occlusion-equal"};
        for (int k = 0; k < 3; k++) {
            char *value = lra_page_value(in->probes[i]->settings, key[k]);
            if (value && strcmp(value, "both") == 0) both = true;
            if (value && strcmp(value, "both") != 0) past = true;
            lra_free(value);
        }
    }
    if (both || past)
        add(to, "Mask",
            past && both
                ? "The outputs of some models depend on the past only, those of others on both "
                  "sides, as measured; uniform weights have the mask of their model."
            : past ? "The outputs of a position depend on the past only, as measured; uniform "
                     "weights cover the past only."
                   : "The outputs of a position depend on both sides; uniform weights cover both "
                     "sides.");
}

static void write(lra_page *p, lra_text *to)
{
    bool ladder = lra_page_tables_of(p, &lra_section_ladder)->n > 0;
    lra_text list = {0};
    if (p->all->n)
        add(&list, "Chance",
            p->all->scale.uniform
                ? "The accuracy of a uniform guess."
                : "The best prediction that ignores the input: for classes the most frequent label of "
                  "training, measured on the test examples.");
    add(&list, "Intervals",
        "95 %, over test examples and, with several seeds, over seeds (Student t). Test examples are "
        "independent draws; seeds differ in initialisation and order of the training examples. Intervals "
        "of one seed do not include the variance over seeds.");
    if (ladder)
        add(&list, "Reference",
            p->all->scale.reference
                ? p->all->scale.reference
                : "The gain of a ladder is 1 at its reference, the widest rung (for "
                  "preset paper, the published result).");
    add_mask(p, &list);
    if (lra_page_is_audit(p))
        add(&list, "Answers",
            "The model answered the requests of this program. Evaluation mode, its weights and its "
            "preprocessing are those of the program that serves it; the checks before an audit "
            "test that answers are finite, repeatable and independent of batch and padding.");
    if (p->source[LRA_FROM_INFLUENCE].n_probes)
        add(&list, "Sample",
            "Parts are measured on a stratified sample of the test examples; the tables print its size. "
            "Chance and reference of a gain are those of the same examples.");
    add(&list, "Distance",
        "Distances count tokens of the input of the model, after its tokenizer.");
    lra_text_add(to, "<ul>\n%s</ul>\n", list.s);
    lra_text_free(&list);
}

const lra_page_section lra_section_assumptions = {
    .id = "assumptions", .title = "What was assumed", .write = write};
