/* The smallest run that has everything: 24 / 4 / 6 rows of short ListOps and a convolution of width 4. */
#ifndef LRA_TESTS_TINY_RUN_H
#define LRA_TESTS_TINY_RUN_H

#include "models/training/train.h"

typedef struct {
    lra_config *task, *model;
    lra_dataset *data;
    lra_train_spec spec;
} tiny_run;

/* model: the parameters of resconv.  `folder` and `config` are kept, not copied. */
int tiny_run_open(tiny_run *r, const char *folder, const char *config, const char *model,
                  lra_err *e);
void tiny_run_close(tiny_run *r);

#endif
