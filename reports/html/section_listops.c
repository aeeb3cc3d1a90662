/* ListOps predictions by operator, label, arity, depth and length. */
#include "reports/html/page.h"

const lra_page_section lra_section_listops = {
    .id = "listops",
    .title = "ListOps by operation",
    .table = &lra_table_listops,
    .figure = {{&lra_figure_loc_1, false, false},
               {&lra_figure_loc_2, false, false},
               {&lra_figure_loc_3, false, false}},
    .how_to_read =
        "Each row is a subset of the test examples. The greedy column is the accuracy of the most "
        "frequent label of the root operator: a model that only reads the first token reaches it. The "
        "accuracy of a model that does not exceed it is no evidence that it uses other inputs.",
    .null_value = "Greedy: the most frequent label of each root operator.",
    .rank = 8,
    .command = "lra-probe listops RUN",
};
