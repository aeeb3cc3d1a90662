/* Weights of one architecture in the phases of self-pretraining, from files of probes: random,
 * pretrained, fine-tuned, and trained from scratch. A fine-tuned run ('train --from') starts with
 * the pretrained weights, a run from scratch with random ones. Both are measured on the same inputs
 * without masks; the file of the pretraining run itself describes masked inputs. */
#ifndef LRA_REPORTS_VIEWS_WEIGHT_PHASES_H
#define LRA_REPORTS_VIEWS_WEIGHT_PHASES_H

#include "reports/draw/plot.h"
#include "reports/views/probe_view.h"

typedef enum {
    LRA_PHASE_RANDOM,
    LRA_PHASE_PRETRAINED,
    LRA_PHASE_TUNED,
    LRA_PHASE_SCRATCH,
    LRA_PHASES
} lra_phase;
extern const char *const lra_phase_names[LRA_PHASES]; /* "random", "pretrained", .. */

/* Value of a setting of the run of a file, "train.from"; "": not set. The caller frees it. */
char *lra_probe_setting(const lra_probe_result *r, const char *name);
bool lra_probe_has_setting(const lra_probe_result *r, const char *name);

/* A fine-tuned cell and its cell from scratch: the control with the same number of steps
 * (--matched) if there is one. */
typedef struct {
    const lra_probe_cell *tuned, *scratch;
    /* objective of pretraining, such as "pretrain-masked", from the file of the pretraining run;
     * "": its file is not among the cells */
    char objective[32];
    bool control; /* scratch is the control (--matched) */
} lra_phase_pair;
/* Finds the pairs among n cells of the same probe, task, data, preset and model; returns their
 * number. Names of models can differ in the words for training. The caller frees the list with
 * lra_free(). */
int lra_phase_pairs(int n, const lra_probe_cell *cells, lra_phase_pair **pairs);

/* Name of the model, with the settings in which it differs from others, without those of
 * training. The caller frees it. */
char *lra_phase_model(const lra_phase_pair *p);
/* The measured parts of the model: "attention heads", "kernels" (one unit per layer), or
 * "Jacobian" of the complete model (probe influence). */
const char *lra_phase_parts(const lra_phase_pair *p);
/* Number of layers with such parts. */
int lra_phase_layers(const lra_phase_pair *p);
/* A measurement of a phase: mean over the parts of a layer, or of all layers (layer -1), then over
 * seeds, with the interval over seeds. NAN: no part has it. */
lra_measurement lra_phase_value(const lra_phase_pair *p, lra_phase phase, const char *id,
                                int layer);
/* Difference `phase` minus `from`, paired by seed where both have the seed. */
lra_measurement lra_phase_change(const lra_phase_pair *p, lra_phase phase, lra_phase from,
                                 const char *id);

/* Meaning of "initial" for n cells, or n files: "at initialisation", or what it means if some of
 * them are fine-tuned. */
const char *lra_phase_initial(int n, const lra_probe_cell *cells);
const char *lra_phase_initial_of(int n, lra_probe_result *const *list);
/* Adds this meaning to the caption of a figure that draws values "at initialisation", if one of its
 * runs is fine-tuned. */
void lra_phase_caption(lra_plot *p, int n, lra_probe_result *const *list);

#endif
