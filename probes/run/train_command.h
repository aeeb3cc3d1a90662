/* The command that repeats the training of a finished run: same model, data and settings. */
#ifndef LRA_PROBES_RUN_TRAIN_COMMAND_H
#define LRA_PROBES_RUN_TRAIN_COMMAND_H

#include "kernels/base/core/err.h"

/* Returns "lra-probe train --task image --preset small --set kernel=7 ...": every setting that
 * differs from the preset. folder: the run's folder. NULL, with a message in e, if the run is
 * unfinished. The caller frees the text. */
char *lra_train_command(const char *folder, const char *out, lra_err *e);

#endif
