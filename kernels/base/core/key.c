/* Tables of settings: checks of values, canonical text, defaults. */
#include "kernels/base/core/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/cli/options.h"

/* ---- one value ------------------------------------------------------------------------------- */

void lra_real_text(double value, char text[40])
{
    /* exponents of numbers that are written without exponent; below 1e15 every digit is exact */
    enum { LEAST = -4, MOST = 15 };
    int digits = 0;
    do snprintf(text, 40, "%.*e", digits, value);
    while (strtod(text, NULL) != value && ++digits < 17);
    char *e = strchr(text, 'e');
    if (!e) return; /* infinity and NaN have no exponent */
    int exponent = (int)strtol(e + 1, NULL, 10), decimals = digits - exponent;
    if (value == 0)
        snprintf(text, 40, "0"); /* -0 is written as 0 */
    else if (exponent >= LEAST && exponent < MOST)
        snprintf(text, 40, "%.*f", decimals > 0 ? decimals : 0, value);
    else
        snprintf(e, (size_t)(text + 40 - e), "e%d", exponent);
}

/* Index of `value` among the choices; -1: it is not one of them. */
static int choice_of(const char *choices, const char *value)
{
    const char *at = choices;
    for (int i = 0; *at; i++) {
        size_t n = strcspn(at, "|");
        if (strlen(value) == n && strncmp(value, at, n) == 0) return i;
        at += n + (at[n] == '|');
    }
    return -1;
}

const char *lra_key_kind_name(const lra_key *k)
{
    static const char *const names[] = {"int", "real", "flag", "choice", "text", "column"};
    return names[k->kind];
}

char *lra_key_range(const lra_key *k)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    switch (k->kind) {
    case LRA_KEY_INT:
    case LRA_KEY_REAL: lra_text_add(&t, "%.15g to %.15g", k->min, k->max); break;
    case LRA_KEY_FLAG: lra_text_add(&t, "0 or 1"); break;
    case LRA_KEY_TEXT:
    case LRA_KEY_COLUMN: break;
    case LRA_KEY_CHOICE:
        for (const char *at = k->choices; *at;) {
            size_t n = strcspn(at, "|");
            bool last = !at[n], one_more = !last && !strchr(at + n + 1, '|');
            lra_text_add(&t, "%.*s%s", (int)n, at, last ? "" : one_more ? " or " : ", ");
            at += n + !last;
        }
    }
    return t.s;
}

static int fail_value(const lra_key *k, const char *value, lra_err *e)
{
    static const char *const what[] = {"an integer from ", "a number from ", "", "",
                                       "one word",         "a name"};
    char *range = lra_key_range(k);
    int rc = lra_fail_usage(e, "'%s' is '%s', expected %s%s", k->name, value, what[k->kind], range);
    lra_free(range);
    return rc;
}

/* Returns the name with blanks, '%' and control characters as %XX, so that it is one word. */
static char *escaped(const char *value)
{
    lra_text t = {0};
    for (const char *c = value; *c; c++) {
        bool hex = *c == '%' && c[1] == '2' &&
                   (c[2] == '0' || c[2] == '5'); /* %20 or %25: escaped already */
        if (*c == ' ' || (*c == '%' && !hex))
            lra_text_add(&t, "%%%02X", (unsigned)(unsigned char)*c);
        else
            lra_text_bytes(&t, c, 1);
    }
    return t.s;
}

char *lra_key_text(const lra_key *k, const char *value, lra_err *e)
{
    int64_t i;
    double r;
    char text[40];
    switch (k->kind) {
    case LRA_KEY_INT:
        if (!lra_parse_int(value, &i) || (double)i < k->min || (double)i > k->max) break;
        return lra_format("%" PRId64, i);
    case LRA_KEY_REAL:
        if (!lra_parse_real(value, &r) || r < k->min || r > k->max) break;
        lra_real_text(r, text);
        return lra_copy_text(text);
    case LRA_KEY_FLAG:
        if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0) break;
        return lra_copy_text(value);
    case LRA_KEY_CHOICE:
        if (choice_of(k->choices, value) < 0) break;
        return lra_copy_text(value);
    case LRA_KEY_TEXT:
        if (!*value || value[strcspn(value, " \t\r\n")]) break;
        return lra_copy_text(value);
    case LRA_KEY_COLUMN:
        if (!*value || !lra_printable(value)) break;
        return escaped(value);
    }
    fail_value(k, value, e);
    return NULL;
}

