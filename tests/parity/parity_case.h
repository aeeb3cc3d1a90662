/* One batch of a model with its smallest settings. dump.c writes it for PyTorch, and parity_test.c
 * compares the engine's results with those stored from PyTorch. */
#ifndef LRA_TESTS_PARITY_PARITY_CASE_H
#define LRA_TESTS_PARITY_PARITY_CASE_H

#include "kernels/graph/backend.h"
#include "models/training/gradients.h"

enum { PARITY_B = 3, PARITY_T_MAX = 40, PARITY_STEPS = 20 };

/* changes: settings that differ from `tiny`, and pool=mean|last|max|cls. */
typedef struct {
    const lra_model *model;
    const char *changes;
    int T;
    lra_type type;
    bool trained; /* true: steps of AdamW are computed; false: gradients */
    int draw;     /* number of the random draw of the weights */
} parity_what;

typedef struct {
    parity_what is;
    lra_device device;
    lra_config *config;
    lra_network network;
    lra_gradients gradients; /* gradients of the batch; empty if `trained` */
    lra_tensor *update;      /* output that applies the AdamW update; only if `trained` */
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} parity_case;

/* Builds and plans the graph; must be closed even if it fails. */
int parity_open(parity_case *c, const parity_what *what, lra_err *e);
void parity_close(parity_case *c);
/* Sets the batch: row i has the length T, (T + 3) / 2 or 5. */
int parity_set(parity_case *c, lra_err *e);
/* Computes PARITY_STEPS steps with learning rate 1e-2 and weight decay 0.1, and stores the loss
 * before each step. */
int parity_train(parity_case *c, double *loss, lra_err *e);
/* Returns the factor of the learning rate (0: frozen) and the weight decay of a parameter in this
 * training. */
void parity_group(const lra_tensor *param, double group[2]);

#endif
