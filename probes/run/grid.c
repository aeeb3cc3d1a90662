/* Builds grids of settings and the commands of their runs (grid.h). */
#include "probes/run/grid.h"

#include <ctype.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "probes/run/values.h"

enum { MOST_BYTES = 1 << 16 };

/* Settings of a run that have options of their own and select something by name. The title of a run
 * contains the first two. */
static const char *const chosen[] = {"task",      "model",    "preset",    "precision",
                                     "objective", "schedule", "techniques"};
enum { N_CHOSEN = sizeof chosen / sizeof *chosen };

static bool is_chosen(const char *key)
{
    int i = 0;
    while (i < N_CHOSEN && strcmp(chosen[i], key) != 0) i++;
    return i < N_CHOSEN;
}

/* Recomputes the number of combinations. */
static void count(lra_grid *g)
{
    g->n = g->n_points ? g->n_points : g->n_axes > 0;
    for (int a = 0; a < g->n_axes; a++) g->n *= g->axis[a].n;
}

static int check_count(const lra_grid *g, lra_err *e)
{
    if (g->n <= LRA_GRID_COMBINATIONS) return 0;
    return lra_fail_usage(e, "%d combinations or more; expected at most %d", g->n,
                          LRA_GRID_COMBINATIONS);
}

int lra_grid_add(lra_grid *g, const char *text, lra_err *e)
{
    size_t n = strcspn(text, "="), used = n;
    while (used && strchr(" \t", text[used - 1])) used--;
    if (used == 0 || !text[n]) return lra_fail_usage(e, "'%s', expected KEY=VALUE,VALUE,...", text);
    if (g->n_axes == LRA_GRID_AXES)
        return lra_fail_usage(e, "more than %d settings vary", LRA_GRID_AXES);
    lra_grid_axis *a = &g->axis[g->n_axes];
    a->n = lra_values_read(text + n + 1, LRA_GRID_VALUES, a->value, e);
    if (a->n < 0) return a->n;
    a->key = lra_format("%.*s", (int)used, text);
    g->n_axes++;
    count(g);
    for (int i = 0; i < g->n_axes - 1; i++)
        if (strcmp(g->axis[i].key, a->key) == 0)
            return lra_fail_usage(e, "'%s' varies twice", a->key);
    return check_count(g, e);
}

/* Adds the axis of a line KEY = VALUE, ..; ignores blank lines and comments. */
static int add_line(lra_grid *g, char *line, lra_err *e)
{
    line[strcspn(line, "#")] = 0;
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--) line[n - 1] = 0;
    return *line ? lra_grid_add(g, line, e) : 0;
}

/* ---- points ---------------------------------------------------------------------------------- */

static bool are_equal(const lra_config *a, const lra_config *b)
{
    char *left = lra_config_lines(a), *right = lra_config_lines(b);
    bool equal = strcmp(left, right) == 0;
    lra_free(left);
    lra_free(right);
    return equal;
}

void lra_grid_add_point(lra_grid *g, lra_config *point)
{
    int i = 0;
    while (i < g->n_points && !are_equal(g->point[i], point)) i++;
    if (i < g->n_points) {
        lra_config_free(point);
        return;
    }
    g->point = lra_resize(g->point, ((size_t)g->n_points + 1) * sizeof(lra_config *));
    g->point[g->n_points++] = point;
}

static bool point_is(const lra_config *point, const char *key, int n, const char *const *value)
{
    bool is = false;
    for (int i = 0; i < n && !is; i++)
        is = strcmp(lra_config_text_or(point, key, ""), value[i]) == 0;
    return is;
}

static bool all_occur(const lra_grid *g, const char *key, int n, const char *const *value)
{
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < g->n_points && !point_is(g->point[k], key, 1, &value[i])) k++;
        if (k == g->n_points) return false;
    }
    return true;
}

/* Removes points with other values of the key, if the points have all n values; then removes the
 * key from all points. */
