/* Tuned settings: values that trials have chosen for each model. */
#include "reports/html/page.h"

const lra_page_section lra_section_tuned = {
    .id = "tuned",
    .title = "Tuned settings",
    .table = &lra_table_tuned,
    .how_to_read =
        "Each row is one combination of a sweep. Trials with separate seeds choose the value of the "
        "setting on the validation examples; the test metric is of runs with that value and with "
        "other seeds. A wide window means that the model needs no careful choice.",
    .null_value = "Factor 1: the value of the preset.",
};
