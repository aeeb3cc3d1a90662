/* Layouts of "On the locality bias and results in the LRA". */
#include "reports/papers/layout_row.h"

/* The three training sets exist for the hard level only; other presets than `paper` have another
 * level. */
#define HARD       "pathfinder:level=hard "
#define TECHNIQUES "preset=paper:locality techniques=locality " HARD
#define NONE       "preset=paper:locality techniques=none " HARD
/* Table 5 of the paper disables rotary positions in half of the channels for these tasks. */
#define ROTARY                                                                                     \
    "positions=rotary image:positions=rotary-half text:positions=rotary-half "                     \
    "retrieval:positions=rotary-half "
/* Rotary Transformers of self-pretraining: sizes of S4 (their settings are not published). */
#define PRETRAINED                                                                                 \
    HARD "preset=paper:spt positions=rotary from=pretrain-masked paper:layers=6 paper:width=256 "  \
         "paper:hidden=512 paper:image:width=512 paper:image:hidden=1024 "

static const lra_layout_column five[] = {
    LRA_TASK_COLUMN("Image", "image"), LRA_TASK_COLUMN("Pathfinder", "pathfinder"),
    LRA_TASK_COLUMN("Text", "text"), LRA_TASK_COLUMN("Retrieval", "retrieval"),
    LRA_TASK_COLUMN("ListOps", "listops")};
#define AVERAGE .average = {LRA_AVERAGE_REPORTED, 5, "Avg.", "avg5", 5}

/* Printed behind each accuracy: its ratio to that of MEGA. */
#define RATIO(task)                                                                                \
    {                                                                                              \
        "% of MEGA", "task=" task, "ratio_to_mega", NULL                                           \
    }
static const lra_layout_column with_ratios[] = {LRA_TASK_COLUMN("Image", "image"),
                                                RATIO("image"),
                                                LRA_TASK_COLUMN("Pathfinder", "pathfinder"),
                                                RATIO("pathfinder"),
                                                LRA_TASK_COLUMN("Text", "text"),
                                                RATIO("text"),
                                                LRA_TASK_COLUMN("Retrieval", "retrieval"),
                                                RATIO("retrieval"),
                                                LRA_TASK_COLUMN("ListOps", "listops"),
                                                RATIO("listops")};

#define KERNEL(k) LRA_ROW("K = " k, TECHNIQUES "model=resconv kernel=" k, "resconv", "kernel=" k)
static const lra_layout_row table_1[] = {
    KERNEL("5"),
    KERNEL("7"),
    KERNEL("11"),
    KERNEL("21"),
    KERNEL("31"),
    KERNEL("61"),
    LRA_QUOTED_ROW("MEGA", "mega", "as published by its authors",
                   "the reference row; experiment loc-T2 trains it")};

static const lra_layout_row table_2[] = {
    LRA_ROW("Transformer (Tay et al. 2021)",
            HARD "preset=paper:lra model=transformer positions=sinusoidal image:positions=learned",
            "transformer", "Tay et al. 2021; no techniques"),
    LRA_ROW("Transformer + rotary + self-pretraining (Amos et al. 2024)",
            PRETRAINED "model=transformer", "transformer",
            "rotary; self-pretraining (Amos et al. 2024)"),
    LRA_ROW("Transformer + rotary + techniques", TECHNIQUES ROTARY "model=transformer",
            "transformer", "rotary; training techniques of this paper"),
    LRA_ROW("MEGA", HARD "preset=paper:own model=mega", "mega", "as published by its authors"),
    LRA_ROW("MEGA (softmax) + techniques", TECHNIQUES "model=mega attention=softmax", "mega",
            "training techniques of this paper; softmax attention only"),
    LRA_OUR_ROW("Transformer + rotary, without techniques", NONE ROTARY "model=transformer"),
    LRA_OUR_ROW("MEGA (softmax), without techniques", NONE "model=mega attention=softmax")};

