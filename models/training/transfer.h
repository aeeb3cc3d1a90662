/* Starting from another run: its inputs and encoder, not its head. */
#ifndef LRA_MODELS_TRAINING_TRANSFER_H
#define LRA_MODELS_TRAINING_TRANSFER_H

#include "kernels/graph/graph.h"

/* Copies the weights and states of a best.h5 file to `p`, except for heads ("head/", "pair/",
 * "denoise/", "cls/"), which keep their initialisation.  If the input layer has one channel more,
 * or a table one word more, that last one, which marked masked positions, is dropped. */
int lra_transfer(lra_params *p, const char *best, lra_err *e);

#endif
