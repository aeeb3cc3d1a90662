/* Table language: measurements of language models. For each run: loss by the number of tokens
 * before the predicted token (context curve), loss by position in the row, distance of influential
 * tokens by layer, retrieval by length and depth, and the predicted tokens whose loss increases
 * most if the model sees only few tokens before them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/views/probe_measurements.h"
#include "reports/views/probe_records.h"
#include "reports/views/probe_view.h"

enum { FACTS = 5, SHOWN = 20, MOST_DEPTHS = 16, MOST_TABLES = 5 };

static const char *const headline[] = {"context.c95",      "context.c99",        "loss.full",
                                       "key.share.*",      "loss.mean",          "loss.late",
                                       "retrieval.length", "retrieval.accuracy", NULL};

static const lra_probe_array *array_of(const lra_probe_result *r, const char *unit,
                                       const char *name)
{
    const lra_probe_unit *u = lra_probe_unit_find(r, unit);
    return u ? lra_probe_array_find(u, name) : NULL;
}

/* True if the array has n rows of 3 numbers. Nullable: a */
static bool is_curve(const lra_probe_array *a, int64_t n)
{
    return a && a->rank == 2 && a->dims[0] == n && a->dims[1] == 3;
}

/* Adds value and interval of row i of an array (n, 3), multiplied by `scale`. */
static void add_cells(lra_table *t, const lra_probe_array *a, int64_t i, double scale, int decimals)
{
    const float *x = a->value + 3 * i;
    lra_table_number(t, scale * (double)x[0], decimals);
    lra_table_interval(t, scale * (double)x[1], scale * (double)x[2], decimals);
}

static lra_table *new_table(const char *title, const lra_probe_result *r, int columns,
                            const char *const *head, const char *const *key)
{
    char *name = lra_probe_run_name(r), *text = lra_format("%s: %s", title, name);
    lra_table *t = lra_table_new(text, columns, head);
    lra_table_keys(t, key);
    lra_free(text);
    lra_free(name);
    return t;
}

/* ---- context --------------------------------------------------------------------------------- */

static lra_table *context_table(const lra_probe_result *r)
{
    static const char *const head[] = {"context (tokens)", "loss (bits)", LRA_TABLE_CI,
                                       "KL (nats)",        LRA_TABLE_CI,  "gain (%)",
                                       LRA_TABLE_CI,       "key (%)",     LRA_TABLE_CI};
    static const char *const key[] = {
        "context",         "loss",        "loss_lo,loss_hi", "kl", "kl_lo,kl_hi", "gain_percent",
        "gain_lo,gain_hi", "key_percent", "key_lo,key_hi"};
    enum { COLUMNS = sizeof head / sizeof *head };
    const lra_probe_array *x = array_of(r, "context-curve", "x");
    const lra_probe_array *unigram = array_of(r, "context-curve", "unigram"), *curve[4];
    static const char *const names[] = {"loss", "kl", "gain", "key"};
    int64_t n = x ? x->dims[0] : 0;
    for (int k = 0; k < 4; k++) {
        curve[k] = array_of(r, "context-curve", names[k]);
        if (!x || x->rank != 1 || !is_curve(curve[k], n)) return NULL;
    }
    lra_table *t = new_table("Loss by context length", r, COLUMNS, head, key);
    for (int64_t i = 0; i < n; i++) {
        double at = (double)x->value[i];
        lra_table_row(t);
        if (i + 1 == n)
            lra_table_value(t, at, "all (up to %.0f)", at);
        else
            lra_table_value(t, at, "%.0f", at);
        for (int k = 0; k < 4; k++)
            add_cells(t, curve[k], i, k < 2 ? 1 : 100, k == 0 ? 3 : k == 1 ? 4 : 1);
    }
    if (unigram && unigram->rank == 1 && unigram->dims[0] == 3)
        lra_table_note(t, "loss by token frequencies of the training split: %.3f bits (%.3f-%.3f)",
                       (double)unigram->value[0], (double)unigram->value[1],
                       (double)unigram->value[2]);
    lra_table_note(t, "context\tonly this many tokens before the predicted token stay; the same "
                      "tokens are predicted at every context length");
    lra_table_note(t, "KL\tdivergence of the prediction from that with the full context");
    lra_table_note(t,
                   "gain\t(loss by token frequencies - loss) / (loss by token frequencies - loss "
                   "with the full context); -: the model is not clearly better than token "
                   "frequencies");
    lra_table_note(t,
                   "key\tshare of the tokens whose log-probability is lower by more than 2 nats");
    lra_table_note(t, "CI\t95 %% interval over rows");
    return t;
}

/* ---- positions ------------------------------------------------------------------------------- */

