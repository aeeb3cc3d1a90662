/* Finds and applies the declarations of measurements. */
#include "analysis/measurement_info.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

const char *const lra_measurement_range_names[LRA_RANGES] = {"0 to 1", "at least 0", "-1 to 1",
                                                             "0 to T", "any"};

static const lra_measurement_info declared[] = {
#define LRA_MEASUREMENT(id, unit, range, direction, null, head, sentence)                          \
    {id, unit, LRA_RANGE_##range, LRA_LOCAL_##direction, null, head, sentence},
#define LRA_MODIFIER(text, suffix, head, sentence)
#include "analysis/measurements.def"
#undef LRA_MEASUREMENT
#undef LRA_MODIFIER
};
static const lra_measurement_modifier modifiers[] = {
#define LRA_MEASUREMENT(id, unit, range, direction, null, head, sentence)
#define LRA_MODIFIER(text, suffix, head, sentence) {text, suffix, head, sentence},
#include "analysis/measurements.def"
#undef LRA_MEASUREMENT
#undef LRA_MODIFIER
};
enum {
    DECLARED = sizeof declared / sizeof *declared,
    MODIFIERS = sizeof modifiers / sizeof *modifiers
};
_Static_assert(MODIFIERS <= 32, "a set of modifiers is 32 bits");

const lra_measurement_info *lra_measurement_info_at(int i)
{
    return i < DECLARED ? &declared[i] : NULL;
}

const lra_measurement_modifier *lra_measurement_modifier_at(int i)
{
    return i < MODIFIERS ? &modifiers[i] : NULL;
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* The part of an id that matches the placeholder of a pattern: a word for NAME, a number for a
 * single letter. */
typedef struct {
    const char *at;
    size_t n;
} matched;

/* Returns the length of the placeholder at the start of a pattern; 0: it starts with literal
 * text. */
static size_t placeholder(const char *pattern)
{
    size_t n = 0;
    while (isupper((unsigned char)pattern[n])) n++;
    return n;
}

static size_t word_length(const char *text)
{
    size_t n = 0;
    while (islower((unsigned char)text[n]) || text[n] == '-') n++;
    return n;
}

/* Returns the length of a number at the start of the text ("5", "0.25", "1e+03"); 0: there is
 * none. */
static size_t number_length(const char *text)
{
    size_t n = 0;
    while (isdigit((unsigned char)text[n])) n++;
    if (n == 0) return 0;
    if (text[n] == '.' && isdigit((unsigned char)text[n + 1]))
        for (n++; isdigit((unsigned char)text[n]);) n++;
    if (text[n] == 'e' && strchr("+-", text[n + 1]) && isdigit((unsigned char)text[n + 2]))
        for (n += 2; isdigit((unsigned char)text[n]);) n++;
    return n;
}

/* Returns true if the first n characters of an id match the pattern; *found: the part that matches
 * its placeholder. */
static bool fits(const char *pattern, const char *id, size_t n, matched *found)
{
    const char *end = id + n;
    while (*pattern) {
        size_t letters = placeholder(pattern);
        if (letters) {
            size_t length = letters > 1 ? word_length(id) : number_length(id);
            if (length == 0 || length > (size_t)(end - id)) return false;
            *found = (matched){id, length};
            pattern += letters, id += length;
        } else {
            if (id == end || *id != *pattern) return false;
            pattern++, id++;
        }
    }
    return id == end;
}

static const lra_measurement_info *find(const char *id, size_t n, matched *found)
{
    for (int i = 0; i < DECLARED; i++)
        if (fits(declared[i].id, id, n, found)) return &declared[i];
    return NULL;
}

/* Removes one modifier from id[0 .. n-1]; returns its index, -1 if there is none. */
static int strip(const char **id, size_t *n)
{
    for (int i = 0; i < MODIFIERS; i++) {
        const char *text = modifiers[i].text;
        size_t length = strlen(text);
        if (length >= *n) continue;
        const char *at = modifiers[i].suffix ? *id + *n - length : *id;
        if (memcmp(at, text, length) != 0) continue;
        if (!modifiers[i].suffix) *id += length;
        *n -= length;
        return i;
    }
    return -1;
}

static const lra_measurement_info *find_any(const char *id, uint32_t *set, matched *found)
{
    size_t n = strlen(id);
    *set = 0, *found = (matched){NULL, 0};
    for (;;) {
        const lra_measurement_info *info = find(id, n, found);
        int i = info ? -1 : strip(&id, &n);
        if (i < 0) return info;
        *set |= (uint32_t)1 << i;
    }
}

const lra_measurement_info *lra_measurement_info_find(const char *id, uint32_t *set)
{
    uint32_t unused;
    matched found;
    return find_any(id, set ? set : &unused, &found);
}

/* ---- heads and keys -------------------------------------------------------------------------- */

static void add_head(lra_text *t, const lra_measurement_info *info, const matched *found)
{
    const char *of_id = info->id + strcspn(info->id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    size_t letters = placeholder(of_id);
    for (const char *at = info->head; *at;) {
        if (letters && placeholder(at) == letters && memcmp(at, of_id, letters) == 0) {
            lra_text_add(t, "%.*s", (int)found->n, found->at);
            at += letters;
        } else {
            size_t n = placeholder(at);
            if (n == 0) n = 1;
            lra_text_add(t, "%.*s", (int)n, at);
            at += n;
        }
    }
}

char *lra_measurement_head(const char *id)
{
    lra_text t = {0};
    uint32_t set;
    matched found;
    const lra_measurement_info *info = find_any(id, &set, &found);
    if (!info) return lra_copy_text(id);
    for (int i = 0; i < MODIFIERS; i++)
        if (set >> i & 1 && !modifiers[i].suffix) lra_text_add(&t, "%s", modifiers[i].head);
    add_head(&t, info, &found);
    for (int i = 0; i < MODIFIERS; i++)
        if (set >> i & 1 && modifiers[i].suffix) lra_text_add(&t, "%s", modifiers[i].head);
    return t.s;
}

char *lra_measurement_key(const char *id)
{
    char *key = lra_copy_text(id);
    for (char *at = key; *at; at++)
        if (*at == '.') *at = '_';
    return key;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

void lra_measurement_bounds(const char *id, double T, double *least, double *most)
{
    const lra_measurement_info *info = lra_measurement_info_find(id, NULL);
    lra_measurement_range range = info ? info->range : LRA_RANGE_REAL;
    *least = range == LRA_RANGE_REAL ? -INFINITY : range == LRA_RANGE_SIGNED ? -1 : 0;
    *most = range == LRA_RANGE_SHARE || range == LRA_RANGE_SIGNED ? 1
            : range == LRA_RANGE_DISTANCE                         ? T
                                                                  : INFINITY;
}

/* ---- units ----------------------------------------------------------------------------------- */

static const struct {
    const char *unit, *text;
    int decimals;
} units[] = {{"1", "", 3}, {"bits", "bits", 3}, {"nats", "nats", 3}};
enum { UNITS = sizeof units / sizeof *units };

int lra_unit_decimals(const char *unit)
{
    for (int i = 0; i < UNITS; i++)
        if (strcmp(units[i].unit, unit) == 0) return units[i].decimals;
    return -1;
}

const char *lra_unit_text(const char *unit)
{
    for (int i = 0; i < UNITS; i++)
        if (strcmp(units[i].unit, unit) == 0) return units[i].text;
    return unit;
}
