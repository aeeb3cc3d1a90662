/* Groups results into ladders (ladder_rungs.h). */
#include "reports/ladder/ladder_rungs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/results/result_metric.h"

static const double WITHIN = 0.02; /* relative tolerance of the matched count, as in --match */

/* ---- settings of a result ------------------------------------------------------------------ */

/* Writes the start of a configuration line: "model.KEY=". */
static void line_of(const char *key, char line[LRA_LADDER_WORD + 8])
{
    snprintf(line, LRA_LADDER_WORD + 8, "model.%s=", key);
}

int64_t lra_ladder_setting(const lra_result *r, const char *key)
{
    char line[LRA_LADDER_WORD + 8];
    line_of(key, line);
    for (const char *at = r->config; *at;) {
        size_t n = strcspn(at, "\n");
        if (strncmp(at, line, strlen(line)) == 0) return strtoll(at + strlen(line), NULL, 10);
        at += n + (at[n] == '\n');
    }
    return -1;
}

static bool set_word(char to[LRA_LADDER_WORD], const char *word)
{
    bool fits = strlen(word) < LRA_LADDER_WORD &&
                strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(word);
    if (fits) snprintf(to, LRA_LADDER_WORD, "%s", word);
    return fits && *word;
}

static int kind_of(const lra_result *r, lra_ladder_kind *k, lra_err *e)
{
    *k = (lra_ladder_kind){.axis = "kernel", .default_value = -1, .match = "none"};
    if (!r->ladder || !*r->ladder) return 0;
    lra_config *c = lra_config_parse(r->ladder, e);
    if (!c) return LRA_FAILED;
    k->default_value = strtoll(lra_config_text_or(c, "default", "-1"), NULL, 10);
    k->reference = strtoll(lra_config_text_or(c, "reference", "-1"), NULL, 10);
    k->count = strtod(lra_config_text_or(c, "count", "0"), NULL);
    bool good = set_word(k->axis, lra_config_text_or(c, "axis", "")) &&
                set_word(k->match, lra_config_text_or(c, "match", "none"));
    if (good && strcmp(k->match, "none") != 0)
        good = set_word(k->key, lra_config_text_or(c, "key", "")) && k->count > 0;
    lra_config_free(c);
    return good ? 0
                : lra_fail(e, "run '%s': attribute 'ladder' is '%s', expected keys axis and match",
                           r->run, r->ladder);
}

static bool is_matched(const lra_ladder_kind *k)
{
    return strcmp(k->match, "none") != 0;
}

static bool is_kernels(const lra_ladder_kind *k)
{
    return strcmp(k->axis, "kernel") == 0;
}

static bool same_kind(const lra_ladder_kind *a, const lra_ladder_kind *b)
{
    return strcmp(a->axis, b->axis) == 0 && strcmp(a->match, b->match) == 0 &&
           (!is_matched(a) || (strcmp(a->key, b->key) == 0 && a->count == b->count));
}

static double count_of(const lra_result *r, const lra_ladder_kind *k)
{
    return strcmp(k->match, "params") == 0 ? (double)r->training.parameters
                                           : r->training.step_flops;
}

/* True if a result that was trained for ladder `from` has the matched count of ladder k. The
 * relative tolerance is WITHIN if the size was solved, that is, if `from` is matched in the same
 * key over the same axis; otherwise the counts must be equal. */
static bool has_count(const lra_result *r, const lra_ladder_kind *from, const lra_ladder_kind *k)
{
    double off = fabs(count_of(r, k) - k->count);
    bool solved = is_matched(from) && strcmp(from->axis, k->axis) == 0 &&
                  strcmp(from->key, k->key) == 0;
    return off <= (solved ? WITHIN * k->count : 0);
}

int64_t lra_ladder_size(const lra_ladder_kind *k, const lra_result *r)
{
    if (!is_matched(k)) return -1;
    int64_t size = lra_ladder_setting(r, k->key);
    lra_config *c = r->ladder ? lra_config_parse(r->ladder, &(lra_err){{0}}) : NULL;
    const char *value = c ? lra_config_text_or(c, "value", NULL) : NULL;
    if (value) size = strtoll(value, NULL, 10);
    lra_config_free(c);
    return size >= 0 ? size : k->reference;
}

