/* Sweeps: ladders at several values of one setting, such as the distance of a dependency. */
#include "reports/html/page.h"

const lra_page_section lra_section_sweep = {
    .id = "sweep",
    .title = "Sweep of a setting",
    .table = &lra_table_sweep,
    .figure = {{&lra_figure_sweep, false, false}},
    .how_to_read =
        "Each row is one rung of the ladder, each column one value of the setting. A rung "
        "whose receptive field covers a distance can solve it; the others cannot.",
    .null_value = "Chance: the value of a model that ignores its input.",
    .rank = 1,
    .command = "lra-probe sweep",
};
