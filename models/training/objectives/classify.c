/* The objective `classify`: the task's loss alone. */
#include "models/training/objective.h"

const lra_objective lra_objective_classify = {
    .name = "classify", .paper = "every paper", .summary = "the loss of the task alone"};