static lra_table *position_table(const lra_probe_result *r)
{
    static const char *const head[] = {"tokens before", "loss (bits)", LRA_TABLE_CI, "rows"};
    static const char *const key[] = {"position", "loss", "lo,hi", "rows"};
    const lra_probe_array *x = array_of(r, "token-loss", "x"), *loss, *width, *rows, *unigram;
    loss = array_of(r, "token-loss", "loss"), width = array_of(r, "token-loss", "width");
    rows = array_of(r, "token-loss", "rows"), unigram = array_of(r, "token-loss", "unigram");
    if (!x || x->rank != 1 || !width || !rows || !is_curve(loss, x->dims[0])) return NULL;
    if (width->dims[0] != x->dims[0] || rows->dims[0] != x->dims[0]) return NULL;
    lra_table *t = new_table("Loss by position in the row", r, 4, head, key);
    for (int64_t i = 0; i < x->dims[0]; i++) {
        double at = (double)x->value[i], n = (double)width->value[i];
        lra_table_row(t);
        if (n > 1)
            lra_table_value(t, at, "%.0f to %.0f", at, at + n - 1);
        else
            lra_table_value(t, at, "%.0f", at);
        add_cells(t, loss, i, 1, 3);
        lra_table_number(t, (double)rows->value[i], 0);
    }
    if (unigram)
        lra_table_note(t, "loss by token frequencies of the training split: %.3f bits",
                       (double)unigram->value[0]);
    lra_table_note(t, "CI\t95 %% interval over rows; rows: number of rows that reach the position");
    return t;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static const char of_layers[] = "layers.";

/* Adds value and interval of a measurement of a unit. */
static void add_measured(lra_table *t, const lra_probe_unit *u, const char *id, int decimals)
{
    const lra_measurement *f = lra_probe_measurement(u, id);
    lra_table_number(t, f ? f->value : (double)NAN, decimals);
    lra_table_interval(t, f ? f->lo : (double)NAN, f ? f->hi : (double)NAN, decimals);
}

static void add_initial(lra_table *t, const lra_probe_unit *u, const char *id, int decimals)
{
    const lra_measurement *f = lra_probe_measurement(u, id);
    lra_table_number(t, f ? f->null[LRA_NULL_INIT] : (double)NAN, decimals);
}

static lra_table *layer_table(const lra_probe_result *r)
{
    static const char *const head[] = {"layer",
                                       "self",
                                       LRA_TABLE_CI,
                                       "mean distance (tokens)",
                                       LRA_TABLE_CI,
                                       "distance/uniform",
                                       LRA_TABLE_CI,
                                       "initial",
                                       "radius 95 % (tokens)",
                                       LRA_TABLE_CI};
    static const char *const key[] = {"layer",
                                      "self",
                                      "self_lo,self_hi",
                                      "dist_mean",
                                      "dist_mean_lo,dist_mean_hi",
                                      "dist_mean_rel",
                                      "dist_mean_rel_lo,dist_mean_rel_hi",
                                      "dist_mean_rel_initial",
                                      "dist_q95",
                                      "dist_q95_lo,dist_q95_hi"};
    lra_table *t = NULL;
    for (int i = 0; i < r->n_units; i++) {
        const lra_probe_unit *u = r->unit[i];
        if (strncmp(u->name, of_layers, sizeof of_layers - 1) != 0) continue;
        if (!t)
            t = new_table("Distance of influential tokens by layer", r,
                          (int)(sizeof head / sizeof *head), head, key);
        lra_table_row(t);
        lra_table_cell(t, "%s", u->name + sizeof of_layers - 1);
        add_measured(t, u, "self", 3);
        add_measured(t, u, "dist.mean", 2);
        add_measured(t, u, "dist.mean.rel", 3);
        add_initial(t, u, "dist.mean.rel", 3);
        add_measured(t, u, "dist.q95", 0);
    }
    if (!t) return NULL;
    lra_table_note(t, "layer\tthe features after this layer, as functions of the embeddings "
                      "(Jacobians); in the order of the model");
    lra_table_note(t, "self\tshare of the position's own token; distances are of the other tokens");
    lra_table_note(t, "distance/uniform\tmean distance over that of uniform weights under the same "
                      "mask; 1: indifferent to distance; initial: at initialisation");
    lra_table_note(t, "CI\t95 %% interval over rows");
    return t;
}

/* ---- retrieval ------------------------------------------------------------------------------- */

static lra_table *retrieval_table(const lra_probe_result *r)
{
    const lra_probe_array *x = array_of(r, "retrieval", "x"), *depth, *map;
    depth = array_of(r, "retrieval", "depth"), map = array_of(r, "retrieval", "accuracy");
    if (!x || x->rank != 1 || !depth || !map || map->rank != 3 || map->dims[2] != 3) return NULL;
    int64_t D = map->dims[1];
    if (map->dims[0] != x->dims[0] || depth->dims[0] != D || D > MOST_DEPTHS) return NULL;
    char *head[1 + 2 * MOST_DEPTHS], *key[1 + 2 * MOST_DEPTHS];
    head[0] = lra_copy_text("length (tokens)"), key[0] = lra_copy_text("length");
    for (int64_t d = 0; d < D; d++) {
        double at = 100 * (double)depth->value[d];
        head[1 + 2 * d] = lra_format("depth %.0f %%", at);
        head[2 + 2 * d] = lra_copy_text("");
        key[1 + 2 * d] = lra_format("depth%.0f_percent", at);
        key[2 + 2 * d] = lra_format("depth%.0f_lo,depth%.0f_hi", at, at);
    }
    lra_table *t = new_table("Retrieval of a random fact (% correct)", r, (int)(1 + 2 * D),
                             (const char *const *)head, (const char *const *)key);
    for (int64_t c = 0; c < 1 + 2 * D; c++) {
        lra_free(head[c]);
        lra_free(key[c]);
    }
    for (int64_t l = 0; l < x->dims[0]; l++) {
        lra_table_row(t);
        lra_table_number(t, (double)x->value[l], 0);
        for (int64_t d = 0; d < D; d++) add_cells(t, map, l * D + d, 100, 1);
    }
    const lra_probe_unit *u = lra_probe_unit_find(r, "retrieval");
    const lra_measurement *all = lra_probe_measurement(u, "retrieval.accuracy");
    if (all) lra_table_note(t, "chance: %.1f %%", 100 * all->null[LRA_NULL_UNIFORM]);
    lra_table_note(t,
                   "depth\tshare of the input before the fact KEY VALUE; the input ends with KEY");
    lra_table_note(t, "correct\tVALUE has the largest probability of the candidates. Intervals: "
                      "'--json', or '--format csv'");
    return t;
}

/* ---- key tokens ------------------------------------------------------------------------------ */

static lra_table *key_table(const lra_probe_result *r)
{
    static const char *const head[] = {
        "row", "index", "token", "ln p, full", "ln p, restricted", "difference"};
    static const char *const key[] = {
        "row", "index", "token", "logprob_full", "logprob_restricted", "difference"};
    const lra_probe_array *list = array_of(r, "context-curve.key", "token"),
                          *length = array_of(r, "context-curve.key", "length");
    if (!length || (list && (list->rank != 2 || list->dims[1] != FACTS))) return NULL;
    char *title = lra_format("Key tokens, context of %.0f", (double)length->value[0]);
    lra_table *t = new_table(title, r, 6, head, key);
    int64_t n = list ? list->dims[0] : 0;
    for (int64_t i = 0; i < n && i < SHOWN; i++) {
        const float *x = list->value + FACTS * i;
        lra_table_row(t);
        for (int k = 0; k < 3; k++) lra_table_number(t, (double)x[k], 0);
        lra_table_number(t, (double)x[3], 3);
        lra_table_number(t, (double)x[4], 3);
        lra_table_number(t, (double)(x[4] - x[3]), 3);
    }
    lra_table_note(t,
                   "%" PRId64 " predicted tokens lose more than 2 nats of log-probability if the "
                   "model sees only %.0f tokens before them%s",
                   n, (double)length->value[0],
                   n > SHOWN ? "; those that lose most are listed, the file has all" : "");
    lra_table_note(t,
                   "row\trow of the test split (of a stream: window); index: of the token in it, "
                   "from 0; token: its id");
    lra_free(title);
    return t;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    static lra_table *(*const kinds[MOST_TABLES])(const lra_probe_result *) = {
        context_table, position_table, layer_table, retrieval_table, key_table};
    int n = 0;
    *list = lra_alloc_array(MOST_TABLES * (size_t)in->n_probes + 1, sizeof **list);
    (*list)[n++] = lra_probe_measurements_table("Language models: context and retrieval",
                                                in->probes, in->n_probes, headline);
    for (int i = 0; i < MOST_TABLES * in->n_probes; i++) {
        lra_table *t = kinds[i % MOST_TABLES](in->probes[i / MOST_TABLES]);
        if (t) (*list)[n++] = t;
    }
    if (n > 1 && (*list)[0]->n_rows == 0) { /* no part except layers was measured */
        lra_table_free((*list)[0]);
        memmove(*list, *list + 1, (size_t)--n * sizeof **list);
    }
    if (n > 1 || (n == 1 && (*list)[0]->n_rows > 0)) return n;
    lra_tables_free(*list, n);
    *list = NULL;
    return lra_fail(e, "no run has measurements of a language model; 'lra-probe influence RUN "
                       "--parts context-curve,token-loss,layers,retrieval' makes them");
}

static lra_table *records(const lra_report_input *in, lra_table *const *list, int n)
{
    (void)n;
    return lra_probe_records(list[0]->title, in);
}

const lra_report_table lra_table_language = {
    "language",
    "language models: loss by context length and position, layers, key tokens, retrieval", make,
    LRA_FROM_INFLUENCE, records};
