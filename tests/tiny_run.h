/* The smallest run that has everything: 24 / 4 / 6 rows of short ListOps and a convolution of width
 * 4. */
#ifndef LRA_TESTS_TINY_RUN_H
#define LRA_TESTS_TINY_RUN_H

#include "kernels/graph/backend.h"
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

/* One that is trained, for a whole program: run, device and report of all its tests. */
typedef struct {
    tiny_run run;
    lra_device device;
    lra_train_report report;
} tiny_trained;
extern tiny_trained trained;
enum { TINY_ROWS = 6, TINY_CLASSES = 10 };
/* Three steps an epoch, in the folder of tests/folder.h. */
int tiny_train(const char *folder, const char *model, int epochs);
void tiny_forget(void);

#endif
