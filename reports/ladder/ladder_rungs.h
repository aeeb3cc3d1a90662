/* Groups results into ladders. The rungs of one ladder differ in one key of the model (the axis),
 * in the seed, and, if they were matched, in the key that was solved for the match.
 *
 * A result records the ladder for which it was trained (`ladder`, FORMAT.md), but can be a rung of
 * several ladders. It belongs to every unmatched ladder with the same other settings. It belongs to
 * a matched ladder if its count equals that of the ladder, or if it is a rung of another matched
 * ladder and has the same width. Matched and unmatched rungs therefore never mix. */
#ifndef LRA_REPORTS_LADDER_LADDER_RUNGS_H
#define LRA_REPORTS_LADDER_LADDER_RUNGS_H

#include <stdbool.h>

#include "reports/results/result.h"

enum { LRA_LADDER_WORD = 24 };
typedef struct {
    char axis[LRA_LADDER_WORD];
    int64_t default_value; /* default value of the axis; -1: unknown */
    /* quantity that is equal in all rungs: "none", "params", "flops" */
    char match[LRA_LADDER_WORD];
    char key[LRA_LADDER_WORD]; /* name of the key that is solved for the match */
    int64_t reference;         /* value of the solved key in the reference rung */
    double count;              /* number of parameters or FLOPs that all rungs have */
} lra_ladder_kind;

typedef struct {
    const lra_result *result;
    lra_ladder_kind kind;
    char *identity; /* members with equal identities form one ladder */
    int64_t value;  /* value of the axis */
    bool own;       /* true if the result was trained for this ladder */
} lra_ladder_member;

/* Members of all ladders, one ladder after the other, each sorted by value and seed. Returns their
 * number, or -1. */
int lra_ladder_members(lra_result *const *list, int n, lra_ladder_member **members, lra_err *e);
void lra_ladder_members_free(lra_ladder_member *members, int n);

/* True if the axis is the kernel and the ladder is not matched, as in published tables. */
bool lra_ladder_is_published(const lra_ladder_kind *k);
/* Writes the name of a rung: "K = 5", "dilation = 4". */
const char *lra_ladder_rung_name(const lra_ladder_kind *k, int64_t value, char text[48]);
/* Suffix of a title for ladders that are not plain ladders of kernels: ", over dilation". The
 * caller frees it. */
char *lra_ladder_kind_text(const lra_ladder_kind *k);
/* True if a "key=value" line of a configuration can differ between the rungs of one ladder.
 * The seed can. */
bool lra_ladder_is_own_line(const lra_ladder_kind *k, const char *line);
/* Value of an integer setting of the model in the configuration; -1: missing. */
int64_t lra_ladder_setting(const lra_result *r, const char *key);
/* Value of the solved key in a rung; -1: the ladder is not matched. */
int64_t lra_ladder_size(const lra_ladder_kind *k, const lra_result *r);

#endif
