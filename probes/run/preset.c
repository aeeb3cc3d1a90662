/* Presets: what a task changes at the scale of minutes, of an experiment, of the paper. */
#include <string.h>

#include "kernels/base/mem.h"
#include "probes/run/job.h"

/* T = 1024: every ladder but the paper's has a rung that sees it all. */
#define PATHFINDER_QUICK                                                                           \
    "layers=4 width=32 hidden=64 groups=32 batch=64 epochs=2 rate=0.004 decay=0.01 warmup=0.05 "   \
    "final-share=0.5 final-rate=0.1",                                                              \
        "1,5,21,513", 2
#define PATHFINDER_SMALL                                                                           \
    "layers=6 width=64 hidden=128 groups=32 batch=64 epochs=4 rate=0.002 warmup=0.02",             \
        "1,5,11,21,61,343", 3
/* Streams: an epoch is a pass over all windows. */
#define LANGUAGE_QUICK                                                                             \
    "layers=3 width=64 hidden=128 causal=1 batch=16 epochs=4 rate=0.004 decay=0.01 warmup=0.05 "   \
    "final-share=0.5 final-rate=0.1",                                                              \
        "1,3,7", 2
#define LANGUAGE_SMALL                                                                             \
    "layers=4 width=128 hidden=256 causal=1 batch=16 epochs=4 rate=0.002 decay=0.01 warmup=0.02",  \
        "1,5,31", 3
#define LANGUAGE_PAPER                                                                             \
    "width=768 hidden=3072 causal=1 batch=64 epochs=22 rate=0.00025 decay=0.01 schedule=cosine "   \
    "warmup=2000",                                                                                 \
        "5,7,11,21,31,61", 3
/* 67 epochs of three sets have the steps of 200 of one. */
#define PATHFINDER_PAPER(epochs) "groups=32 batch=128 epochs=" epochs, "5,7,11,21,31,61", 3

/* One layer of kernel K has the field K: rungs below and above every power of two, or one above it. */
#define DISTANCE_QUICK                                                                             \
    "layers=1 width=16 hidden=32 batch=32 epochs=2 rate=0.004 decay=0.01 warmup=0.05",             \
        "5,13,25,49,97", 3
#define DISTANCE_SMALL                                                                             \
    "layers=1 width=32 hidden=64 batch=32 epochs=8 rate=0.004 decay=0.01 warmup=0.02",             \
        "1,5,9,17,33,65,129", 5

/* Two layers: every ladder but the paper's has a rung that sees it all.  The paper's rate is constant. */
#define ATOMIC_PRESETS(task)                                                                       \
    {task, "quick",                                                                                \
     "layers=2 width=32 hidden=64 batch=32 epochs=6 rate=0.004 decay=0.01 warmup=0.05",            \
     "1,5,17,65,129", 2},                                                                          \
        {task, "small", "layers=2 width=64 hidden=128 batch=64 epochs=8 rate=0.002 warmup=0.02",   \
         "1,5,17,65,257,577", 3},                                                                  \
    {                                                                                              \
        task, "paper",                                                                             \
            "layers=2 batch=64 epochs=12 rate=0.001 decay=0.01 schedule=constant warmup=0",        \
            "5,7,11,21,31,61", 5                                                                   \
    }
/* Photographs and digits; quick: a rung that sees all of 1,024 steps needs groups to take minutes.
 * paper: what the locality paper has for its grey photographs. */
#define IMAGE_QUICK                                                                                \
    "layers=3 width=32 hidden=64 groups=32 batch=16 epochs=8 rate=0.002 decay=0.1 warmup=0.05 "    \
    "final-share=0.34 final-rate=0.1",                                                             \
        "1,5,21,61,683", 2
#define IMAGE_SMALL                                                                                \
    "layers=6 width=64 hidden=128 batch=64 epochs=20 rate=0.002 warmup=0.02", "5,11,31", 3
#define IMAGE_PAPER "batch=64 epochs=200", "5,7,11,21,31,61", 3
#define DIGIT_PAPER "batch=64 epochs=100", "5,7,11,21,31,61", 3

/* A rung that sees it all does not fit in minutes.  quick: images are seen once, so that there are more to test. */
#define PATH_X_QUICK                                                                               \
    "layers=3 width=16 hidden=32 groups=16 batch=8 epochs=1 rate=0.004 decay=0.01 warmup=0.05 "    \
    "final-share=0.34 final-rate=0.1",                                                             \
        "5,61,513", 2
#define PATH_X_SMALL                                                                               \
    "layers=6 width=64 hidden=128 groups=32 batch=16 epochs=10 rate=0.002 warmup=0.02",            \
        "5,61,1025", 2
