/* Groups results into ladders.  The rungs of one ladder differ in one key of the model (the axis),
 * in the seed and, if they were matched, in the key that was solved for the match.
 *
 * A result records the ladder that it was trained for (`ladder`, FORMAT.md).  A result may be a
 * rung of several ladders.  It belongs to every unmatched ladder with the same other settings, and
 * to every matched ladder if its count equals the ladder's count, or if it is a rung of another
 * matched ladder and has the same width.  Matched and unmatched rungs therefore never mix. */
#ifndef LRA_REPORTS_LADDER_LADDER_RUNGS_H
#define LRA_REPORTS_LADDER_LADDER_RUNGS_H

#include <stdbool.h>

#include "reports/results/result.h"

enum { LRA_LADDER_WORD = 24 };
typedef struct {
    char axis[LRA_LADDER_WORD];
    int64_t usual;               /* default value of the axis; -1: not known */
    char match[LRA_LADDER_WORD]; /* "none", "params", "flops" */
    char key[LRA_LADDER_WORD];   /* name of the key that is solved */
    int64_t reference;           /* value of the solved key in the reference rung */
    double count;                /* the count (parameters or FLOPs) that all rungs have */
} lra_ladder_kind;

typedef struct {
    const lra_result *result;
    lra_ladder_kind kind;
    char *identity; /* members with equal identities form one ladder */
    int64_t value;  /* of the axis */
    bool own;       /* true: trained for this ladder */
} lra_ladder_member;

/* Rungs of all ladders, one ladder after the other, in each by value and seed.  Returns their
 * number, or -1. */
int lra_ladder_members(lra_result *const *list, int n, lra_ladder_member **members, lra_err *e);
void lra_ladder_members_free(lra_ladder_member *members, int n);

/* True if the axis is the kernel and the ladder is not matched, as in published tables. */
bool lra_ladder_is_plain(const lra_ladder_kind *k);
/* "K = 5", "dilation = 4" */
const char *lra_ladder_rung_name(const lra_ladder_kind *k, int64_t value, char text[48]);
/* Suffix of a title for a ladder that is not a plain one of kernels: ", over dilation"; the caller
 * frees it. */
char *lra_ladder_kind_text(const lra_ladder_kind *k);
/* True if a "key=value" line of a configuration may differ within such a ladder; includes the
 * seed. */
bool lra_ladder_is_own_line(const lra_ladder_kind *k, const char *line);
/* An integer setting of the model, from the configuration; -1: missing. */
int64_t lra_ladder_setting(const lra_result *r, const char *key);
/* The solved key's value of a rung; -1: not matched. */
int64_t lra_ladder_size(const lra_ladder_kind *k, const lra_result *r);

#endif
