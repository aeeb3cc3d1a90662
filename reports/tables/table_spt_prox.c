/* Table spt-prox: does self-pretraining turn absolute positions into attention to near tokens?
 * Distance of attention, kernels and Jacobians relative to uniform weights, and the shares of
 * position and content in attention weights, with random, pretrained and fine-tuned weights and
 * after training from scratch: means over all heads or layers; and the paired differences. Runs
 * that differ only in their seed are combined. Source of the numbers: lra-probe attention,
 * kernels and influence. The question is from this project; the runs are those of "Never Train
 * from Scratch" (Amos et al. 2024). */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/measurement_columns.h"
#include "reports/views/weight_phases.h"
#include "reports/report.h"

static const char *const ids[] = {"dist.mean.rel", "share.relative", "share.absolute",
                                  "share.content"};
enum { IDS = sizeof ids / sizeof *ids };

static lra_table *new_table(const char *title, const char *what, const char *key)
{
    lra_columns c = {.n = 0};
    lra_columns_add(&c, "model", "model");
    lra_columns_add(&c, "task", "task");
    lra_columns_add(&c, "", "preset");
    lra_columns_add(&c, "pretraining", "objective");
    lra_columns_add(&c, "measured", "measured");
    lra_columns_add(&c, what, key);
    lra_columns_add(&c, "seeds", "seeds");
    for (int i = 0; i < IDS; i++) {
        lra_columns_measurement(&c, NULL, ids[i], LRA_COLUMN_VALUE, true);
        lra_columns_measurement(&c, NULL, ids[i], LRA_COLUMN_INTERVAL, true);
    }
    return lra_columns_table(&c, title);
}

static void begin_row(lra_table *t, const lra_phase_pair *p, const char *what)
{
    const lra_probe_result *r = p->tuned->seed[0];
    lra_table_row(t);
    char *model = lra_phase_model(p);
    lra_table_cell(t, "%s", model);
    lra_free(model);
    lra_table_cell(t, "%s", r->task);
    lra_table_cell(t, "%s", r->preset);
    lra_table_cell(t, "%s", *p->objective ? p->objective : "-");
    lra_table_cell(t, "%s", lra_phase_parts(p));
    lra_table_cell(t, "%s", what);
}

static void add_values(lra_table *t, const lra_measurement f[IDS])
{
    int64_t seeds = 0;
    for (int i = 0; i < IDS; i++) seeds = f[i].seeds > seeds ? f[i].seeds : seeds;
    lra_table_number(t, (double)seeds, 0);
    for (int i = 0; i < IDS; i++) {
        lra_table_number(t, f[i].value, 3);
        lra_table_interval(t, f[i].lo, f[i].hi, 3);
    }
}

static void add_phases(lra_table *t, const lra_phase_pair *p)
{
    for (int k = 0; k < LRA_PHASES; k++) {
        lra_measurement f[IDS];
        for (int i = 0; i < IDS; i++) f[i] = lra_phase_value(p, (lra_phase)k, ids[i], -1);
        begin_row(t, p,
                  k == LRA_PHASE_SCRATCH && p->control ? "control, from scratch"
                                                       : lra_phase_names[k]);
        add_values(t, f);
    }
}

static const struct {
    lra_phase to, from;
} changes[] = {{LRA_PHASE_PRETRAINED, LRA_PHASE_RANDOM},
               {LRA_PHASE_TUNED, LRA_PHASE_PRETRAINED},
               {LRA_PHASE_SCRATCH, LRA_PHASE_RANDOM},
               {LRA_PHASE_TUNED, LRA_PHASE_SCRATCH}};

static void add_changes(lra_table *t, const lra_phase_pair *p)
{
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        lra_measurement f[IDS];
        for (int i = 0; i < IDS; i++)
            f[i] = lra_phase_change(p, changes[k].to, changes[k].from, ids[i]);
        char *what = lra_format("%s - %s", lra_phase_names[changes[k].to],
                                lra_phase_names[changes[k].from]);
        begin_row(t, p, what);
        lra_free(what);
        add_values(t, f);
    }
}

/* Adds the answer for each pair: whether attention is nearer with pretrained than with random
 * weights. */
static void add_answers(lra_table *t, int n, const lra_phase_pair *pairs)
{
    for (int i = 0; i < n; i++) {
        const lra_probe_result *r = pairs[i].tuned->seed[0];
        lra_measurement f = lra_phase_change(&pairs[i], LRA_PHASE_PRETRAINED, LRA_PHASE_RANDOM,
                                             ids[0]);
        const char *answer = isnan(f.value)               ? "no seed in common"
                             : isnan(f.lo) || isnan(f.hi) ? "one seed: no interval"
                             : f.hi < 0                   ? "nearer"
                             : f.lo > 0                   ? "farther"
                                                          : "no significant change";
        char *model = lra_phase_model(&pairs[i]);
        lra_table_note(t, "%s, %s\t%s, pretrained - random: dist/uniform %+.3f, %s", model, r->task,
                       lra_phase_parts(&pairs[i]), f.value, answer);
        lra_free(model);
    }
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_probe_cell *cells;
    lra_phase_pair *pairs;
    int n_cells = lra_probe_cells(in->n_probes, in->probes, &cells);
    int n = lra_phase_pairs(n_cells, cells, &pairs);
    if (n) {
        *list = lra_alloc_array(2, sizeof **list);
        (*list)[0] = new_table(
            "Distances in the phases of self-pretraining: means over heads or layers", "weights",
            "weights");
        (*list)[1] = new_table("Distances in the phases of self-pretraining: paired differences",
                               "difference", "difference");
        for (int i = 0; i < n; i++) {
            add_phases((*list)[0], &pairs[i]);
            add_changes((*list)[1], &pairs[i]);
        }
        add_answers((*list)[1], n, pairs);
        lra_note_measurements((*list)[0], IDS, ids, false);
        lra_table_note(
            (*list)[0],
            "weights\trandom: before training from scratch; pretrained: before "
            "fine-tuning; control: trained for the steps of both phases; all on inputs without "
            "masks");
        for (int k = 0; k < 2; k++)
            lra_table_note((*list)[k], "CI\t95 %% interval over seeds; none for one seed");
    }
    lra_free(pairs);
    lra_probe_cells_free(cells, n_cells);
    return n ? 2
             : lra_fail(e,
                        "no pair of a fine-tuned run ('train --from') and a run from scratch with "
                        "the same task and model");
}

const lra_report_table lra_table_spt_prox = {
    "spt-prox",
    "distance of attention, kernels, Jacobian: random, pretrained, fine-tuned, from scratch", make,
    LRA_FROM_RESULTS_AND_PROBES, NULL};
