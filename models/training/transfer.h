/* Initialises a model by the inputs and the encoder of another run, without its head. */
#ifndef LRA_MODELS_TRAINING_TRANSFER_H
#define LRA_MODELS_TRAINING_TRANSFER_H

#include "kernels/graph/graph.h"

/* Copies the weights and states of a best.h5 file to `p`, except for heads ("head/", "pair/",
 * "denoise/", "cls/"), which keep their initialisation. If the file's input layer has one
 * additional channel, or its embedding table one additional word, which marked masked positions,
 * that last row is dropped. */
int lra_transfer(lra_params *p, const char *best, lra_err *e);

#endif
