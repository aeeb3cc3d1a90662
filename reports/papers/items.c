/* Tables and figures of the papers with their commands (items.h). To add one: a row here. */
#include "reports/papers/items.h"

#include <stddef.h>

#define SWEEP(name)    "lra-probe sweep " name
#define TABLE(name)    "lra-report tables --table " name
#define FIGURE(name)   "lra-report figures --figure " name
#define SETTINGS(name) "lra-probe list settings " name
#define LISTOPS                                                                                    \
    "lra-probe train --task listops --model transformer --preset paper:locality && lra-probe "     \
    "listops lra-out/runs/listops-transformer-*"
#define OF_RUNS(command) "lra-probe " command " lra-out/runs/*"

static const lra_paper_item items[] = {
    {"locality", "Table 1", "residual convolution by kernel size", SWEEP("loc-T1"),
     TABLE("loc-T1")},
    {"locality", "Table 1", "as curves", SWEEP("loc-T1"), FIGURE("loc-T1")},
    {"locality", "Table 2", "Transformers and MEGA", SWEEP("loc-T2"), TABLE("loc-T2")},
    {"locality", "Table 3", "S4, S5, gMLP", SWEEP("loc-T3"), TABLE("loc-T3")},
    {"locality", "Table 4", "position encodings", SWEEP("loc-T4"), TABLE("loc-T4")},
    {"locality", "Table 4", "as bars", SWEEP("loc-T4"), FIGURE("loc-T4")},
    {"locality", "Figure 1", "ListOps labels by root operator", LISTOPS, FIGURE("loc-1")},
    {"locality", "Figure 2", "ListOps accuracy minus the greedy baseline", LISTOPS,
     FIGURE("loc-2")},
    {"locality", "Figure 3", "ListOps accuracy by operator and label", LISTOPS, FIGURE("loc-3")},
    {"locality", "Appendix C", "Pathfinder training sets, D4 augmentation", SWEEP("loc-C"),
     TABLE("loc-C")},
    {"locality", "Table 5", "settings of the Transformer", NULL, SETTINGS("loc-T5")},
    {"locality", "Table 6", "settings of gMLP", NULL, SETTINGS("loc-T6")},
    {"locality", "Table 7", "settings of the residual convolution", NULL, SETTINGS("loc-T7")},
    {"las", "Figure 1", "random and trained kernels", OF_RUNS("kernels"), FIGURE("las-1")},
    {"las", "Table 1", "factors of the decay of scores", OF_RUNS("attention"), FIGURE("las-2")},
    {"las", "Table 2", "Long Range Arena, speed, memory", SWEEP("las-T2"), TABLE("las-T2")},
    {"las", "Table 3", "sMNIST, pMNIST", SWEEP("las-T3"), TABLE("las-T3")},
    {"las", "Table 4", "ablation of decay and smoothing", SWEEP("las-T4"), TABLE("las-T4")},
    {"las", "Table 5", "context length, as a table", SWEEP("las-fig5"), TABLE("las-fig5")},
    {"las", "Table 5", "context length, as curves", SWEEP("las-fig5"), FIGURE("las-fig5")},
    {"las", "Table 6", "data size, as a table", SWEEP("las-fig6"), TABLE("las-fig6")},
    {"las", "Table 6", "data size, as curves", SWEEP("las-fig6"), FIGURE("las-fig6")},
    {"las", "Table 7", "Select, CumSum, CumMax", SWEEP("las-T7"), TABLE("las-T7")},
    {"las", "Table 8", "text8, enwik8", SWEEP("las-T8"), TABLE("las-T8")},
    {"las", "Figure 2", "text8, enwik8 by epoch", SWEEP("las-T8"), FIGURE("las-fig2")},
    {"las", "Appendix C", "WikiText-103 perplexity", SWEEP("las-C"), TABLE("las-C")},
    {"las", "Figure 3", "WikiText-103 perplexity by epoch", SWEEP("las-C"), FIGURE("las-fig3")},
    {"las", "Figure 4", "attention maps", OF_RUNS("attention"), FIGURE("las-4")},
    {"las", "Table 9", "settings of LaS attention", NULL, SETTINGS("las-T9")},
    {"las", "Table 10", "design of long-range layers", OF_RUNS("kernels"), TABLE("las-design")},
    {"las", "Theorem B.1", "kernels realised by heads", OF_RUNS("kernels"), TABLE("theorem")},
    {"spt", "Table 1", "Transformers with self-pretraining", SWEEP("spt-T1"), TABLE("spt-T1")},
    {"spt", "Table 2", "best models with self-pretraining", SWEEP("spt-T2"), TABLE("spt-T2")},
    {"spt", "Table 3", "Speech Commands, sCIFAR, BIDMC", SWEEP("spt-T3"), TABLE("spt-T3")},
    {"spt", "Figure 1", "scratch against self-pretrained", SWEEP("spt-T2"), FIGURE("spt-1")},
    {"spt", "Figure 2", "explicit priors, as a table", SWEEP("spt-fig2"), TABLE("spt-fig2")},
    {"spt", "Figure 2", "explicit priors, as bars", SWEEP("spt-fig2"), FIGURE("spt-2")},
    {"spt", "kernels", "decay of learned kernels", OF_RUNS("kernels"), FIGURE("spt-kern")},
    {"spt", "positions", "distance of attention before and after", OF_RUNS("attention"),
     FIGURE("spt-prox")},
};

const lra_paper_item *lra_paper_item_at(int i)
{
    return i >= 0 && i < (int)(sizeof items / sizeof *items) ? &items[i] : NULL;
}
