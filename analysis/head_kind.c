/* Classifies attention heads by their measurements. */
#include "analysis/head_kind.h"

#include <math.h>
#include <stddef.h>

#include "analysis/content_blind.h"
#include "analysis/interval.h"

static const double uniform_entropy = 0.95, most_of_it = 0.5, near = 0.5, far = 1.1,
                    least_lift = 1.05, one_sided = 0.025;
const char *const lra_head_kind_names[LRA_HEAD_KINDS] = {"sink",     "uniform", "tree",  "local",
                                                         "position", "content", "mixed", "far"};

/* Returns a measurement of a head with its interval (the value itself if it has none); `otherwise`
 * if it is missing. */
static lra_estimate number(int n, const lra_measurement *found, const char *id, double otherwise)
{
    const lra_measurement *f = lra_measurement_find(n, found, id);
    if (!f || f->value != f->value) return (lra_estimate){otherwise, otherwise, otherwise};
    bool ends = f->lo == f->lo && f->hi == f->hi;
    return (lra_estimate){f->value, ends ? f->lo : f->value, ends ? f->hi : f->value};
}

static lra_head_kinds_found above(lra_estimate x, double limit, int kind)
{
    return (lra_head_kinds_found){.is = (unsigned)(x.value > limit) << kind,
                                  .surely = (unsigned)(x.lo > limit) << kind,
                                  .perhaps = (unsigned)(x.hi > limit) << kind};
}

static void add(lra_head_kinds_found *to, lra_head_kinds_found x)
{
    to->is |= x.is, to->surely |= x.surely, to->perhaps |= x.perhaps;
}

/* Adds the kind `tree` if the lift of one of four relations is above 1 by Holm's method: the k-th
 * smallest (k from 0) of the known p-values must be at most 0.025 / (known - k). */
static void add_tree(int n, const lra_measurement *found, lra_head_kinds_found *to)
{
    static const char *const id[] = {"tree.lift.class.parent", "tree.lift.class.children",
                                     "tree.lift.class.siblings", "tree.lift.class.bracket"};
    const unsigned tree = 1u << LRA_HEAD_TREE;
    const lra_measurement *known[4];
    int m = 0;
    for (int k = 0; k < 4; k++) {
        const lra_measurement *f = lra_measurement_find(n, found, id[k]);
        if (!f || f->value != f->value) continue;
        int at = m++;
        for (; at > 0 && lra_blind_p(known[at - 1]) > lra_blind_p(f); at--)
            known[at] = known[at - 1];
        known[at] = f;
        if (f->hi >= least_lift) to->perhaps |= tree;
    }
    for (int k = 0; k < m && lra_blind_p(known[k]) <= one_sided / (m - k); k++)
        if (known[k]->value >= least_lift) to->is |= tree, to->surely |= tree;
}

/* Adds the kinds `local` and `far` from the interval x of dist.mean.rel. surely: the entire
 * interval is below `near` or above `far`; perhaps: a part of it is. */
static void add_distance(lra_estimate x, lra_head_kinds_found *to)
{
    const unsigned local = 1u << LRA_HEAD_LOCAL, distant = 1u << LRA_HEAD_FAR;
    if (x.hi < near) to->is |= local, to->surely |= local;
    if (x.lo < near) to->perhaps |= local;
    if (x.lo > far) to->is |= distant, to->surely |= distant;
    if (x.hi > far) to->perhaps |= distant;
}

lra_head_kinds_found lra_head_kinds(int n, const lra_measurement *found)
{
    lra_head_kinds_found k = {0};
    const lra_measurement *sink = lra_measurement_find(n, found, "sink.max");
    lra_estimate distance = number(n, found, "dist.mean.rel", 1);
    lra_estimate content = number(n, found, "share.content", NAN);
    if (sink)
        add(&k, above(number(n, found, "sink.max", 0),
                      LRA_SINK_FACTOR * sink->null[LRA_NULL_UNIFORM], LRA_HEAD_SINK));
    add(&k, above(number(n, found, "entropy.rel", 0), uniform_entropy, LRA_HEAD_UNIFORM));
    add_tree(n, found, &k);
    add_distance(distance, &k);
    lra_estimate position = {number(n, found, "share.relative", 0).value +
                                 number(n, found, "share.absolute", 0).value,
                             /* relative, absolute and content shares add up to 1 */
                             1 - content.hi, 1 - content.lo};
    if (isnan(content.value)) position.lo = position.hi = position.value;
    add(&k, above(position, most_of_it, LRA_HEAD_POSITION));
    add(&k, above(content, most_of_it, LRA_HEAD_CONTENT));
    return k;
}

lra_head_kind lra_head_kind_of(unsigned kinds)
{
    static const lra_head_kind order[] = {LRA_HEAD_SINK,   LRA_HEAD_UNIFORM, LRA_HEAD_TREE,
                                          LRA_HEAD_LOCAL,  LRA_HEAD_FAR,     LRA_HEAD_POSITION,
                                          LRA_HEAD_CONTENT};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        if (kinds >> order[k] & 1) return order[k];
    return LRA_HEAD_MIXED;
}
