/* Locality of the data, without a model. */
#include "reports/html/page.h"

const lra_page_section lra_section_information = {
    .id = "information",
    .title = "Information in the data",
    .table = &lra_table_information,
    .figure = {{&lra_figure_info, false, false}},
    .how_to_read =
        "Each row is a distance between two tokens of one example. An excess above 0 means that tokens "
        "at this distance depend on each other beyond their positions. Information between tokens is "
        "not information about the label.",
    .null_value = "The same two positions in different examples, for which the excess is 0.",
    .rank = 9,
    .command = "lra-probe data TASK --information",
};
