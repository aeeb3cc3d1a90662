/* Starting from another run: its inputs and encoder, not its head. */
#ifndef LRA_MODELS_TRAINING_TRANSFER_H
#define LRA_MODELS_TRAINING_TRANSFER_H

#include "kernels/graph/graph.h"

/* Puts the weights and states of a best file into `p`, but for heads ("head/", "pair/", "denoise/",
 * "cls/"), which stay as they are drawn.  Of an input layer with one channel more, and of a table
 * with one word more, the last is cut off: it told what was masked. */
int lra_transfer(lra_params *p, const char *best, lra_err *e);

#endif
