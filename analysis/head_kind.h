/* Classifies an attention head by its measurements.  Several kinds may apply; the first one in this
 * list names the head:
 *   sink      sink.max above 5 times the uniform weight of that key
 *   uniform   entropy.rel above 0.95
 *   tree      a relation of ListOps trees has a tree.lift.class of at least 1.05 that is
 *             significantly above 1 (one-sided 97.5 %, Holm's correction over the relations)
 *   local     the interval of dist.mean.rel lies below 0.5
 *   far       the interval of dist.mean.rel lies above 1.1
 *   position  share.relative and share.absolute together above 0.5
 *   content   share.content above 0.5. With examples of different lengths, row normalisers
 *             differ, which counts as content: a head with a fixed decay then has up to 0.15
 * dist.mean.rel is relative to uniform weights under the same mask, so that these are neither local
 * nor far. */
#ifndef LRA_ANALYSIS_HEAD_KIND_H
#define LRA_ANALYSIS_HEAD_KIND_H

#include "analysis/measurement.h"

/* A head is a sink if the largest mean weight of a key exceeds this multiple of the key's uniform
 * weight. */
#define LRA_SINK_FACTOR 5.0

typedef enum {
    LRA_HEAD_SINK,
    LRA_HEAD_UNIFORM,
    LRA_HEAD_TREE,
    LRA_HEAD_LOCAL,
    LRA_HEAD_POSITION,
    LRA_HEAD_CONTENT,
    LRA_HEAD_MIXED, /* no other kind applies */
    LRA_HEAD_FAR,   /* last in the list, because files store kinds by number */
    LRA_HEAD_KINDS
} lra_head_kind;
extern const char *const lra_head_kind_names[LRA_HEAD_KINDS];

/* Bit sets of kinds (LRA_HEAD_MIXED excluded). is: kinds of the measured values; surely: kinds that
 * hold for all values within the intervals; perhaps: kinds that hold for at least one. */
typedef struct {
    unsigned is, surely, perhaps;
} lra_head_kinds_found;
lra_head_kinds_found lra_head_kinds(int n, const lra_measurement *found);
lra_head_kind lra_head_kind_of(unsigned kinds);

#endif