#define PATH_X_PAPER "groups=32 batch=32 epochs=50", "5,7,11,21,31,61", 3

/* paper: batches and epochs of the state-space papers. */
#define SPEECH_QUICK                                                                               \
    "layers=3 width=16 hidden=32 groups=16 batch=8 epochs=8 rate=0.002 decay=0.05 warmup=0.05 "    \
    "final-share=0.34 final-rate=0.1",                                                             \
        "5,61,513", 2
#define SPEECH_SMALL                                                                               \
    "layers=6 width=64 hidden=128 groups=32 batch=16 epochs=10 rate=0.002 decay=0.05 warmup=0.02", \
        "5,61,1025", 2
#define SPEECH_PAPER "batch=16 epochs=40 decay=0.05", "5,7,11,21,31,61", 3
#define BIDMC_QUICK                                                                                \
    "layers=3 width=16 hidden=32 groups=16 batch=4 epochs=8 rate=0.004 decay=0.05 warmup=0.05 "    \
    "final-share=0.34 final-rate=0.1",                                                             \
        "5,61,513", 2
#define BIDMC_SMALL                                                                                \
    "layers=4 width=64 hidden=128 groups=32 batch=32 epochs=20 rate=0.002 decay=0.05 warmup=0.02", \
        "5,61,1025", 2
#define BIDMC_PAPER "batch=32 epochs=500 decay=0.05", "5,7,11,21,31,61", 3

/* One layer: its reach is (K - 1) / 2 steps back. */
#define COPY_QUICK                                                                                 \
    "layers=1 width=16 hidden=32 batch=32 epochs=4 rate=0.004 decay=0.01 warmup=0.05",             \
        "5,17,33,65,129", 3
#define COPY_SMALL                                                                                 \
    "layers=1 width=32 hidden=64 batch=32 epochs=8 rate=0.004 decay=0.01 warmup=0.02",             \
        "1,5,9,17,33,65,129", 5

