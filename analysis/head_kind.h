/* The kind of an attention head, by its measurements.  A head may be of several kinds; the first
 * that holds names it:
 *   sink      sink.max above 5 times what equal weights give that key
 *   uniform   entropy.rel above 0.95
 *   tree      a relation of ListOps trees has tree.lift.class of at least 1.05 and above 1, one-sided
 *             97.5 %, Holm over the relations
 *   local     the interval of dist.mean.rel lies below 0.5
 *   far       the interval of dist.mean.rel lies above 1.1
 *   position  share.relative and share.absolute together above 0.5
 *   content   share.content above 0.5.  Where lengths differ, so do the sums that rows are divided by,
 *             which counts as content: a head of a fixed decay has up to 0.15
 * local and far are relative to equal weights under the same mask, which are neither. */
#ifndef LRA_ANALYSIS_HEAD_KIND_H
#define LRA_ANALYSIS_HEAD_KIND_H

#include "analysis/measurement.h"

/* A head is a sink where its largest mean weight of a key is above so many times what equal weights
 * give that key. */
#define LRA_SINK_FACTOR 5.0

typedef enum {
    LRA_HEAD_SINK,
    LRA_HEAD_UNIFORM,
    LRA_HEAD_TREE,
    LRA_HEAD_LOCAL,
    LRA_HEAD_POSITION,
    LRA_HEAD_CONTENT,
    LRA_HEAD_MIXED, /* none of these */
    LRA_HEAD_FAR,   /* behind the others, whose numbers files hold */
    LRA_HEAD_KINDS
} lra_head_kind;
extern const char *const lra_head_kind_names[LRA_HEAD_KINDS];

/* Bits of all kinds but the last that these measurements of a head make it; that they make it
 * wherever in their intervals they lie; and that they make it somewhere there. */
typedef struct {
    unsigned is, surely, perhaps;
} lra_head_kinds_found;
lra_head_kinds_found lra_head_kinds(int n, const lra_measurement *found);
lra_head_kind lra_head_kind_of(unsigned kinds);

#endif
