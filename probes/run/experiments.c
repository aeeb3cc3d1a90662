/* Experiments of the papers. To add one: a row here.
 *
 * A grid is a product of values, and each of its runs is trained once, so results that are not such
 * a product are left out. Also left out: self-pretraining (Never Train from Scratch), which is a
 * sequence of two runs (`train --objective pretrain-masked`, then `train --weights`), results that
 * a paper quotes from other papers, and language models of sizes without a preset. Settings are
 * those of the paper's preset. */
#include "probes/run/experiments.h"

#include <stddef.h>
#include <string.h>

#define LOCALITY "On the locality bias and results in the LRA"
#define LAS      "Viewing Transformers Through the Lens of Long Convolution Layers"
#define FIVE     "task = listops, text, retrieval, image, pathfinder\n"
#define FOUR     "task = listops, text, image, pathfinder\n"

static const lra_experiment experiments[] = {
    {"loc-T1", LOCALITY ", table 1", "kernels of a residual convolution",
     "preset = paper:locality\nmodel = resconv\n" FIVE "kernel = 5, 7, 11, 21, 31, 61\n"},
    {"loc-T2", LOCALITY ", table 2", "a rotary Transformer and MEGA, trained as in the paper",
     "preset = paper:locality\nmodel = transformer, mega\n" FIVE},
    {"loc-T3", LOCALITY ", table 3", "gMLP, S4 and S5, trained as in the paper",
     "preset = paper:locality\nmodel = gmlp, s4, s5\n" FIVE},
    {"loc-T4", LOCALITY ", table 4 (with techniques)", "position encodings of a Transformer",
     "preset = paper:locality\nmodel = transformer\n" FIVE
     "positions = learned, sinusoidal, rotary\n"},
    {"las-T2", LAS ", table 2", "LaS attention, full and in chunks of 128",
     "preset = paper:las\nmodel = las\n" FIVE "chunk = 0, 128\n"},
    {"las-T4", LAS ", table 4", "ablation of decay and smoothing, in chunks of 128",
     "preset = paper:las\nmodel = las, l, s, alibi, smooth-alibi\n"
     "task = listops, text, retrieval, image\nchunk = 128\n"},
    {"las-fig5", LAS ", figure 5 (table 5)", "LaS attention by size of its chunks",
     "preset = paper:las\nmodel = las\n" FOUR "chunk = 16, 32, 64, 128, 256, 512, 0\n"},
    {"las-fig6", LAS ", figure 6 (table 6)", "LaS attention by fraction of the training rows",
     "preset = paper:las\nmodel = las\n" FOUR "fraction = 0.1, 0.25, 0.5, 0.75, 1\n"},
};
enum { N = sizeof experiments / sizeof *experiments };

const lra_experiment *lra_experiment_at(int i)
{
    return i >= 0 && i < N ? &experiments[i] : NULL;
}

const lra_experiment *lra_experiment_find(const char *name)
{
    for (int i = 0; i < N; i++)
        if (strcmp(experiments[i].name, name) == 0) return &experiments[i];
    return NULL;
}
