/* Names ladders by the properties in which they differ (ladder_names.h). */
#include "reports/ladder/ladder_names.h"
#include "reports/views/model_names.h"

#include <string.h>

#include "kernels/base/core/mem.h"

enum { MODEL = 2, KIND = 4, SEEDS, FLAGS, MOST_SETTINGS = 3 };

/* Axis and match of a ladder: "over dilation, matched in FLOPs" */
static char *kind_of(const lra_ladder_kind *k)
{
    bool kernels = strcmp(k->axis, "kernel") == 0, matched = strcmp(k->match, "none") != 0;
    bool flops = strcmp(k->match, "flops") == 0;
    if (lra_ladder_is_published(k)) return lra_copy_text("kernel sizes");
    return lra_format("%s%s%s%s", kernels ? "" : "over ", kernels ? "" : k->axis,
                      matched && !kernels ? ", " : "",
                      !matched ? ""
                      : flops  ? "matched in FLOPs"
                               : "matched in parameters");
}

/* Flags of a ladder, separated by commas, without flags of measurements that figures do not
 * show. */
static char *flags_of(const lra_ladder_view *v)
{
    const unsigned shown = v->flags & ~(unsigned)(LRA_FLAG_CENSORED | LRA_FLAG_UNRESOLVED);
    char flags[LRA_FLAGS_TEXT];
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (const char *c = lra_result_flags(v->first, shown, flags); *c; c++)
        lra_text_add(&t, "%s%c", *c == ' ' ? "," : "", *c);
    return t.s;
}

/* Part i of a ladder's name: task, preset, model, precision, axis and match, seeds, or flags. The
 * caller frees it. */
static char *part(const lra_ladder_view *v, int i)
{
    const lra_result *r = v->first;
    const char *const text[] = {r->task, r->preset, r->model, r->precision};
    if (i == MODEL) return lra_model_shown(r->model, r->model, r->config);
    if (i < KIND) return lra_copy_text(text[i]);
    if (i == KIND) return kind_of(&v->kind);
    if (i == FLAGS) return flags_of(v);
    int n = v->data.n_seeds;
    return lra_format("%d seed%s", n, n == 1 ? "" : "s");
}

/* True if part i of every ladder's name is this text. */
static bool all_have(const lra_ladder_view *views, int n, int i, const char *text)
{
    bool same = true;
    for (int v = 0; v < n; v++) {
        char *other = part(&views[v], i);
        same = same && strcmp(text, other) == 0;
        lra_free(other);
    }
    return same;
}

static void add_word(lra_text *t, const char *word)
{
    if (*word) lra_text_add(t, "%s%s", t->n ? ", " : "", word);
}

/* Appends the parts of ladder k's name that all ladders share (shared: true), or the others. */
static void add_parts(lra_text *t, const lra_ladder_view *views, int n, int k, bool shared)
{
    for (int i = 0; i < FLAGS; i++) { /* the flags are not part of the name, but of a caption */
        char *own = part(&views[k], i);
        bool is_shown = shared ? i != KIND || !lra_ladder_is_published(&views[k].kind) : true;
        if (all_have(views, n, i, own) == shared && is_shown) add_word(t, own);
        lra_free(own);
    }
}

/* True if the key is the axis of a ladder, or the key that --match solved for. */
static bool is_own(const lra_ladder_view *views, int n, const char *key)
{
    bool own = false;
    for (int v = 0; v < n; v++)
        own = own || strcmp(key, views[v].kind.axis) == 0 || strcmp(key, views[v].kind.key) == 0;
    return own;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* Settings of a ladder, with all parameters of the task. NULL: its configuration cannot be read. */
static lra_config *settings_of(const lra_ladder_view *v)
{
    /* Settings of single runs, and settings that are parts of the name already, are removed. */
    static const char *const others[] = {
        "seed",      "data",         "version",    "task",          "model",        "preset",
        "precision", "model.kernel", "train.from", "train.related", "train.matched"};
    const char *more = v->first->task_parameters;
    lra_config *c = lra_config_parse(v->first->config, NULL),
               *task = lra_config_parse(more ? more : "", NULL);
    for (int i = 0; c && task && lra_config_key(task, i); i++) {
        char *key = lra_format("task.%s", lra_config_key(task, i));
        lra_config_set(c, key, lra_config_value(task, i));
        lra_free(key);
    }
    for (size_t i = 0; c && i < sizeof others / sizeof *others; i++)
        lra_config_remove(c, others[i]);
    const char *const own[] = {v->kind.axis, v->kind.key};
    for (int i = 0; i < 2 && c; i++) {
        char *key = lra_format("model.%s", own[i]);
        lra_config_remove(c, key);
        lra_free(key);
    }
    lra_config_free(task);
    return c;
}

/* Appends "distance 8", ..: settings of c that another ladder does not have. */
static void add_settings(lra_text *t, const lra_config *c, lra_config *const *all,
                         const lra_ladder_view *views, int n)
{
    for (int i = 0, added = 0; lra_config_key(c, i) && added < MOST_SETTINGS; i++) {
        const char *key = lra_config_key(c, i), *value = lra_config_value(c, i);
        const char *point = strchr(key, '.');
        bool same = true;
        for (int v = 0; v < n; v++)
            same = same && all[v] && strcmp(lra_config_text_or(all[v], key, ""), value) == 0;
        if (same || (strncmp(key, "model.", 6) == 0 && is_own(views, n, key + 6))) continue;
        char *word = lra_format("%s %s", point ? point + 1 : key, value);
        add_word(t, word);
        lra_free(word);
        added++;
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

char *lra_ladders_shared_name(const lra_ladder_view *views, int n)
{
    lra_text t = {0};
    add_parts(&t, views, n, 0, true);
    return t.s ? t.s : lra_copy_text("");
}

char *lra_ladder_own_name(const lra_ladder_view *views, int n, int k)
{
    lra_text t = {0};
    lra_config **all = lra_alloc_array((size_t)n, sizeof *all);
    if (n > 1 && all_have(views, n, 0, views[k].first->task)) {
        for (int v = 0; v < n; v++) all[v] = settings_of(&views[v]);
        if (all[k]) add_settings(&t, all[k], all, views, n);
    }
    add_parts(&t, views, n, k, false);
    for (int v = 0; v < n; v++) lra_config_free(all[v]);
    lra_free(all);
    return t.s ? t.s : lra_copy_text("");
}

char *lra_ladders_flags(const lra_ladder_view *views, int n)
{
    lra_text t = {0};
    for (int v = 0; v < n; v++) {
        char *flags = flags_of(&views[v]), *own = n > 1 ? lra_ladder_own_name(views, n, v) : NULL;
        if (*flags && t.n == 0)
            lra_text_add(&t, "flags, explained below table 'ladder': ");
        else if (*flags)
            lra_text_add(&t, "; ");
        if (*flags) lra_text_add(&t, "%s%s%s", n > 1 ? own : "", n > 1 ? ": " : "", flags);
        lra_free(flags);
        lra_free(own);
    }
    return t.s;
}
