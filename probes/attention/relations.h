/* Syntactic relations between the tokens of a ListOps row. A token represents a node of the tree: a
 * digit represents itself, an operator and its closing bracket represent their node.
 *   parent     the operator of the parent node
 *   children   digits and operators that are arguments of the token's own node
 *   siblings   digits and operators that are other arguments of the parent node
 *   bracket    the other end of the token's own node
 * A closing bracket is therefore never a parent, child or sibling; the root has no parent. */
#ifndef LRA_PROBES_ATTENTION_RELATIONS_H
#define LRA_PROBES_ATTENTION_RELATIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { LRA_PARENT, LRA_CHILDREN, LRA_SIBLINGS, LRA_BRACKET, LRA_RELATIONS } lra_relation;
extern const char *const lra_relation_names[LRA_RELATIONS];

typedef struct {
    int64_t n;
    int64_t *own;    /* (n) token that represents the same node as this token, or -1 (<eos>) */
    int64_t *around; /* (n) token of the parent node if this token represents a node, else -1 */
    int64_t *other;  /* (n) position of the matching bracket, or -1 if the token is no bracket */
} lra_tree;

/* Builds the tree of a valid row of n tokens. */
lra_tree lra_tree_new(const int32_t *token, int64_t n);
void lra_tree_free(lra_tree *t);
/* Returns true if token j is in this relation to token i. */
bool lra_tree_is(const lra_tree *t, lra_relation r, int64_t i, int64_t j);

#endif