static const lra_preset presets[] = {
    {"listops", "quick",
     "layers=3 width=32 hidden=64 batch=64 epochs=3 rate=0.004 decay=0.01 warmup=0.05 "
     "final-share=0.34 final-rate=0.1",
     "1,3,5,7,15,23", 3},
    {"listops", "small", "layers=4 width=64 hidden=128 batch=64 epochs=10 rate=0.002 warmup=0.02",
     "1,5,11,21,31,65", 3},
    {"listops", "paper", "", "5,7,11,21,31,61", 3},
    {"pathfinder", "quick", PATHFINDER_QUICK},
    {"pathfinder", "small", PATHFINDER_SMALL},
    {"pathfinder", "paper", PATHFINDER_PAPER("67")},
    {"pathfinder-intermediate", "quick", PATHFINDER_QUICK},
    {"pathfinder-intermediate", "small", PATHFINDER_SMALL},
    {"pathfinder-intermediate", "paper", PATHFINDER_PAPER("200")},
    {"pathfinder-easy", "quick", PATHFINDER_QUICK},
    {"pathfinder-easy", "small", PATHFINDER_SMALL},
    {"pathfinder-easy", "paper", PATHFINDER_PAPER("200")},
    {"text", "quick",
     "layers=3 width=32 hidden=64 batch=32 epochs=6 rate=0.004 decay=0.1 warmup=0.05 "
     "final-share=0.34 final-rate=0.1",
     "1,5,31", 2},
    {"text", "small",
     "layers=4 width=64 hidden=64 batch=32 epochs=5 rate=0.002 decay=0.2 warmup=0.02", "5,31", 3},
    {"text", "paper", "layers=4 batch=16 epochs=80 decay=0.2 patience=5", "5,7,11,21,31,61", 3},
    {"retrieval", "quick",
     "layers=3 width=32 hidden=64 batch=32 epochs=8 rate=0.004 decay=0.1 warmup=0.05 "
     "final-share=0.34 final-rate=0.1",
     "1,5,31", 2},
    {"retrieval", "small", "layers=4 width=64 hidden=128 batch=32 epochs=6 rate=0.001 warmup=0.02",
     "5,31", 3},
    {"retrieval", "paper", "layers=4 batch=64 epochs=60 rate=0.0003 patience=5", "5,7,11,21,31,61",
     3},
    {"text8", "quick", LANGUAGE_QUICK},
    {"text8", "small", LANGUAGE_SMALL},
    {"text8", "paper", LANGUAGE_PAPER},
    {"enwik8", "quick", LANGUAGE_QUICK},
    {"enwik8", "small", LANGUAGE_SMALL},
    {"enwik8", "paper", LANGUAGE_PAPER},
    {"wikitext-103", "quick", LANGUAGE_QUICK},
    {"wikitext-103", "small", LANGUAGE_SMALL},
    {"wikitext-103", "paper", LANGUAGE_PAPER},
    ATOMIC_PRESETS("select"),
    ATOMIC_PRESETS("cumsum"),
    ATOMIC_PRESETS("cummax"),
    {"copy", "quick", COPY_QUICK},
    {"copy", "small", COPY_SMALL},
    {"xor", "quick", DISTANCE_QUICK},
    {"xor", "small", DISTANCE_SMALL},
    {"path-x", "quick", PATH_X_QUICK},
    {"path-x", "small", PATH_X_SMALL},
    {"path-x", "paper", PATH_X_PAPER},
    {"path-x-256", "quick", PATH_X_QUICK},
    {"path-x-256", "small", PATH_X_SMALL},
    {"path-x-256", "paper", PATH_X_PAPER},
    {"image", "quick", IMAGE_QUICK},
    {"image", "small", IMAGE_SMALL},
    {"image", "paper", "augment=1 " IMAGE_PAPER},
    {"image-tokens", "quick", IMAGE_QUICK},
    {"image-tokens", "small", IMAGE_SMALL},
    {"image-tokens", "paper", IMAGE_PAPER},
    {"scifar", "quick", IMAGE_QUICK},
    {"scifar", "small", IMAGE_SMALL},
    {"scifar", "paper", IMAGE_PAPER},
    {"smnist", "quick", IMAGE_QUICK},
    {"smnist", "small", IMAGE_SMALL},
    {"smnist", "paper", DIGIT_PAPER},
    {"pmnist", "quick", IMAGE_QUICK},
    {"pmnist", "small", IMAGE_SMALL},
    {"pmnist", "paper", DIGIT_PAPER},
    {"speech-commands", "quick", SPEECH_QUICK},
    {"speech-commands", "small", SPEECH_SMALL},
    {"speech-commands", "paper", SPEECH_PAPER},
    {"bidmc-hr", "quick", BIDMC_QUICK},
    {"bidmc-hr", "small", BIDMC_SMALL},
    {"bidmc-hr", "paper", BIDMC_PAPER},
    {"bidmc-rr", "quick", BIDMC_QUICK},
    {"bidmc-rr", "small", BIDMC_SMALL},
    {"bidmc-rr", "paper", BIDMC_PAPER},
    {"bidmc-spo2", "quick", BIDMC_QUICK},
    {"bidmc-spo2", "small", BIDMC_SMALL},
    {"bidmc-spo2", "paper", BIDMC_PAPER},
    {"select-at", "quick", DISTANCE_QUICK},
    {"select-at", "small", DISTANCE_SMALL},
    {"recall", "quick", DISTANCE_QUICK},
    {"recall", "small", DISTANCE_SMALL},
};

const lra_preset *lra_preset_find(const char *task, const char *preset)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].task, task) == 0 && strcmp(presets[i].preset, preset) == 0)
            return &presets[i];
    return NULL;
}

/* Amos et al. 2024: what is masked, and epochs of their Transformers. */
static const struct {
    const char *task, *always, *paper;
} pretraining[] = {
    {"listops", "mask=0.1", "epochs=100"}, {"text", "", "epochs=32"},
    {"retrieval", "", "epochs=32"},        {"image", "", "epochs=50"},
    {"pathfinder", "", "epochs=50"},       {"pathfinder-intermediate", "", "epochs=50"},
    {"pathfinder-easy", "", "epochs=50"},  {"path-x", "", "epochs=200"},
    {"path-x-256", "", "epochs=200"},      {"scifar", "", "epochs=200"},
    {"speech-commands", "", "epochs=200"}, {"bidmc-hr", "", "epochs=500"},
    {"bidmc-rr", "", "epochs=500"},        {"bidmc-spo2", "", "epochs=500"},
};

char *lra_preset_objective(const lra_objective *o, const lra_task *task, const char *preset)
{
    lra_text t = {0};
    double share = lra_objective_share(o, task);
    lra_text_add(&t, "%s", ""); /* not NULL */
    if (share > 0) lra_text_add(&t, "mask=%g", share);
    for (size_t i = 0; i < sizeof pretraining / sizeof *pretraining && o->pretrains; i++) {
        if (strcmp(pretraining[i].task, task->name) != 0) continue;
        if (o->training == LRA_MASK_MASKED) lra_text_add(&t, " %s", pretraining[i].always);
        if (strcmp(preset, "paper") == 0)
            lra_text_add(&t, " %s schedule=constant", pretraining[i].paper);
    }
    return t.s;
}