bool lra_ladder_is_published(const lra_ladder_kind *k)
{
    return is_kernels(k) && !is_matched(k);
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *lra_ladder_rung_name(const lra_ladder_kind *k, int64_t value, char text[48])
{
    snprintf(text, 48, "%s = %" PRId64, is_kernels(k) ? "K" : k->axis, value);
    return text;
}

char *lra_ladder_kind_text(const lra_ladder_kind *k)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    if (!is_kernels(k)) lra_text_add(&t, ", over %s", k->axis);
    if (is_matched(k))
        lra_text_add(&t, ", %s chosen for %.6g %s", k->key, k->count,
                     strcmp(k->match, "params") == 0 ? "parameters" : "FLOPs per step");
    return t.s;
}

bool lra_ladder_is_own_line(const lra_ladder_kind *k, const char *line)
{
    char axis[LRA_LADDER_WORD + 8], key[LRA_LADDER_WORD + 8];
    line_of(k->axis, axis);
    line_of(k->key, key);
    return strncmp(line, axis, strlen(axis)) == 0 || strncmp(line, "seed=", 5) == 0 ||
           (is_matched(k) && strncmp(line, key, strlen(key)) == 0);
}

/* ---- ladders --------------------------------------------------------------------------------- */

static char *identity(const lra_result *r, const lra_ladder_kind *k)
{
    char axis[LRA_LADDER_WORD + 8], key[LRA_LADDER_WORD + 8];
    line_of(k->axis, axis);
    line_of(k->key, key);
    const char *const own[] = {"seed=", axis, key};
    char *common = lra_result_identity(r, is_matched(k) ? 3 : 2, own);
    char *text = !lra_ladder_is_published(k)
                     ? lra_format("%s%s %s %.17g\n", common, k->axis, k->match, k->count)
                     : lra_copy_text(common);
    lra_free(common);
    return text;
}

/* Value of the axis of k for a result; -1: none. A run without ladder attributes is a rung of a
 * ladder of kernels only if its kernel bounds its reach, because other models can have a key of the
 * same name. */
static int64_t value_of(const lra_result *r, const lra_ladder_kind *from, const lra_ladder_kind *k)
{
    bool named = from->default_value >= 0;
    if (is_kernels(k) && !named) return r->reach >= 0 ? r->kernel : -1;
    int64_t value = is_kernels(k) && r->kernel > 0 ? r->kernel : lra_ladder_setting(r, k->axis);
    return value < 0 ? k->default_value : value;
}

/* Adds a result that was trained for ladder `from` as a member, if it is or can be a rung of a
 * ladder of kind k. */
static int add(lra_ladder_member *m, const lra_result *r, const lra_ladder_kind *from,
               const lra_ladder_kind *k)
{
    bool own = same_kind(from, k);
    int64_t value = value_of(r, from, k);
    if (value <= 0 || (!own && is_matched(k) && !has_count(r, from, k))) return 0;
    *m = (lra_ladder_member){r, *k, identity(r, k), value, own};
    return 1;
}

static int by_ladder(const void *a, const void *b)
{
    const lra_ladder_member *x = a, *y = b;
    int order = strcmp(x->identity, y->identity);
    if (order == 0) order = (x->value > y->value) - (x->value < y->value);
    if (order == 0)
        order = (x->result->seed > y->result->seed) - (x->result->seed < y->result->seed);
    return order ? order : (int)y->own - (int)x->own;
}

static int end_of(const lra_ladder_member *m, int n, int from)
{
    int to = from + 1;
    while (to < n && strcmp(m[to].identity, m[from].identity) == 0) to++;
    return to;
}

/* True if the result is also a rung of another ladder of several rungs, at least one of which was
 * trained for that ladder. */
