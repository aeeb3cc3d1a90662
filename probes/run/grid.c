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
static const char *const chosen[] = {"task",      "model",     "preset",
                                     "precision", "objective", "schedule"};
enum { N_CHOSEN = sizeof chosen / sizeof *chosen };

static bool is_chosen(const char *key)
{
    int i = 0;
    while (i < N_CHOSEN && strcmp(chosen[i], key) != 0) i++;
    return i < N_CHOSEN;
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
    g->n = (g->n_axes++ ? g->n : 1) * a->n;
    for (int i = 0; i < g->n_axes - 1; i++)
        if (strcmp(g->axis[i].key, a->key) == 0)
            return lra_fail_usage(e, "'%s' varies twice", a->key);
    if (g->n > LRA_GRID_COMBINATIONS)
        return lra_fail_usage(e, "%d combinations or more; expected at most %d", g->n,
                              LRA_GRID_COMBINATIONS);
    return 0;
}

/* Adds the axis of a line KEY = VALUE, ..; ignores blank lines and comments. */
static int add_line(lra_grid *g, char *line, lra_err *e)
{
    line[strcspn(line, "#")] = 0;
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--) line[n - 1] = 0;
    return *line ? lra_grid_add(g, line, e) : 0;
}

static bool has_key(const lra_grid *g, const char *line)
{
    size_t n = strcspn(line, " =");
    for (int a = 0; a < g->n_axes; a++)
        if (strlen(g->axis[a].key) == n && strncmp(g->axis[a].key, line, n) == 0) return true;
    return false;
}

int lra_grid_add_others(lra_grid *g, const char *lines, lra_err *e)
{
    int rc = 0;
    for (const char *at = lines; *at && rc == 0; at += strcspn(at, "\n") + 1) {
        char *line = lra_format("%.*s", (int)strcspn(at, "\n"), at);
        if (!has_key(g, line)) rc = add_line(g, line, e);
        lra_free(line);
    }
    return rc;
}

char *lra_grid_take(lra_grid *g, const char *key)
{
    int a = 0;
    while (a < g->n_axes && strcmp(g->axis[a].key, key) != 0) a++;
    if (a == g->n_axes) return NULL;
    lra_grid_axis *axis = &g->axis[a];
    lra_text list = {0};
    g->n = g->n_axes > 1 ? g->n / axis->n : 0;
    for (int i = 0; i < axis->n; i++) {
        lra_text_add(&list, "%s%s", i ? "," : "", axis->value[i]);
        lra_free(axis->value[i]);
    }
    lra_free(axis->key);
    for (g->n_axes--; a < g->n_axes; a++) g->axis[a] = g->axis[a + 1];
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
    for (int a = 0; a < g->n_axes; a++) {
        for (int i = 0; i < g->axis[a].n; i++) lra_free(g->axis[a].value[i]);
        lra_free(g->axis[a].key);
    }
    *g = (lra_grid){0};
}

/* Value of axis number `axis` in combination i. */
static const char *value_of(const lra_grid *g, int i, int axis)
{
    for (int a = g->n_axes - 1; a > axis; a--) i /= g->axis[a].n;
    return g->axis[axis].value[i % g->axis[axis].n];
}

void lra_grid_command(const lra_grid *g, int i, const lra_options *o, lra_command_words *w)
{
    const char *except[LRA_GRID_AXES + 1] = {NULL};
    int n = 0;
    for (int a = 0; a < g->n_axes; a++)
        if (is_chosen(g->axis[a].key)) except[n++] = g->axis[a].key;
    lra_cell_command(w, o, except);
    for (int a = 0; a < g->n_axes; a++) {
        const char *key = g->axis[a].key;
        lra_command_words_add(
            w, lra_format("--%s%s=%s", is_chosen(key) ? "" : "set=", key, value_of(g, i, a)));
    }
}

/* "KEY=VALUE .." of combination i, for axes with several values. skipped: number of keys at the
 * start of `chosen` that are left out. NULL: no such axis. */
static char *differences(const lra_grid *g, int i, int skipped)
{
    lra_text t = {0};
    for (int a = 0; a < g->n_axes; a++) {
        const char *key = g->axis[a].key;
        bool named = g->axis[a].n == 1;
        for (int k = 0; k < skipped; k++) named = named || strcmp(key, chosen[k]) == 0;
        if (!named) lra_text_add(&t, "%s%s=%s", t.n ? " " : "", key, value_of(g, i, a));
    }
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
