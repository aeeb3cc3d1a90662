/* One batch of a model as small as its record says, the same for the program that writes it down
 * (dump.c) and for the test that compares it with what PyTorch made of it (parity_test.c). */
#ifndef LRA_TESTS_PARITY_PARITY_CASE_H
#define LRA_TESTS_PARITY_PARITY_CASE_H

#include "kernels/graph/backend.h"
#include "models/training/gradients.h"

enum { PARITY_B = 3, PARITY_T_MAX = 40, PARITY_STEPS = 20 };

/* changes: settings beside those of `tiny`, and pool=mean|last|max|cls. */
typedef struct {
    const lra_model *model;
    const char *changes;
    int T;
    lra_type type;
    bool trained; /* steps of AdamW, else gradients */
    int draw;     /* other weights for each */
} parity_what;

typedef struct {
    parity_what is;
    lra_device device;
    lra_config *config;
    lra_network network;
    lra_gradients gradients; /* trained: empty */
    lra_tensor *update;      /* trained */
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} parity_case;

/* Builds and plans; close it whatever happened. */
int parity_open(parity_case *c, const parity_what *what, lra_err *e);
void parity_close(parity_case *c);
/* Sets the batch: row i is T, (T + 3) / 2, 5 long. */
int parity_set(parity_case *c, lra_err *e);
/* Losses before each of the steps, at rate 1e-2 and decay 0.1; PARITY_STEPS of them. */
int parity_train(parity_case *c, double *loss, lra_err *e);
/* Of a parameter in that training: what multiplies the rate (0: frozen), and the decay. */
void parity_group(const lra_tensor *param, double group[2]);

#endif
