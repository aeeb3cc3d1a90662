/* Language models: loss by length of the context, by position, and retrieval. */
#include "reports/html/page.h"

const lra_page_section lra_section_language = {
    .id = "language",
    .title = "Language model",
    .table = &lra_table_language,
    .figure = {{&lra_figure_context_curve, .rare = true}, {&lra_figure_layers, .rare = true}},
    .how_to_read =
        "The context curve is the loss of a token when only the c tokens before it stay; a curve that is "
        "flat from a small c on belongs to a model that uses only near tokens. The loss by position falls "
        "as long as more context helps. Distances by layer are those of part jacobian after each layer: "
        "where they grow, a layer mixes more distant tokens. Retrieval places a random fact at several depths of inputs of "
        "several lengths.",
    .null_value =
        "The loss by token frequencies, and, for the context curve, the loss with the full "
        "context at the same tokens.",
    .rank = 5,
    .command = "lra-probe influence RUN --parts context-curve,token-loss,retrieval",
};
