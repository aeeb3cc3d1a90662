/* Prepared data of a task: loaded if they exist, otherwise made and stored. */
#ifndef LRA_DATASETS_PREPARE_H
#define LRA_DATASETS_PREPARE_H

#include "datasets/loader/dataset.h"

/* Prepared data: read from OUT/data/TASK-HASH.h5 (checked against their fingerprint) or made and
 * kept there.  Nullable: data_dir (then generated). */
lra_dataset *lra_dataset_open(const lra_task *t, const lra_config *c, const char *out,
                              const char *data_dir, lra_err *e);
/* Like lra_dataset_open(), but writes nothing: unprepared data are made and not kept. */
lra_dataset *lra_dataset_look(const lra_task *t, const lra_config *c, const char *out,
                              const char *data_dir, lra_err *e);
/* Prepared data below OUT/data with this fingerprint, imported or generated, presented according to
 * the parameters; NULL without a message if there are none. */
lra_dataset *lra_dataset_find(const lra_task *t, const lra_config *c, const char *out,
                              const char *fingerprint);
/* Data that are kept nowhere: generated, or imported from official files. */
lra_dataset *lra_dataset_make(const lra_task *t, const lra_config *c, lra_err *e);
/* 0, LRA_ABSENT if the folder has no such files, or another failure. */
int lra_dataset_import(const lra_task *t, const lra_config *c, const char *data_dir,
                       lra_dataset **out, lra_err *e);

#endif
