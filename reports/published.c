/* Published numbers. */
#include "reports/published.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 9, LONGEST = 96 };

/* One line of CSV, quotes removed, cut to LONGEST; returns the start of the next. */
static const char *read_line(const char *at, char field[FIELDS][LONGEST])
{
    for (int f = 0; f < FIELDS; f++) {
        size_t n = 0;
        bool quoted = *at == '"';
        if (quoted) at++;
        for (; *at; at++) {
            if (quoted && *at == '"' && at[1] != '"') break;
            if (quoted && *at == '"') at++;
            if (!quoted && (*at == ',' || *at == '\n' || *at == '\r')) break;
            if (n + 1 < LONGEST) field[f][n++] = *at;
        }
        field[f][n] = 0;
        if (quoted && *at == '"') at++;
        if (*at == ',') at++;
    }
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

double lra_published(const char *paper, const char *table, const char *model, const char *variant,
                     const char *task, const char *metric)
{
    const char *const wanted[] = {paper, table, model, variant, task, metric};
    char field[FIELDS][LONGEST];
    for (const char *at = (const char *)lra_published_csv; *at;) {
        at = read_line(at, field);
        bool same = true;
        for (int i = 0; i < 6 && same; i++) same = !wanted[i] || strcmp(field[i], wanted[i]) == 0;
        if (same) return strtod(field[6], NULL);
    }
    return NAN;
}