static bool stands_elsewhere(const lra_ladder_member *m, int n, const lra_ladder_member *x)
{
    for (int from = 0, to; from < n; from = to) {
        bool own = false, here = false;
        to = end_of(m, n, from);
        for (int i = from; i < to; i++)
            own = own || m[i].own, here = here || m[i].result == x->result;
        if (own && here && m[from].value != m[to - 1].value && m[from].identity != x->identity &&
            strcmp(m[from].identity, x->identity) != 0)
            return true;
    }
    return false;
}

/* True if members from .. to - 1 form a ladder: at least one was trained for it, and they are not a
 * single rung of a longer ladder. */
static bool is_ladder(const lra_ladder_member *m, int n, int from, int to)
{
    bool own = false, alone = m[from].value == m[to - 1].value, elsewhere = true;
    for (int i = from; i < to; i++) own = own || m[i].own;
    for (int i = from; i < to && own && alone; i++)
        elsewhere = elsewhere && stands_elsewhere(m, n, &m[i]);
    return own && !(alone && elsewhere);
}

/* True if x has the size of its rung. A rung of a matched ladder has one size: that of the results
 * that were trained for this ladder, or else that of the result with the nearest count. */
static bool is_of_size(const lra_ladder_member *m, int from, int to, const lra_ladder_member *x)
{
    if (!is_matched(&x->kind)) return true;
    const lra_ladder_member *best = x;
    for (int i = from; i < to; i++) {
        if (m[i].value != x->value || m[i].own < best->own) continue;
        double off = fabs(count_of(m[i].result, &x->kind) - x->kind.count);
        if (m[i].own > best->own || off < fabs(count_of(best->result, &x->kind) - x->kind.count))
            best = &m[i];
    }
    return lra_ladder_setting(best->result, x->kind.key) ==
           lra_ladder_setting(x->result, x->kind.key);
}

static int add_kind(lra_ladder_kind *kinds, int n, const lra_ladder_kind *k)
{
    for (int i = 0; i < n; i++)
        if (same_kind(&kinds[i], k)) return n;
    kinds[n] = *k;
    return n + 1;
}

int lra_ladder_members(lra_result *const *list, int n, lra_ladder_member **members, lra_err *e)
{
    lra_ladder_kind *own = lra_alloc_array((size_t)n + 1, sizeof *own);
    lra_ladder_kind *kinds = lra_alloc_array((size_t)n + 1, sizeof *kinds);
    int n_kinds = 0, n_all = 0, n_kept = 0, rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        rc = kind_of(list[i], &own[i], e);
        if (rc == 0) n_kinds = add_kind(kinds, n_kinds, &own[i]);
    }
    lra_ladder_member *all = lra_alloc_array((size_t)n * (size_t)n_kinds + 1, sizeof *all);
    bool *kept = lra_alloc_array((size_t)n * (size_t)n_kinds + 1, sizeof *kept);
    for (int k = 0; k < n_kinds && rc == 0; k++)
        for (int i = 0; i < n; i++) n_all += add(&all[n_all], list[i], &own[i], &kinds[k]);
    qsort(all, (size_t)n_all, sizeof *all, by_ladder);
    for (int from = 0, to; from < n_all; from = to) {
        to = end_of(all, n_all, from);
        bool is = is_ladder(all, n_all, from, to);
        for (int i = from; i < to; i++) kept[i] = is && is_of_size(all, from, to, &all[i]);
    }
    for (int i = 0; i < n_all; i++) {
        if (kept[i])
            all[n_kept++] = all[i];
        else
            lra_free(all[i].identity);
    }
    lra_free(kept);
    lra_free(own);
    lra_free(kinds);
    *members = all;
    if (rc == 0) return n_kept;
    lra_ladder_members_free(all, n_kept);
    *members = NULL;
    return LRA_FAILED;
}

void lra_ladder_members_free(lra_ladder_member *members, int n)
{
    for (int i = 0; i < n; i++) lra_free(members[i].identity);
    lra_free(members);
}
