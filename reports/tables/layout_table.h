/* Prints the layouts of the papers as tables: `lra-report tables --table las-T4`. */
#ifndef LRA_REPORTS_TABLES_LAYOUT_TABLE_H
#define LRA_REPORTS_TABLES_LAYOUT_TABLE_H

#include "reports/papers/layout.h"
#include "reports/report.h"

/* The table of a layout; reports set its layout in the input (lra_report_input.layout). */
lra_report_table lra_layout_table(const lra_layout *l);

#endif
