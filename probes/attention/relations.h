/* Who is who in the tree of a ListOps row, token by token.  A token stands for a node: a digit for
 * itself, an operator and the bracket that closes it for theirs.
 *   parent     the operator of the node around its own
 *   children   digits and operators that are arguments of its own
 *   siblings   those that are other arguments of the node around its own
 *   bracket    the other end of its own
 * so that brackets that close are nobody's parent, child or sibling; behind the root stands
 * none. */
#ifndef LRA_PROBES_ATTENTION_RELATIONS_H
#define LRA_PROBES_ATTENTION_RELATIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { LRA_PARENT, LRA_CHILDREN, LRA_SIBLINGS, LRA_BRACKET, LRA_RELATIONS } lra_relation;
extern const char *const lra_relation_names[LRA_RELATIONS];

typedef struct {
    int64_t n;
    int64_t *own;    /* (n) the token that stands for its node; -1: of none (<eos>) */
    int64_t *around; /* (n) of those that stand for a node, the one around it; else -1 */
    int64_t *other;  /* (n) the other bracket, or -1 */
} lra_tree;

/* Of a valid row of n tokens. */
lra_tree lra_tree_new(const int32_t *token, int64_t n);
void lra_tree_free(lra_tree *t);
/* Is token j in this relation to token i? */
bool lra_tree_is(const lra_tree *t, lra_relation r, int64_t i, int64_t j);

#endif
