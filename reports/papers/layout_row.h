/* Macros for the files that define layouts. */
#ifndef LRA_REPORTS_PAPERS_LAYOUT_ROW_H
#define LRA_REPORTS_PAPERS_LAYOUT_ROW_H

#include <stddef.h>

#include "reports/papers/layout.h"

/* The layouts of a paper, ended by a record without an id. */
typedef struct {
    const char *name, *title; /* name in published.csv; title as printed */
    const lra_layout *layout;
} lra_paper;

#define LRA_PAPER(name) extern const lra_paper lra_paper_##name;
#include "reports/papers/papers.def"
#undef LRA_PAPER

/* clang-format off */
/* A column of one task with the metric accuracy. */
#define LRA_TASK_COLUMN(head, task) {head, "task=" task, "accuracy", NULL}
/* A row that is trained. */
#define LRA_ROW(label, settings, model, variant) {label, settings, model, variant, NULL, NULL}
/* A row that the paper does not have. */
#define LRA_OUR_ROW(label, settings) {label, settings, NULL, NULL, NULL, NULL}
/* A row that cannot be trained. */
#define LRA_QUOTED_ROW(label, model, variant, why) {label, NULL, model, variant, NULL, why}
/* clang-format on */
#define LRA_COUNT(array)   (int)(sizeof(array) / sizeof *(array))
#define LRA_COLUMNS(array) .column = (array), .n_columns = LRA_COUNT(array)
#define LRA_ROWS(array)    .row = (array), .n_rows = LRA_COUNT(array)

#endif
