/* Convolution kernels and the kernels of state spaces by distance. */
#include "reports/html/page.h"

const lra_page_section lra_section_kernels = {
    .id = "kernels",
    .title = "Kernels",
    .table = &lra_table_kernels,
    .figure = {{&lra_figure_decay, false, false},
               {&lra_figure_las_1, false, false},
               {&lra_figure_spt_kern, .rare = true}},
    .how_to_read =
        "Each row is a layer; a value is the median over its channels. A radius of 99 % is the distance "
        "within which 99 % of the energy of a kernel lies. In the figure, a line that falls faster is "
        "a more local kernel.",
    .null_value = "Uniform weights over all lags, and the kernels at initialisation.",
    .rank = 7,
    .command = "lra-probe kernels RUN",
};
