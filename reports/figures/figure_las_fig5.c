/* Figure las-fig5: test accuracy by size of the chunks within which attention is computed, one
 * panel for each task. Attention without chunks is drawn at the length of the longest input;
 * the Transformer, which has no chunks, is a horizontal line.
 * Source: figure 5 of "Viewing Transformers Through the Lens of Long Convolutions Layers"
 * (Zimerman and Wolf, ICML 2024), printed as "Table 5"; its values are not printed. Published
 * values are those of table 2, for chunks of 128 tokens and for full attention. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/results/published.h"
#include "reports/views/setting_curves.h"

/* Models with chunks: the setting and its default. */
static const struct {
    const char *model, *key, *value;
} chunked[] = {{"las", "model.chunk", "0"},
               {"l", "model.chunk", "0"},
               {"s", "model.chunk", "0"},
               {"alibi", "model.chunk", "0"},
               {"smooth-alibi", "model.chunk", "0"},
               {"local", "model.block", "50"},
               {"mega-chunk", "model.chunk", "128"}};

static double chunk_of(const lra_result *r, const lra_config *c)
{
    for (size_t i = 0; i < sizeof chunked / sizeof *chunked; i++)
        if (strcmp(r->model, chunked[i].model) == 0)
            return strtod(lra_config_text_or(c, chunked[i].key, chunked[i].value), NULL);
    return NAN;
}

/* Runs on all training rows, of models with chunks and of the Transformer. */
static char *variant_of(const lra_result *r, const lra_config *c)
{
    bool drawn = strcmp(r->model, "transformer") == 0 || !isnan(chunk_of(r, c));
    return drawn && lra_config_real_or(c, "train.fraction", 1) == 1 ? lra_copy_text("") : NULL;
}

static int published(const lra_result *r, const char *variant, double x[LRA_SETTING_PUBLISHED],
                     double y[LRA_SETTING_PUBLISHED])
{
    static const struct {
        const char *variant;
        double chunk;
    } values[] = {{"chunk 128", 128}, {"full attention", 0}};
    int n = 0;
    (void)variant;
    if (strcmp(r->model, "las") != 0) return 0;
    for (int i = 0; i < 2; i++) {
        y[n] = lra_published("las", "2", "las", values[i].variant, r->task, "accuracy");
        x[n] = values[i].chunk;
        n += !isnan(y[n]);
    }
    return n;
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    static const lra_setting_curves curves = {.figure = "las-fig5",
                                              .title = "Accuracy by size of attention chunks",
                                              .axis = "chunk (tokens)",
                                              .value = chunk_of,
                                              .variant = variant_of,
                                              .published = published};
    return lra_setting_curves_make(&curves, in, f, e);
}

const lra_report_figure lra_figure_las_fig5 = {
    "las-fig5", "test metric against the size of attention chunks, per task", make,
    LRA_FROM_RESULTS};
