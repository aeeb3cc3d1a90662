/* Kinds of heads. */
#include "analysis/head_kind.h"

#include <math.h>
#include <stddef.h>

#include "analysis/interval.h"

static const double uniform_entropy = 0.95, local_radius = 32, most_of_it = 0.5, related = 2;
const char *const lra_head_kind_names[LRA_HEAD_KINDS] = {"sink",     "uniform", "tree", "local",
                                                         "position", "content", "mixed"};

/* A number of a head with its ends, which are the number where it has none; without the number
 * `otherwise`. */
static lra_estimate number(int n, const lra_finding *found, const char *id, double otherwise)
{
    const lra_finding *f = lra_finding_find(n, found, id);
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

/* It is one by an end of the interval. */
static void add_tree(int n, const lra_finding *found, lra_head_kinds_found *to)
{
    static const char *const id[] = {"tree.parent", "tree.children", "tree.siblings",
                                     "tree.bracket"};
    const unsigned tree = 1u << LRA_HEAD_TREE;
    for (int k = 0; k < 4; k++) {
        const lra_finding *f = lra_finding_find(n, found, id[k]);
        if (f && f->lo > related * f->null[LRA_NULL_UNIFORM]) to->is |= tree, to->surely |= tree;
        if (f && f->hi > related * f->null[LRA_NULL_UNIFORM]) to->perhaps |= tree;
    }
}

lra_head_kinds_found lra_head_kinds(int n, const lra_finding *found)
{
    lra_head_kinds_found k = {0};
    const lra_finding *sink = lra_finding_find(n, found, "sink.max");
    lra_estimate radius = number(n, found, "range.q95", 1e300);
    lra_estimate content = number(n, found, "share.content", NAN);
    if (sink)
        add(&k, above(number(n, found, "sink.max", 0),
                      LRA_SINK_FACTOR * sink->null[LRA_NULL_UNIFORM], LRA_HEAD_SINK));
    add(&k, above(number(n, found, "entropy.rel", 0), uniform_entropy, LRA_HEAD_UNIFORM));
    add_tree(n, found, &k);
    k.is |= (unsigned)(radius.value <= local_radius) << LRA_HEAD_LOCAL;
    k.surely |= (unsigned)(radius.hi <= local_radius) << LRA_HEAD_LOCAL;
    k.perhaps |= (unsigned)(radius.lo <= local_radius) << LRA_HEAD_LOCAL;
    lra_estimate position = {number(n, found, "share.relative", 0).value +
                                 number(n, found, "share.absolute", 0).value,
                             1 - content.hi, 1 - content.lo}; /* the three add up to 1 */
    if (isnan(content.value)) position.lo = position.hi = position.value;
    add(&k, above(position, most_of_it, LRA_HEAD_POSITION));
    add(&k, above(content, most_of_it, LRA_HEAD_CONTENT));
    return k;
}

lra_head_kind lra_head_kind_of(unsigned kinds)
{
    int k = 0;
    while (k < LRA_HEAD_MIXED && !(kinds >> k & 1)) k++;
    return (lra_head_kind)k;
}
