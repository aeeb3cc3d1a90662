/* Attention weights of the layers by distance. */
#include "reports/html/page.h"

const lra_page_section lra_section_attention = {
    .id = "attention",
    .title = "Attention",
    .table = &lra_table_attention,
    .figure = {{&lra_figure_distance, true, false},
               {&lra_figure_maps, true, false},
               {&lra_figure_las_2, .rare = true},
               {&lra_figure_spt_prox, .rare = true}},
    .how_to_read =
        "Each row is a head, or a mean over heads. A mean distance below that of uniform weights means "
        "that the head attends to near tokens. In the figure, a curve above the grey one is a head that "
        "puts more weight on near tokens than uniform weights do.",
    .null_value = "Uniform weights under the same mask, and the same head at initialisation.",
    .rank = 6,
    .command = "lra-probe attention RUN",
};
