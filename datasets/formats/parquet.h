/* Parquet files are recognised but not read: users are told how to convert data sets that are
 * distributed in this form. */
#ifndef LRA_DATASETS_FORMATS_PARQUET_H
#define LRA_DATASETS_FORMATS_PARQUET_H

#include <stdbool.h>

#include "datasets/loader/dataset.h"

/* Returns true if the path is a Parquet file. */
bool lra_parquet_is(const char *path);
/* If there are Parquet files at the path or up to four levels below it, replaces the message by one
 * about these, and warns with the command that converts them to official files. Returns `code`. */
int lra_parquet_explain(const lra_task *t, const char *path, int code, lra_err *e);

#endif
