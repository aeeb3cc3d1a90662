/* Parsing and reading of options. Help is in options_help.c. */
#include "kernels/base/cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"

typedef struct {
    const lra_option *option;
    const char *value; /* text of the value, a part of argv or of the option table; not owned */
} setting;

struct lra_options {
    const lra_command *command;
    setting *set; /* settings, in the order given */
    int n_set;
    const char **arg;
    int n_args;
    char **made; /* allocated "key=value" texts, made from "--key value" */
    int n_made;
    bool help;
};

bool lra_parse_int(const char *text, int64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '-') return false;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno != 0 || *end || end == text) return false;
    *value = v;
    return true;
}

bool lra_parse_real(const char *text, double *value)
{
    char *end;
    if (!*text || isspace((unsigned char)*text)) return false;
    double v = strtod(text, &end);
    if (*end || end == text || !isfinite(v)) return false;
    *value = v;
    return true;
}

const lra_option *lra_option_entry(const lra_command *c, int i)
{
    for (const lra_option *const *table = c->tables; *table; table++)
        for (const lra_option *o = *table; o->name; o++)
            if (i-- == 0) return o;
    return NULL;
}

static const lra_option *find(const lra_command *c, const char *name, size_t n)
{
    const lra_option *o = lra_option_entry(c, 0);
    for (int i = 0; o; o = lra_option_entry(c, ++i))
        if (strlen(o->name) == n && strncmp(o->name, name, n) == 0) return o;
    return NULL;
}