static const lra_layout_row table_3[] = {
    LRA_ROW("S4", HARD "preset=paper:own model=s4", "s4", "as published by its authors"),
    LRA_ROW("S5", HARD "preset=paper:own model=s5", "s5", "as published by its authors"),
    LRA_ROW("S4 + techniques", TECHNIQUES "model=s4", "s4", "training techniques of this paper"),
    LRA_ROW("S5 + techniques", TECHNIQUES "model=s5", "s5", "training techniques of this paper"),
    LRA_ROW("gMLP + techniques", TECHNIQUES "model=gmlp", "gmlp",
            "training techniques of this paper"),
    LRA_OUR_ROW("S4, without techniques", NONE "model=s4"),
    LRA_OUR_ROW("S5, without techniques", NONE "model=s5"),
    LRA_OUR_ROW("gMLP, without techniques", NONE "model=gmlp")};

#define POSITIONS(label, kind, csv)                                                                \
    LRA_ROW(label " + techniques", TECHNIQUES "model=transformer positions=" kind, "transformer",  \
            csv "; techniques")
static const lra_layout_row table_4[] = {
    POSITIONS("Summed learned", "learned", "summed learned"),
    POSITIONS("Summed sinusoidal", "sinusoidal", "summed sinusoidal"),
    LRA_ROW("Rotary", NONE ROTARY "model=transformer", "transformer", "rotary; no techniques"),
    LRA_ROW("Rotary + techniques", TECHNIQUES ROTARY "model=transformer", "transformer",
            "rotary; techniques"),
    LRA_OUR_ROW("Summed learned, without techniques", NONE "model=transformer positions=learned"),
    LRA_OUR_ROW("Summed sinusoidal, without techniques",
                NONE "model=transformer positions=sinusoidal")};

static const lra_layout_column pathfinder[] = {LRA_TASK_COLUMN("Pathfinder", "pathfinder")};
#define SETS NONE "model=transformer positions=rotary "
static const lra_layout_row appendix_c[] = {
    LRA_OUR_ROW("hard set", SETS), LRA_OUR_ROW("hard set + D4 augmentation", SETS "augment=1"),
    LRA_OUR_ROW("easy, intermediate and hard sets",
                TECHNIQUES "model=transformer positions=rotary")};

static const lra_layout layouts[] = {
    {"loc-T1", "locality", "1", "Table 1: accuracy of a residual convolution by kernel size",
     "kernels of a residual convolution", LRA_COLUMNS(with_ratios), LRA_ROWS(table_1),
     .notes = "% of MEGA: accuracy in % of the published accuracy of MEGA\n"
              "the caption's K/2 is the integer part; \"Perc. field\" is the half width per layer"},
    {"loc-T2", "locality", "2",
     "Table 2: accuracy of Transformers and MEGA with training techniques",
     "a rotary Transformer and MEGA, with and without the techniques", LRA_COLUMNS(five),
     LRA_ROWS(table_2), AVERAGE},
    {"loc-T3", "locality", "3", "Table 3: accuracy of S4, S5 and gMLP with training techniques",
     "gMLP, S4 and S5, with and without the techniques", LRA_COLUMNS(five), LRA_ROWS(table_3),
     AVERAGE},
    {"loc-T4", "locality", "4", "Table 4: accuracy by position encoding and training techniques",
     "position encodings of a Transformer, with and without the techniques", LRA_COLUMNS(five),
     LRA_ROWS(table_4), AVERAGE},
    {"loc-C", "locality", NULL, "Appendix C: training sets of Pathfinder and D4 augmentation",
     "three training sets of Pathfinder, or D4 augmentation of one", LRA_COLUMNS(pathfinder),
     LRA_ROWS(appendix_c),
     .notes = "the appendix prints no table; rows and columns are those of its comparison\n"
              "three sets: a third of the epochs, rounded up (67 of 200), so that the number of "
              "steps is about the same"},
    {.id = NULL}};

const lra_paper lra_paper_locality = {"locality", "On the locality bias and results in the LRA",
                                      layouts};
