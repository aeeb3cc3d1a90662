/* Training curves of the runs that this program trained. */
#include <string.h>

#include "reports/html/page.h"

static void write(lra_page *p, lra_text *to)
{
    bool trained = false;
    for (int i = 0; i < p->all->n; i++) trained = trained || p->all->list[i]->n_epochs > 1;
    if (!trained) return;
    lra_text figure = {0};
    lra_page_add_figure(p, &figure, &lra_figure_training, &p->source[LRA_FROM_RESULTS]);
    if (figure.n) {
        lra_page_paragraph(
            to, "",
            "A validation metric that still rises at the end, or a training loss that still falls, means "
            "that longer training can change the comparison.");
        lra_text_bytes(to, figure.s, figure.n);
    }
    lra_text_free(&figure);
}

const lra_page_section lra_section_training = {
    .id = "training", .title = "Training", .write = write};
