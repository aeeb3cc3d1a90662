/* Kinds of heads. */
#include "analysis/head_kind.h"

#include <stddef.h>

static const double uniform_entropy = 0.95, local_radius = 32, most_of_it = 0.5, related = 2;
const char *const lra_head_kind_names[LRA_HEAD_KINDS] = {"sink",     "uniform", "tree", "local",
                                                         "position", "content", "mixed"};

static double value(int n, const lra_finding *found, const char *id, double otherwise)
{
    const lra_finding *f = lra_finding_find(n, found, id);
    return f && f->value == f->value ? f->value : otherwise;
}

static bool is_of_tree(int n, const lra_finding *found)
{
    static const char *const id[] = {"tree.parent", "tree.children", "tree.siblings",
                                     "tree.bracket"};
    for (int k = 0; k < 4; k++) {
        const lra_finding *f = lra_finding_find(n, found, id[k]);
        if (f && f->lo > related * f->null[LRA_NULL_UNIFORM]) return true;
    }
    return false;
}

unsigned lra_head_kinds(int n, const lra_finding *found)
{
    const lra_finding *sink = lra_finding_find(n, found, "sink.max");
    double position = value(n, found, "share.relative", 0) + value(n, found, "share.absolute", 0);
    const bool is[] = {[LRA_HEAD_SINK] = sink && sink->value >
                                                     LRA_SINK_FACTOR * sink->null[LRA_NULL_UNIFORM],
                       [LRA_HEAD_UNIFORM] = value(n, found, "entropy.rel", 0) > uniform_entropy,
                       [LRA_HEAD_TREE] = is_of_tree(n, found),
                       [LRA_HEAD_LOCAL] = value(n, found, "range.q95", 1e300) <= local_radius,
                       [LRA_HEAD_POSITION] = position > most_of_it,
                       [LRA_HEAD_CONTENT] = value(n, found, "share.content", 0) > most_of_it};
    unsigned kinds = 0;
    for (int k = 0; k < LRA_HEAD_MIXED; k++) kinds |= (unsigned)is[k] << k;
    return kinds;
}

lra_head_kind lra_head_kind_of(unsigned kinds)
{
    int k = 0;
    while (k < LRA_HEAD_MIXED && !(kinds >> k & 1)) k++;
    return (lra_head_kind)k;
}
