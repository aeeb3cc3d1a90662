/* Influence: the parts of lra-probe influence and audit, in groups that share a figure. */
#include <math.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/html/facts.h"
#include "reports/tables/influence_headline.h"
#include "reports/views/probe_measurements.h"

enum { PARTS = 12 };

/* A group of parts: how to read each of them, their null value and their figure. */
typedef struct {
    const char *title, *name, *null_value; /* name: in the title of its table */
    lra_page_figure figure;
    const char *part[PARTS][2]; /* name of the part, how to read it; NULL after the last */
} group;

static const group groups[] = {
    {"Distance limits",
     "distance limits",
     "The full input: a model that uses all distances loses gain under every limit. A model without "
     "gain has no such radius.",
     {&lra_figure_cut, false, false},
     {{"context",
       "each position is computed only from the tokens within R of it; R99 is the smallest R "
       "that keeps 99 % of the gain, a distance of the complete model"},
      {"cut",
       "each layer only connects tokens within r of each other; this limits every layer, while "
       "all layers together reach farther"},
      {"heads", "the same limit on a group of heads of one layer, without retraining"}}},
    {"Gradients and occlusion",
     "gradients and occlusion",
     "Uniform weights under the same mask (dist/uniform is 1), and the model at initialisation if it "
     "was measured.",
     {&lra_figure_jacobian, false, false},
     {{"jacobian",
       "norm of the gradient of the features of a position with respect to each token; a "
       "mean distance far below that of uniform weights means a local model"},
      {"occlusion",
       "change of the features of a position when a block of tokens is replaced by that of "
       "another example; needs no gradients"}}},
    {"Effective receptive field",
     "effective receptive field",
     "Uniform weights over the input, and the model at initialisation.",
     {&lra_figure_erf, true, false},
     {{"field",
       "radius around the middle position that contains a share of the squared gradient of its "
       "features; a radius far below the length means a small effective receptive field"}}},
    {"Restricted and changed inputs",
     "restricted and changed inputs",
     "The full input: a gain of 1, a KL divergence of 0. Without any input the gain is 0.",
     {&lra_figure_inputs, false, false},
     {{"keep",
       "only a window of w tokens remains, the others are cropped; w95 is the smallest window "
       "that keeps 95 % of the gain"},
      {"swap", "as keep, but the other tokens come from another example"},
      {"token", "as keep, but the other tokens become token 0"},
      {"mask", "as keep, but the other tokens are masked"},
      {"prune",
       "as keep, for expressions: the digits of a window and the operators around them remain"},
      {"bag", "each window of w tokens is classified alone and the outputs are averaged"},
      {"order-in",
       "tokens are permuted inside windows of w; a model that ignores order loses nothing"},
      {"order-out", "windows of w tokens are permuted as units; a local model loses nothing"},
      {"drop", "tokens farther than w from those that the task marks come from another example"},
      {"drop-token", "tokens farther than w from those that the task marks become token 0"},
      {"length", "inputs of other lengths than in training; 1: the gain does not change"}}},
    {"Positions and pairs",
     "positions and pairs",
     "Equal effects of all positions, and blocks that are permuted.",
     {NULL, false, false},
     {{"position",
       "effect of the tokens by relative position: above 1 the edges matter more than the "
       "middle"},
      {"shift",
       "effect of moving the content within its padding: 0 if only relative positions matter"},
      {"interaction",
       "distance of pairs of blocks that the prediction combines, compared with permuted "
       "blocks"}}},
};
enum { GROUPS = sizeof groups / sizeof *groups };

static bool belongs(const char *unit, const char *part)
{
    size_t n = strlen(part);
    return strncmp(unit, part, n) == 0 && (unit[n] == 0 || unit[n] == '.');
}

/* Parts whose measurements another section prints. */
static const char *const elsewhere[] = {"context-curve", "token-loss", "retrieval", NULL};

/* The group of a unit; NULL: none. */
static const group *group_of(const char *unit)
{
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; i < PARTS && groups[g].part[i][0]; i++)
            if (belongs(unit, groups[g].part[i][0])) return &groups[g];
    return NULL;
}

static bool is_elsewhere(const char *unit)
{
    for (int i = 0; elsewhere[i]; i++)
        if (belongs(unit, elsewhere[i])) return true;
    return false;
}

/* Copies of the results that hold only the units of a group (NULL: the units of no group). The
 * units belong to the originals. */
static lra_probe_result **units_of(const lra_report_input *in, const group *g, int *n)
{
    lra_probe_result **list = lra_alloc_array((size_t)in->n_probes + 1, sizeof *list);
    *n = 0;
    for (int i = 0; i < in->n_probes; i++) {
        lra_probe_result *r = lra_alloc(sizeof *r);
        *r = *in->probes[i];
        r->unit = lra_alloc_array((size_t)r->n_units + 1, sizeof *r->unit);
        r->n_units = 0;
        for (int u = 0; u < in->probes[i]->n_units; u++)
            if (!is_elsewhere(in->probes[i]->unit[u]->name) &&
                group_of(in->probes[i]->unit[u]->name) == g)
                r->unit[r->n_units++] = in->probes[i]->unit[u];
        list[(*n)++] = r;
    }
    return list;
}