static void restrict_points(lra_grid *g, const char *key, int n, const char *const *value)
{
    bool filter = all_occur(g, key, n, value);
    lra_config **old = g->point;
    int n_old = g->n_points;
    g->point = NULL, g->n_points = 0;
    for (int i = 0; i < n_old; i++) {
        if (filter && !point_is(old[i], key, n, value)) {
            lra_config_free(old[i]);
            continue;
        }
        if (!filter) lra_config_remove(old[i], key);
        lra_grid_add_point(g, old[i]);
    }
    lra_free(old);
}

static void remove_axis(lra_grid *g, int a)
{
    for (int i = 0; i < g->axis[a].n; i++) lra_free(g->axis[a].value[i]);
    lra_free(g->axis[a].key);
    for (g->n_axes--; a < g->n_axes; a++) g->axis[a] = g->axis[a + 1];
}

int lra_grid_end_points(lra_grid *g, const lra_options *o, lra_err *e)
{
    for (int a = g->n_axes - 1; a >= 0; a--) {
        const char *const *value = (const char *const *)g->axis[a].value;
        bool filter = all_occur(g, g->axis[a].key, g->axis[a].n, value);
        restrict_points(g, g->axis[a].key, g->axis[a].n, value);
        if (filter) remove_axis(g, a); /* the points already have its values */
    }
    for (int i = 0; i < N_CHOSEN; i++) {
        const char *value = lra_option_given(o, chosen[i]) ? lra_option_text(o, chosen[i]) : NULL;
        if (!value) continue;
        restrict_points(g, chosen[i], 1, &value);
        for (int k = 0; k < g->n_points; k++) lra_config_remove(g->point[k], chosen[i]);
    }
    count(g);
    return check_count(g, e);
}

/* ---- axes ------------------------------------------------------------------------------------ */

char *lra_grid_take(lra_grid *g, const char *key)
{
    int a = 0;
    while (a < g->n_axes && strcmp(g->axis[a].key, key) != 0) a++;
    if (a == g->n_axes) return NULL;
    lra_grid_axis *axis = &g->axis[a];
    lra_text list = {0};
    for (int i = 0; i < axis->n; i++) lra_text_add(&list, "%s%s", i ? "," : "", axis->value[i]);
    remove_axis(g, a);
    count(g);
    return list.s;
}

int lra_grid_read(lra_grid *g, const char *path, lra_err *e)
{
    size_t n = 0;
    char *text = lra_file_read(path, MOST_BYTES, &n, e), *next = text;
    if (!text) return LRA_FAILED;
    int rc = 0, number = 0;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) next += 3; /* skip a UTF-8 byte order mark */
    if (strlen(text) < n) rc = lra_fail(e, "'%s' contains a zero byte; expected text", path);
    while (rc == 0 && next) {
        char *line = next;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        number++;
        if (add_line(g, line, e) != 0) rc = lra_fail_in(e, "'%s', line %d", path, number);
    }
    if (rc == 0 && g->n_axes == 0)
        rc = lra_fail(e, "'%s' contains no settings; expected lines KEY = VALUE, VALUE, ...", path);
    lra_free(text);
    return rc;
}

int lra_grid_check(const lra_grid *g, const lra_options *o, lra_err *e)
{
    for (int a = 0; a < g->n_axes; a++) {
        const char *key = g->axis[a].key, *set;
        size_t n = strlen(key);
        if (is_chosen(key) && lra_option_given(o, key))
            return lra_fail_usage(e, "--%s is given, but '%s' already varies; remove one", key,
                                  key);
        for (int i = 0; (set = lra_option_repeat(o, "set", i)) != NULL; i++)
            if (strncmp(set, key, n) == 0 && set[n] == '=')
                return lra_fail_usage(e, "'%s': '%s' already varies; remove it from --set", set,
                                      key);
    }
    return 0;
}

void lra_grid_free(lra_grid *g)
{
    while (g->n_axes > 0) remove_axis(g, g->n_axes - 1);
    for (int i = 0; i < g->n_points; i++) lra_config_free(g->point[i]);
    lra_free(g->point);
    *g = (lra_grid){0};
}

