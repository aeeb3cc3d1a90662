/* Finds the parts of parts.def and runs them. */
#include "probes/influence/registry.h"

#include <math.h>
#include <string.h>

#include "probes/influence/restricted_part.h"

const lra_influence_part *lra_influence_part_at(int i)
{
    static const lra_influence_part *const part[] = {
#define LRA_PART(name) &lra_part_##name,
#include "probes/influence/parts.def"
    };
    return i < (int)(sizeof part / sizeof *part) ? part[i] : NULL;
}

/* Requests that the perturbation makes. */
static uint32_t needs_of(const lra_influence_part *part)
{
    const lra_perturbation *is = part->perturbation;
    if (!is) return part->needs;
    return LRA_ANSWERS_FORWARD | (is->keeps_position_ids ? LRA_ANSWERS_PLACE : 0);
}

static const char *unanswered(uint32_t missing)
{
    if (missing & LRA_ANSWERS_FORWARD)
        return "the model has an output at every position, not one for the input";
    if (missing & LRA_ANSWERS_FEATURES) return "the model gives no features of its positions";
    if (missing & LRA_ANSWERS_VJP) return "the model gives no gradients";
    return missing ? "the model takes no position ids" : NULL;
}

const char *lra_part_undefined(const lra_influence_part *part, const lra_influence *p)
{
    if (part->engine && !p->engine) return "it needs the graphs of a built-in model";
    const char *why = p->refused ? p->refused(p->refused_context, part->name) : NULL;
    if (!why && part->perturbation && p->subject.data->task->unlabelled &&
        p->subject.model->facts.classes < 2)
        why = "the rows have no labels, and a single output is no probability";
    if (!why && part->perturbation && p->subject.model->facts.fixed_length &&
        (!lra_perturb_keeps_length(part->perturbation) ||
         p->subject.data->task->goal == LRA_GOAL_NEXT))
        why = "the model takes inputs of one length alone";
    if (!why) why = unanswered(needs_of(part) & ~p->subject.model->facts.answers);
    return !why && part->undefined ? part->undefined(p) : why;
}

double lra_part_passes(const lra_influence_part *part, const lra_influence *p, int64_t examples)
{
    return part->perturbation ? lra_restricted_passes(part->perturbation, p, examples)
                              : part->passes(p, examples);
}

bool lra_part_has_unit(const lra_influence_part *part, const char *unit)
{
    if (strcmp(part->name, unit) == 0) return true;
    for (const char *const *u = part->units; u && *u; u++) {
        size_t n = strcspn(*u, "*");
        if ((*u)[n] ? strncmp(*u, unit, n) == 0 && unit[n] : strcmp(*u, unit) == 0) return true;
    }
    return false;
}

/* Asserts that the part declares the units from index `first` on, and their null values. */
static void check_units(const lra_influence_part *part, const lra_probe_result *r, int first)
{
    for (int k = first; k < r->n_units; k++) {
        const lra_probe_unit *u = r->unit[k];
        if (!lra_part_has_unit(part, u->name)) LRA_BUG("a unit that its part does not declare");
        for (int i = 0; i < u->n_measurements; i++)
            for (int kind = 0; kind < LRA_NULLS; kind++)
                if (!isnan(u->measurement[i].null[kind]) && !(part->nulls & LRA_NULL_BIT(kind)))
                    LRA_BUG("a null value that its part does not declare");
    }
}

int lra_part_measure(const lra_influence_part *part, lra_influence *p, int64_t examples, lra_err *e)
{
    int first = p->out->n_units;
    int rc = part->perturbation
                 ? lra_restricted_measure(part->perturbation, part->name, p, examples, e)
                 : part->measure(p, examples, e);
    if (rc == 0) check_units(part, p->out, first);
    return rc;
}
