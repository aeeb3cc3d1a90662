/* Prints and frees the table of checks. */
#include "probes/audit/check_rows.h"

#include <string.h>

#include "kernels/base/core/mem.h"

void lra_check_free(lra_check *c)
{
    for (int i = 0; i < LRA_N_CHECKS; i++) lra_free(c->row[i].found);
    *c = (lra_check){.noise = 0};
}

static bool lists(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, n) == 0 && (at[n] == ' ' || !at[n])) return true;
    return false;
}

bool lra_check_allows(const lra_check *c, const char *part)
{
    for (int i = 0; i < LRA_N_CHECKS; i++) {
        const char *list = c->row[i].outcome == LRA_CHECK_FAILED ? c->row[i].disables : "";
        if (lists(list, "all") || lists(list, part)) return false;
    }
    return true;
}

void lra_check_print(const lra_check *c, FILE *out)
{
    static const char *const words[] = {"-", "ok", "FAILED"};
    fprintf(out, "%-20s %-7s %s\n", "check", "", "result");
    for (int i = 0; i < LRA_N_CHECKS; i++) {
        const lra_check_row *r = &c->row[i];
        if (!r->found) continue;
        fprintf(out, "%-20s %-7s %s\n", r->label, words[r->outcome], r->found);
        if (r->outcome != LRA_CHECK_FAILED) continue;
        fprintf(out, "%-28s usual meaning: %s\n%-28s remedy: %s\n", "", r->meaning, "", r->cure);
        fprintf(out, "%-28s disables: %s\n", "", *r->disables ? r->disables : "nothing");
    }
}

lra_model_checks lra_check_rows(const lra_check *c)
{
    lra_model_checks rows = {0};
    for (int i = 0; i < LRA_N_CHECKS; i++) {
        const lra_check_row *r = &c->row[i];
        bool failed = r->outcome == LRA_CHECK_FAILED;
        if (r->found)
            lra_model_checks_add(&rows, r->label, r->outcome, r->found, failed ? r->meaning : "",
                                 failed ? r->cure : "", failed ? r->disables : "");
    }
    return rows;
}