/* ---- tables ---------------------------------------------------------------------------------- */

const lra_key *lra_key_find(const lra_key *keys, const char *name)
{
    for (const lra_key *k = keys; k && k->name; k++)
        if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

void lra_keys_add(const lra_key *keys, lra_config *to)
{
    for (const lra_key *k = keys; k && k->name; k++) {
        lra_err e;
        char *value = lra_key_text(k, k->value, &e);
        if (!value) LRA_BUG("a default is wrong: %s", e.msg);
        lra_config_set(to, k->name, value);
        lra_free(value);
    }
}

lra_config *lra_keys_config(const lra_key *keys)
{
    lra_config *c = lra_config_new();
    lra_keys_add(keys, c);
    return c;
}

static int fail_unknown(const lra_key *keys, const char *name, const char *what, lra_err *e)
{
    int n = 0;
    for (const lra_key *k = keys; k && k->name; k++) n++;
    const char **names = lra_alloc_array((size_t)n + 1, sizeof *names);
    for (int i = 0; i < n; i++) names[i] = keys[i].name;
    const char *near = lra_nearest(name, n, names);
    int rc = near ? lra_fail_usage(e, "%s has no '%s'; did you mean '%s'?", what, name, near)
                  : lra_fail_usage(e, "%s has no '%s'", what, name);
    lra_free(names);
    return rc;
}

int lra_keys_assign(const lra_key *keys, lra_config *c, const char *assignment, const char *what,
                    lra_err *e)
{
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment)
        return lra_fail_usage(e, "'%s' is not of the form key=value", assignment);
    char *name = lra_format("%.*s", (int)(equals - assignment), assignment);
    const lra_key *k = lra_key_find(keys, name);
    char *value = k ? lra_key_text(k, equals + 1, e) : NULL;
    if (!k) fail_unknown(keys, name, what, e);
    if (value) lra_config_set(c, name, value);
    int rc = value ? 0 : LRA_USAGE;
    lra_free(value);
    lra_free(name);
    return rc;
}

void lra_keys_apply(const lra_key *keys, lra_config *c, const char *text)
{
    lra_err e;
    lra_config *changes = lra_config_parse(text, &e);
    if (!changes) LRA_BUG("%s", e.msg);
    for (int i = 0; lra_config_key(changes, i); i++) {
        char *one = lra_format("%s=%s", lra_config_key(changes, i), lra_config_value(changes, i));
        if (lra_keys_assign(keys, c, one, "the table", &e) != 0) LRA_BUG("%s", e.msg);
        lra_free(one);
    }
    lra_config_free(changes);
}

void lra_keys_fill(const lra_key *keys, const lra_config *c, void *to)
{
    for (const lra_key *k = keys; k && k->name; k++) {
        void *at = (char *)to + k->field;
        if (!k->field) continue;
        switch (k->kind) {
        case LRA_KEY_INT: *(int64_t *)at = lra_config_int(c, k->name); break;
        case LRA_KEY_REAL: *(double *)at = lra_config_real(c, k->name); break;
        case LRA_KEY_FLAG: *(bool *)at = lra_config_int(c, k->name) != 0; break;
        case LRA_KEY_CHOICE: *(int *)at = choice_of(k->choices, lra_config_text(c, k->name)); break;
        case LRA_KEY_TEXT:
        case LRA_KEY_COLUMN: LRA_BUG("'%s' is text and is stored in no field", k->name);
        }
    }
}

char *lra_keys_text(const lra_key *keys)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (const lra_key *k = keys; k && k->name; k++)
        lra_text_add(&t, "%s%s=%s", k == keys ? "" : " ", k->name, k->value);
    return t.s;
}