/* ---- combinations ---------------------------------------------------------------------------- */

/* Value of axis number `axis` in combination i. */
static const char *value_of(const lra_grid *g, int i, int axis)
{
    for (int a = g->n_axes - 1; a > axis; a--) i /= g->axis[a].n;
    return g->axis[axis].value[i % g->axis[axis].n];
}

/* Point of combination i; NULL: the grid has no points. */
static const lra_config *point_of(const lra_grid *g, int i)
{
    return g->n_points ? g->point[i / (g->n / g->n_points)] : NULL;
}

static bool is_relation(const char *key)
{
    return strcmp(key, "from") == 0 || strcmp(key, "matched") == 0;
}

static void add_setting(lra_command_words *w, const char *key, const char *value)
{
    bool option = is_chosen(key) || is_relation(key);
    lra_command_words_add(w, lra_format("--%s%s=%s", option ? "" : "set=", key, value));
}

void lra_grid_command(const lra_grid *g, int i, const lra_options *o, lra_command_words *w)
{
    const char *except[LRA_GRID_AXES + N_CHOSEN + 1] = {NULL};
    const lra_config *point = point_of(g, i);
    int n = 0;
    for (int a = 0; a < g->n_axes; a++)
        if (is_chosen(g->axis[a].key)) except[n++] = g->axis[a].key;
    for (int k = 0; k < N_CHOSEN; k++)
        if (point && lra_config_has(point, chosen[k])) except[n++] = chosen[k];
    lra_cell_command(w, o, except);
    for (int a = 0; a < g->n_axes; a++) add_setting(w, g->axis[a].key, value_of(g, i, a));
    for (int k = 0; point && k < N_CHOSEN; k++)
        if (lra_config_has(point, chosen[k]))
            add_setting(w, chosen[k], lra_config_text(point, chosen[k]));
    for (int k = 0; point && lra_config_key(point, k); k++)
        if (!is_chosen(lra_config_key(point, k)))
            add_setting(w, lra_config_key(point, k), lra_config_value(point, k));
}

/* True if the key has different values in some points, or some have no value. */
static bool differs(const lra_grid *g, const char *key)
{
    bool is = false;
    for (int k = 1; k < g->n_points && !is; k++)
        is = strcmp(lra_config_text_or(g->point[k], key, ""),
                    lra_config_text_or(g->point[0], key, "")) != 0;
    return is;
}

static void add_difference(lra_text *t, const lra_grid *g, int i, const char *key)
{
    const char *value = lra_config_text_or(point_of(g, i), key, NULL);
    if (value && differs(g, key)) lra_text_add(t, "%s%s=%s", t->n ? " " : "", key, value);
}

/* "KEY=VALUE .." of combination i, for settings with several values. skipped: number of keys at the
 * start of `chosen` that are left out. NULL: no such setting. */
static char *differences(const lra_grid *g, int i, int skipped)
{
    lra_text t = {0};
    for (int a = 0; a < g->n_axes; a++) {
        const char *key = g->axis[a].key;
        bool named = g->axis[a].n == 1;
        for (int k = 0; k < skipped; k++) named = named || strcmp(key, chosen[k]) == 0;
        if (!named) lra_text_add(&t, "%s%s=%s", t.n ? " " : "", key, value_of(g, i, a));
    }
    const lra_config *point = point_of(g, i);
    for (int k = skipped; point && k < N_CHOSEN; k++) add_difference(&t, g, i, chosen[k]);
    for (int k = 0; point && lra_config_key(point, k); k++)
        if (!is_chosen(lra_config_key(point, k)))
            add_difference(&t, g, i, lra_config_key(point, k));
    return t.s;
}

char *lra_grid_label(const lra_grid *g, int i)
{
    return differences(g, i, 2);
}

char *lra_grid_name(const lra_grid *g, int i)
{
    char *name = differences(g, i, 0);
    return name ? name : lra_copy_text("the run");
}