static void free_copies(lra_probe_result **list, int n)
{
    for (int i = 0; i < n; i++) {
        lra_free(list[i]->unit);
        lra_free(list[i]);
    }
    lra_free(list);
}

static bool has_part(lra_probe_result *const *list, int n, const char *part)
{
    for (int i = 0; i < n; i++)
        for (int u = 0; u < list[i]->n_units; u++)
            if (belongs(list[i]->unit[u]->name, part)) return true;
    return false;
}

static void add_table(lra_page *p, lra_text *to, const char *title, lra_probe_result *const *list,
                      int n)
{
    char *name = lra_format("Measurements: %s", title);
    lra_table *t = lra_probe_measurements_table(name, list, n, lra_influence_headline);
    lra_free(name);
    if (t->n_rows) lra_page_add_table(p, to, t, false);
    lra_table_free(t);
}

static void write_group(lra_page *p, lra_text *to, const group *g)
{
    int n, any = 0;
    lra_probe_result **list = units_of(&p->source[LRA_FROM_INFLUENCE], g, &n);
    for (int i = 0; i < n; i++) any += list[i]->n_units;
    if (any && g) {
        lra_text_add(to, "<h3>%s</h3>\n<dl class=\"parts\">\n", g->title);
        for (int i = 0; i < PARTS && g->part[i][0]; i++)
            if (has_part(list, n, g->part[i][0]))
                lra_text_add(to, "<div><dt>%s</dt><dd>%s.</dd></div>\n", g->part[i][0],
                             g->part[i][1]);
        lra_text_add(to, "</dl>\n<p><b>Null value.</b> %s</p>\n", g->null_value);
        if (g->figure.is) {
            lra_page_section only = {.figure = {g->figure}};
            lra_page_add_figures(p, to, &only);
        }
        add_table(p, to, g->name, list, n);
    } else if (any) {
        lra_text_add(to, "<h3>Other parts</h3>\n");
        add_table(p, to, "other parts", list, n);
    }
    free_copies(list, n);
}

/* Adds the parts of a result that were requested but not measured, with the reasons. */
static void leave_out_parts(lra_page *p, const lra_probe_result *r, lra_word_set *known)
{
    const char *model = strncmp(r->model, "user.", 5) == 0 ? r->model + 5 : r->model;
    for (const char *at = r->left_out ? r->left_out : ""; *at;) {
        size_t n = strcspn(at, "\n"), name = strcspn(at, ":\n");
        char *part = lra_format("%.*s", (int)name, at);
        char *what = lra_format("Part %s of %s on %s", part, model, r->task);
        char *why = lra_format("%.*s", n > name + 2 ? (int)(n - name - 2) : 0, at + name + 2);
        if (n > name + 2) lra_page_leave_out(p, what, why);
        lra_words_add(known, part);
        lra_free(part);
        lra_free(what);
        lra_free(why);
        at += n + (at[n] == '\n');
    }
}

/* Adds to the list of missing parts: those that were not measured, and those that no file
 * mentions. */
static void list_missing(lra_page *p)
{
    const lra_report_input *in = &p->source[LRA_FROM_INFLUENCE];
    lra_word_set known = {0}, missing = {0};
    for (int i = 0; i < in->n_probes; i++) leave_out_parts(p, in->probes[i], &known);
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; i < PARTS && groups[g].part[i][0]; i++) {
            const char *part = groups[g].part[i][0];
            bool named = has_part(in->probes, in->n_probes, part);
            for (int k = 0; k < known.n; k++) named = named || strcmp(known.text[k], part) == 0;
            if (!named) lra_words_add(&missing, part);
        }
    if (missing.n) {
        char *list = lra_words_join(&missing, PARTS * GROUPS);
        char *why = lra_format(
            "%s: no file holds them; '--parts LIST' requests them, where the model "
            "and the task define them",
            list);
        lra_page_leave_out(p, "Other parts of influence", why);
        lra_free(list);
        lra_free(why);
    }
    lra_word_set_free(&known);
    lra_word_set_free(&missing);
}

static void write(lra_page *p, lra_text *to)
{
    const lra_page_tables *made = lra_page_tables_of(p, &lra_section_influence);
    if (made->n <= 0) return;
    const lra_verdict *v = &made->list[0]->verdict;
    lra_text text = {0};
    for (int i = 0; i < v->n; i++) lra_text_add(&text, "%s%s", i ? " " : "", v->sentence[i]);
    if (text.n) lra_page_paragraph(to, "verdict", text.s);
    lra_text_free(&text);
    for (int g = 0; g < GROUPS; g++) write_group(p, to, &groups[g]);
    write_group(p, to, NULL);
    lra_page_add_tables(p, to, &lra_section_influence, 1, false);
    list_missing(p);
}

const lra_page_section lra_section_influence = {
    .id = "influence",
    .title = "Influence of the input by distance",
    .write = write,
    .table = &lra_table_influence,
    .how_to_read =
        "Each part changes or limits the input, or takes gradients, and measures how far away the tokens "
        "are that the model relies on. Parts that change the input report the gain that remains: 1 is "
        "the full input, 0 is chance.",
    .null_value =
        "Uniform weights under the same mask, the model at initialisation, or the full input; "
        "each part names its own.",
    .rank = 4,
    .command = "lra-probe influence RUN",
};
