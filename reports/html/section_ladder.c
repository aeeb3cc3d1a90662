/* Ladders: models of growing reach, trained by one protocol. */
#include "reports/html/page.h"

const lra_page_section lra_section_ladder = {
    .id = "ladder",
    .title = "Accuracy against reach",
    .table = &lra_table_ladder,
    .figure = {{&lra_figure_loc_t1, false, false}},
    .how_to_read =
        "Each row is a model that sees at most this reach of tokens to each side, trained with the same "
        "protocol. The gain is 0 at chance and 1 at the reference. A reach is sufficient if its model "
        "is shown to lose no more than the margin to the reference.",
    .null_value =
        "Chance, the most frequent label of training (for regression the mean), and the rung "
        "without context, which sees a bag of single tokens.",
    .rank = 2,
    .command = "lra-probe receptive-field",
};
