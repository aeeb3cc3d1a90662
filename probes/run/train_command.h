/* The command that asks for the model, the data and the training of a finished run once more. */
#ifndef LRA_PROBES_RUN_TRAIN_COMMAND_H
#define LRA_PROBES_RUN_TRAIN_COMMAND_H

#include "kernels/base/core/err.h"

/* "lra-probe train --task image --preset small --set kernel=7 ...": every setting that differs from
 * its preset's.
 * folder: of the run.  NULL with a message when the run is not finished; the caller frees it. */
char *lra_train_command(const char *folder, const char *out, lra_err *e);

#endif