static const lra_option *find_letter(const lra_command *c, char letter)
{
    const lra_option *o = lra_option_entry(c, 0);
    for (int i = 0; o; o = lra_option_entry(c, ++i))
        if (o->letter && o->letter == letter) return o;
    return NULL;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int fail_int(const lra_option *o, const char *value, lra_err *e)
{
    return lra_fail_usage(e, "option '--%s' is '%s', expected %s from %.0f to %.0f", o->name, value,
                          o->kind == LRA_OPTION_INTS ? "integers, separated by commas,"
                                                     : "an integer",
                          o->min, o->max);
}

static int check_ints(const lra_option *o, const char *value, lra_err *e)
{
    const char *at = value;
    for (;;) {
        size_t n = strcspn(at, ",");
        char word[32];
        int64_t v;
        if (n == 0 || n >= sizeof word) return fail_int(o, value, e);
        memcpy(word, at, n);
        word[n] = 0;
        if (!lra_parse_int(word, &v) || (double)v < o->min || (double)v > o->max)
            return fail_int(o, value, e);
        if (!at[n]) return 0;
        if (o->kind == LRA_OPTION_INT) return fail_int(o, value, e);
        at += n + 1;
    }
}

static int check_choice(const lra_option *o, const char *value, lra_err *e)
{
    const char *at = o->choices;
    for (; *at; at += strcspn(at, "|"), at += *at == '|') {
        size_t n = strcspn(at, "|");
        if (strlen(value) == n && strncmp(value, at, n) == 0) return 0;
    }
    return lra_fail_usage(e, "option '--%s' is '%s', expected one of %s", o->name, value,
                          o->choices);
}

static int check(const lra_option *o, const char *value, lra_err *e)
{
    double r;
    switch (o->kind) {
    case LRA_OPTION_INT:
    case LRA_OPTION_INTS: return check_ints(o, value, e);
    case LRA_OPTION_REAL:
        if (lra_parse_real(value, &r) && r >= o->min && r <= o->max) return 0;
        return lra_fail_usage(e, "option '--%s' is '%s', expected a number from %g to %g", o->name,
                              value, o->min, o->max);
    case LRA_OPTION_CHOICE: return check_choice(o, value, e);
    case LRA_OPTION_TEXT:
    case LRA_OPTION_REPEAT:
        if (*value) return 0;
        return lra_fail_usage(e, "option '--%s' is '', expected %s", o->name,
                              lra_option_placeholder(o));
    case LRA_OPTION_FLAG: break;
    }
    return 0;
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* The option with a key table, whose keys are accepted as options. NULL: the command has no such
 * option. */
static const lra_option *find_keys(const lra_command *c)
{
    const lra_option *o = lra_option_entry(c, 0);
    for (int i = 0; o && !o->key; o = lra_option_entry(c, ++i)) {}
    return o;
}

static bool is_key(const lra_option *o, const char *name)
{
    for (int i = 0; o && o->key(i); i++)
        if (strcmp(o->key(i), name) == 0) return true;
    return false;
}

/* All names that are valid after "--": options first (they win if two names are equally similar),
 * then keys. */
static int all_names(const lra_command *c, const char ***names)
{
    const lra_option *o = find_keys(c);
    int n_options = 0, n_keys = 0;
    while (lra_option_entry(c, n_options)) n_options++;
    while (o && o->key(n_keys)) n_keys++;
    *names = lra_alloc_array((size_t)(n_options + n_keys) + 1, sizeof **names);
    for (int i = 0; i < n_options; i++) (*names)[i] = lra_option_entry(c, i)->name;
    for (int i = 0; i < n_keys; i++) (*names)[n_options + i] = o->key(i);
    return n_options + n_keys;
}

/* Aliases: names that other programs use for settings of this one. */
static const struct {
    const char *word, *name;
} synonyms[] = {{"lr", "rate"},
                {"learning-rate", "rate"},
                {"learning_rate", "rate"},
                {"batch-size", "batch"},
                {"batch_size", "batch"},
                {"bs", "batch"},
                {"weight-decay", "decay"},
                {"weight_decay", "decay"},
                {"wd", "decay"},
                {"num-epochs", "epochs"},
                {"num-layers", "layers"},
                {"n-layers", "layers"},
                {"depth", "layers"},
                {"num-heads", "heads"},
                {"hidden-size", "width"},
                {"d-model", "width"},
                {"dim", "width"},
                {"dataset", "task"},
                {"data", "task"},
                {"name", "label"},
                {"gpu", "device"},
                {"cuda", "device"},
                {"arch", "model"},
                {"output", "out"},
                {"output-dir", "out"},
                {"num-workers", "threads"}};

/* The name that a misspelt word probably means: the target of an alias if the command has it,
 * otherwise the most similar name. NULL: there is none. */
static const char *meant(const char *word, int n, const char *const *names)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        for (int k = 0; k < n && strcmp(word, synonyms[i].word) == 0; k++)
            if (strcmp(names[k], synonyms[i].name) == 0) return names[k];
    return lra_nearest(word, n, names);
}

static int fail_unknown_option(const lra_command *c, const char *name, size_t n, lra_err *e)
{
    const char **names;
    int count = all_names(c, &names);
    char *word = lra_format("%.*s", (int)n, name);
    const char *near = meant(word, count, names);
    int rc = near ? lra_fail_usage(e, "unknown option '--%s'; did you mean '--%s'?", word, near)
                  : lra_fail_usage(e, "unknown option '--%s' ('%s --help' shows all)", word,
                                   c->program);
    lra_free(names);
    lra_free(word);
    return rc;
}

/* The value of the option at argv[*i], whose name has n letters: "=VALUE", or the next word. NULL:
 * there is no value. */
static const char *take_value(int argc, char **argv, int *i, size_t n)
{
    const char *word = argv[*i];
    if (word[n] == '=') return word + n + 1;
    if (word[n]) return word + n; /* the value follows the short name: -nVALUE */
    if (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0) return NULL;
    return argv[++*i];
}

/* Parses "--key value" as "--set key=value". Returns false for an unknown key. */
static bool parse_key(lra_options *p, int argc, char **argv, int *i, lra_err *e, int *rc)
{
    const lra_option *o = find_keys(p->command);
    char *key = lra_format("%.*s", (int)strcspn(argv[*i] + 2, "="), argv[*i] + 2);
    bool known = is_key(o, key);
    if (known) {
        const char *value = take_value(argc, argv, i, strlen(key) + 2);
        if (value) {
            char *made = p->made[p->n_made++] = lra_format("%s=%s", key, value);
            p->set[p->n_set++] = (setting){o, made};
        } else {
            *rc = lra_fail_usage(e, "option '--%s' needs a value", key);
        }
    }
    lra_free(key);
    return known;
}

/* True for a withdrawn option, which has no effect: it is accepted without a message, so that
 * scripts keep working, and is not part of help and completion. --no-color: nothing is coloured. */
static bool is_withdrawn(const lra_command *c, const char *word)
{
    return strcmp(word, "--no-color") == 0 && find(c, "quiet", 5);
}

/* Parses one option at argv[*i], and advances *i over its value. */
static int parse_option(lra_options *p, int argc, char **argv, int *i, lra_err *e)
{
    const char *word = argv[*i], *value = "1";
    const lra_option *o;
    size_t n = 2;
    if (word[1] == '-') {
        int rc = 0;
        n += strcspn(word + 2, "=");
        o = find(p->command, word + 2, n - 2);
        if (!o && is_withdrawn(p->command, word)) return 0;
        if (!o && parse_key(p, argc, argv, i, e, &rc)) return rc;
        if (!o) return fail_unknown_option(p->command, word + 2, n - 2, e);
    } else {
        o = find_letter(p->command, word[1]);
        if (!o)
            return lra_fail_usage(e, "unknown option '%s' ('%s --help' shows all)", word,
                                  p->command->program);
    }
    if (o->kind == LRA_OPTION_FLAG) {
        if (word[n]) return lra_fail_usage(e, "option '--%s' takes no value", o->name);
    } else {
        value = take_value(argc, argv, i, n);
        if (!value)
            return lra_fail_usage(e, "option '--%s' needs a value (%s)", o->name,
                                  o->arg ? o->arg : "text");
    }
    if (check(o, value, e) != 0) return LRA_USAGE;
    p->set[p->n_set++] = (setting){o, value};
    return 0;
}

static int parse(lra_options *p, int argc, char **argv, lra_err *e)
{
    const lra_command *c = p->command;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        p->help = p->help || strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0;
    if (p->help) return 0;
    bool only_args = false;
    for (int i = 0; i < argc; i++) {
        if (!only_args && strcmp(argv[i], "--") == 0)
            only_args = true;
        else if (only_args || argv[i][0] != '-' || !argv[i][1])
            p->arg[p->n_args++] = argv[i];
        else if (parse_option(p, argc, argv, &i, e) != 0)
            return LRA_USAGE;
    }
    for (int i = 0; i < p->n_args; i++)
        if (!*p->arg[i])
            return lra_fail_usage(e, "argument %d is '' (usage: %s %s)", i + 1, c->program,
                                  c->usage);
    if (c->max_args >= 0 && p->n_args > c->max_args)
        return lra_fail_usage(e, "unexpected argument '%s' (usage: %s%s%s)", p->arg[c->max_args],
                              c->program, *c->usage ? " " : "", c->usage);
    if (p->n_args < c->min_args)
        return lra_fail_usage(e, "too few arguments (usage: %s %s)", c->program, c->usage);
    return 0;
}

lra_options *lra_options_parse(const lra_command *c, int argc, char **argv, lra_err *e)
{
    lra_options *p = lra_alloc(sizeof *p);
    p->command = c;
    p->set = lra_alloc_array((size_t)argc + 1, sizeof *p->set);
    p->arg = lra_alloc_array((size_t)argc + 1, sizeof *p->arg);
    p->made = lra_alloc_array((size_t)argc + 1, sizeof *p->made);
    if (parse(p, argc, argv, e) == 0) return p;
    lra_options_free(p);
    return NULL;
}

void lra_options_free(lra_options *o)
{
    if (!o) return;
    for (int i = 0; i < o->n_made; i++) lra_free(o->made[i]);
    lra_free(o->made);
    lra_free(o->set);
    lra_free(o->arg);
    lra_free(o);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool lra_options_help_wanted(const lra_options *o)
{
    return o->help;
}

static const lra_option *known(const lra_options *o, const char *name)
{
    const lra_option *entry = find(o->command, name, strlen(name));
    if (!entry) LRA_BUG("'%s' has no option '--%s'", o->command->program, name);
    return entry;
}

/* The last value given by the user, or the default. */
static const char *value_of(const lra_options *o, const char *name)
{
    const lra_option *entry = known(o, name);
    for (int i = o->n_set - 1; i >= 0; i--)
        if (o->set[i].option == entry) return o->set[i].value;
    return entry->value;
}

bool lra_option_given(const lra_options *o, const char *name)
{
    const lra_option *entry = known(o, name);
    for (int i = 0; i < o->n_set; i++)
        if (o->set[i].option == entry) return true;
    return false;
}

bool lra_option_flag(const lra_options *o, const char *name)
{
    return lra_option_given(o, name);
}

int64_t lra_option_int(const lra_options *o, const char *name)
{
    int64_t v = 0;
    const char *text = value_of(o, name);
    if (text && !lra_parse_int(text, &v)) LRA_BUG("the default of '--%s' is not an integer", name);
    return v;
}

double lra_option_real(const lra_options *o, const char *name)
{
    double v = 0;
    const char *text = value_of(o, name);
    if (text && !lra_parse_real(text, &v)) LRA_BUG("the default of '--%s' is not a number", name);
    return v;
}

const char *lra_option_text(const lra_options *o, const char *name)
{
    return value_of(o, name);
}

int lra_option_ints(const lra_options *o, const char *name, int64_t *values, int max)
{
    int n = 0;
    const char *at = value_of(o, name);
    while (at && *at && n < max) {
        values[n++] = strtoll(at, NULL, 10);
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return n;
}

const char *lra_option_repeat(const lra_options *o, const char *name, int i)
{
    const lra_option *entry = known(o, name);
    for (int k = 0; k < o->n_set; k++)
        if (o->set[k].option == entry && i-- == 0) return o->set[k].value;
    return NULL;
}

int lra_option_n_args(const lra_options *o)
{
    return o->n_args;
}
const char *lra_option_arg(const lra_options *o, int i)
{
    return i < o->n_args ? o->arg[i] : NULL;
}

const char *lra_option_placeholder(const lra_option *o)
{
    return o->kind == LRA_OPTION_FLAG ? "" : o->arg ? o->arg : "TEXT";
}
