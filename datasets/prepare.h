/* Prepares the data of a task: reads the stored file if it exists, otherwise makes and stores
 * it. */
#ifndef LRA_DATASETS_PREPARE_H
#define LRA_DATASETS_PREPARE_H

#include "datasets/loader/dataset.h"

/* Reads prepared data from OUT/data/TASK-HASH.h5 (checking their fingerprint), or makes and stores
 * them there. Nullable: data_dir (the rows are then generated). */
lra_dataset *lra_dataset_open(const lra_task *t, const lra_config *c, const char *out,
                              const char *data_dir, lra_err *e);
/* Same as lra_dataset_open(), but writes nothing: data that are not prepared are made and not
 * stored. */
lra_dataset *lra_dataset_open_readonly(const lra_task *t, const lra_config *c, const char *out,
                                       const char *data_dir, lra_err *e);
/* Returns the prepared data below OUT/data with this fingerprint, imported or generated, with the
 * model inputs that the parameters define; NULL without a message if there are none. */
lra_dataset *lra_dataset_find(const lra_task *t, const lra_config *c, const char *out,
                              const char *fingerprint);
/* lra_dataset_make() generates data without storing them, lra_dataset_import() imports them from
 * official files without storing them. */
lra_dataset *lra_dataset_make(const lra_task *t, const lra_config *c, lra_err *e);
/* Returns 0, LRA_ABSENT if the folder has no such files, or another failure code. */
int lra_dataset_import(const lra_task *t, const lra_config *c, const char *data_dir,
                       lra_dataset **out, lra_err *e);

#endif
