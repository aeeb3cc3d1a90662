/* The command that repeats the training of a finished run: same model, data and settings. */
#ifndef LRA_PROBES_RUN_TRAIN_COMMAND_H
#define LRA_PROBES_RUN_TRAIN_COMMAND_H

#include "kernels/base/core/err.h"

/* "lra-probe train --task image --preset small --set kernel=7 ...": every setting that differs from
 * its preset. folder: of the run. NULL with a message if the run is unfinished; the caller frees
 * it. */
char *lra_train_command(const char *folder, const char *out, lra_err *e);

#endif
