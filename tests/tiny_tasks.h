/* A tiny made-up task of every goal, which a convolution of three taps learns:
 *   tiny-class  is there a 5 among the tokens?                      tiny-pair   are both documents of one half?
 *   tiny-value  3 times the mean of the numbers, plus 1             tiny-steps  twice the number, but for the first
 *   tiny-next   the token that follows is the next one modulo 5 */
#ifndef LRA_TESTS_TINY_TASKS_H
#define LRA_TESTS_TINY_TASKS_H

#include "datasets/loader/dataset.h"

extern const lra_task tiny_tasks[]; /* by goal: tiny_tasks[LRA_GOAL_PAIR] */
enum { N_TINY_TASKS = LRA_GOAL_NEXT + 1 };
/* The rows of its default parameters. */
lra_dataset *tiny_dataset(lra_goal goal);

#endif
