/* Parquet: not read, but recognised, so that users learn what to do with the form in which data
 * sets are often redistributed today. */
#ifndef LRA_DATASETS_FORMATS_PARQUET_H
#define LRA_DATASETS_FORMATS_PARQUET_H

#include <stdbool.h>

#include "datasets/loader/dataset.h"

/* Is the file at the path itself one? */
bool lra_parquet_is(const char *path);
/* Replaces the message when Parquet files are what is at the path or up to four levels below it,
 * and warns with the command that makes official files of them; returns the code. */
int lra_parquet_explain(const lra_task *t, const char *path, int code, lra_err *e);

#endif
