/* Determines the kind of a baseline from its name (baseline_kind.h). */
#include "reports/results/baseline_kind.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name; /* complete name, or the prefix before a number */
    lra_baseline_kind kind;
} kinds[] = {{"constant", LRA_BASELINE_CONSTANT},
             {"oracle", LRA_BASELINE_ORACLE},
             {"ngram-", LRA_BASELINE_NGRAM},
             {"shallow-a-", LRA_BASELINE_SHALLOW_A},
             {"shallow-b-", LRA_BASELINE_SHALLOW_B}};

lra_baseline lra_baseline_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].name);
        bool numbered = kinds[i].name[n - 1] == '-';
        if (strncmp(name, kinds[i].name, n) != 0) continue;
        if (!numbered && !name[n]) return (lra_baseline){kinds[i].kind, 0};
        char *end;
        long number = strtol(name + n, &end, 10);
        if (numbered && end != name + n && !*end && number > 0 && number < INT_MAX)
            return (lra_baseline){kinds[i].kind, (int)number};
    }
    return (lra_baseline){LRA_BASELINE_TASK, 0};
}

bool lra_baseline_is_shallow(const char *name)
{
    lra_baseline_kind kind = lra_baseline_of(name).kind;
    return kind == LRA_BASELINE_SHALLOW_A || kind == LRA_BASELINE_SHALLOW_B;
}
