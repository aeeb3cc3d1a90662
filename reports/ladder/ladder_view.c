/* Frees the view of a ladder, and converts its values to the unit of the metric (ladder_view.h). */
#include "reports/ladder/ladder_view.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/core/mem.h"

double lra_ladder_value(const lra_ladder_view *v, double score)
{
    return v->metric->lower ? -score : score;
}

lra_estimate lra_ladder_values(const lra_ladder_view *v, lra_estimate score)
{
    if (!v->metric->lower) return score;
    return (lra_estimate){-score.value, -score.hi, -score.lo};
}

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

void lra_ladder_add_identity(const lra_ladder_view *v, lra_table *t)
{
    static const char *const shown[] = {"task=", "model=", "data=", "precision=", "version="};
    lra_text settings = {0};
    for (const char *line = v->first->config; *line;) {
        size_t n = strcspn(line, "\n");
        bool own = lra_ladder_is_own_line(&v->kind, line);
        for (int i = 0; i < 5; i++) own = own || begins_with(line, shown[i]);
        if (!own) lra_text_add(&settings, "%s%.*s", settings.n ? " " : "", (int)n, line);
        line += n + (line[n] == '\n');
    }
    lra_table_add_constant(t, "data", v->first->fingerprint);
    lra_table_add_constant(t, "axis", v->kind.axis);
    lra_table_add_constant(t, "match", v->kind.match);
    lra_table_add_constant(t, "settings", settings.s ? settings.s : "");
    lra_text_free(&settings);
}

void *lra_ladder_keep(lra_ladder_view *v, void *rows)
{
    v->owned = lra_resize(v->owned, (size_t)(v->n_owned + 1) * sizeof *v->owned);
    return v->owned[v->n_owned++] = rows;
}

int lra_ladder_run(const lra_ladder_data *d, lra_ladder *to, lra_err *e)
{
    switch (lra_ladder_compute(d, to)) {
    case LRA_LADDER_OK: return 0;
    case LRA_LADDER_EQUAL_REACH:
        return lra_fail(e,
                        "kernels %" PRId64 " and %" PRId64 " both cover all %" PRId64
                        " tokens; remove one of them",
                        to->row[0].kernel, to->row[1].kernel, d->T);
    default: return lra_fail(e, "the only kernel size is 1; a ladder needs a rung with reach > 0");
    }
}
