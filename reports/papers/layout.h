/* Layouts of the papers' tables, and of figures that are tables of runs: rows and columns as
 * printed, the settings of the runs that fill a cell, and the published value of a cell. A layout
 * is data: `lra-probe sweep NAME` trains its cells, and `lra-report tables --table NAME` prints
 * them, so that an experiment and its table cannot disagree.
 *
 * Settings are words "key=value". A cell has those of its row and its column; the row's replace the
 * column's. Keys are task, model, preset, precision, objective, schedule, techniques, the keys of
 * --set, and two relations:
 *   techniques=locality        the training techniques of this paper are on (techniques.h);
 *                              none: they are off
 *   from=pretrain-masked       fine-tuned from a run with the same settings and this objective
 *   matched=pretrain-masked    control: trained from scratch for the steps of both phases
 * A word with a condition is used only in some cells: "paper:width=768" with a preset `paper`,
 * "path-x:model=spt-local" in the column of this task. */
#ifndef LRA_REPORTS_PAPERS_LAYOUT_H
#define LRA_REPORTS_PAPERS_LAYOUT_H

#include <stdbool.h>

#include "kernels/base/core/config.h"

enum { LRA_LAYOUT_COLUMNS = 16, LRA_LAYOUT_ROWS = 40 };

typedef struct {
    const char *head;     /* as printed */
    const char *settings; /* settings of the column's runs, with task=TASK */
    /* metric in published.csv, for example "accuracy"; an average has that of its columns */
    const char *metric;
    const char *published; /* task in published.csv; NULL: the task of the settings */
} lra_layout_column;

typedef struct {
    const char *label;    /* as printed */
    const char *settings; /* settings of the row's runs; NULL: none of its cells is trained */
    const char *model, *variant; /* model and variant in published.csv; NULL: not in the paper */
    /* columns that are not trained: their tasks, separated by blanks. NULL: none */
    const char *without;
    const char *why; /* reason why cells are not trained */
} lra_layout_row;

/* How a paper averages a row. */
typedef enum {
    LRA_AVERAGE_NONE,
    LRA_AVERAGE_REPORTED, /* mean of the columns that the row reports */
    LRA_AVERAGE_CHANCE    /* the same, but a missing column counts as 50 % */
} lra_average_rule;

typedef struct {
    const char *id;    /* name of the table and of the sweep: "las-T4" */
    const char *paper; /* paper in published.csv: "locality", "las", "spt" */
    const char *table; /* table in published.csv: "4"; NULL: no published values */
    const char *title; /* title as printed in the paper */
    const char *summary;
    int n_columns, n_rows;
    const lra_layout_column *column;
    const lra_layout_row *row;
    struct {
        lra_average_rule rule;
        int over;                     /* number of columns in the average: the first ones */
        const char *head, *published; /* head as printed; task in published.csv */
        int at;                       /* number of columns before the average */
    } average;
    const char *notes; /* errata and remarks, one per line; NULL: none */
} lra_layout;

const lra_layout *lra_layout_at(int i);            /* Layout number i; NULL after the last. */
const lra_layout *lra_layout_find(const char *id); /* The layout with this name, or NULL. */
/* Title of a paper ("locality"). */
const char *lra_layout_paper(const char *paper);

/* Settings of the runs of a cell, with the preset of the layout or, if it is given, another one.
 * NULL: the cell is not trained; *why is the reason. The caller frees them. Nullable: preset,
 * why. */
lra_config *lra_layout_settings(const lra_layout *l, int row, int column, const char *preset,
                                const char **why);
/* True if the cells of a column are filled by the runs of an earlier column. */
bool lra_layout_is_derived(const lra_layout *l, int column);
/* Published value of a cell in the unit of the paper; NAN: not reported, or not in the paper. */
double lra_layout_published(const lra_layout *l, int row, int column);
/* Published average of a row; NAN: none. */
double lra_layout_published_average(const lra_layout *l, int row);
/* Average of a row by the rule of the paper, from the published values of its cells. NAN: none. */
double lra_layout_average(const lra_layout *l, int row);

#endif
