/* Which results are rungs of one ladder: those that differ in one key of the model (the axis), in
 * the seed and, when they were matched, in the key that was solved for it.
 *
 * A result says for which ladder it was trained (`ladder`, FORMAT.md).  One that is a rung of
 * several stands in all of them: without a match wherever its other settings are those of the rest,
 * with one where its count is the very number that the rungs were made equal to, or where the rung
 * of another matched ladder came to the same width.  So matched and unmatched rungs never mix. */
#ifndef LRA_REPORTS_LADDER_LADDER_RUNGS_H
#define LRA_REPORTS_LADDER_LADDER_RUNGS_H

#include <stdbool.h>

#include "reports/results/result.h"

enum { LRA_LADDER_WORD = 24 };
typedef struct {
    char axis[LRA_LADDER_WORD];
    int64_t usual; /* of the axis: what a configuration without it means; -1: not known */
    char match[LRA_LADDER_WORD]; /* "none", "params", "flops" */
    char key[LRA_LADDER_WORD];   /* that is solved */
    int64_t reference;           /* its value in the reference rung */
    double count;                /* that all have */
} lra_ladder_kind;

typedef struct {
    const lra_result *result;
    lra_ladder_kind kind;
    char *identity; /* equal: one ladder */
    int64_t value;  /* of the axis */
    bool own;       /* trained for this ladder */
} lra_ladder_member;

/* Rungs of all ladders, one ladder after the other, in each by value and seed.  Returns their
 * number, or -1. */
int lra_ladder_members(lra_result *const *list, int n, lra_ladder_member **members, lra_err *e);
void lra_ladder_members_free(lra_ladder_member *members, int n);

/* Over kernels, and not matched: what papers print. */
bool lra_ladder_is_plain(const lra_ladder_kind *k);
/* "K = 5", "dilation = 4" */
const char *lra_ladder_rung_name(const lra_ladder_kind *k, int64_t value, char text[48]);
/* What a title adds for a ladder that is not a plain one of kernels: ", over dilation"; caller
 * frees. */
char *lra_ladder_kind_text(const lra_ladder_kind *k);
/* Does a "key=value" line of a configuration differ inside such a ladder, the seed included? */
bool lra_ladder_is_own_line(const lra_ladder_kind *k, const char *line);
/* A whole number of the model, from the configuration; -1: not there. */
int64_t lra_ladder_setting(const lra_result *r, const char *key);
/* The solved key's value of a rung; -1: not matched. */
int64_t lra_ladder_size(const lra_ladder_kind *k, const lra_result *r);

#endif
