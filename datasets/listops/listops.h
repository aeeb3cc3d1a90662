/* ListOps: parameters of the generator and facts about rows, for other folders. */
#ifndef LRA_DATASETS_LISTOPS_LISTOPS_H
#define LRA_DATASETS_LISTOPS_LISTOPS_H

#include "datasets/listops/tree.h"
#include "datasets/loader/dataset.h"

enum { LISTOPS_ROOTS = LISTOPS_OPS + 1, LISTOPS_LABELS = 10 };

/* Reads the parameters of the generator. Returns LRA_USAGE if one is out of range. */
int lra_listops_shape_read(const lra_config *c, lra_listops_shape *s, lra_err *e);

typedef struct {
    int32_t root;   /* operator of the root: 0..3 MIN MAX MED SM, 4 a digit */
    int32_t arity;  /* number of arguments of the root; 0 for a digit */
    int32_t depth;  /* depth of the deepest node (root 1), as max-depth counts */
    int32_t length; /* number of tokens without <eos> */
} lra_listops_facts;
/* Returns facts about a valid row of n tokens (with or without <eos>). */
lra_listops_facts lra_listops_row_facts(const uint16_t *token, int64_t n);

/* Counts the labels of n newly drawn rows by operator of the root: count (LISTOPS_ROOTS,
 * LISTOPS_LABELS). Their random numbers are independent of those of the data. Repeated rows are not
 * removed. */
void lra_listops_expected(const lra_listops_shape *s, uint64_t seed, int64_t n, int64_t *count);

#endif
