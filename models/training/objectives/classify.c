/* The task's own loss. */
#include "models/training/objective.h"

const lra_objective lra_objective_classify = {
    .name = "classify", .paper = "every paper", .summary = "the goal of the task alone"};
