/* parity_dump FOLDER STEPS MODEL [CHANGES [DRAW]]: one batch of a model, with rows of STEPS tokens,
 * for parity.py, which compares it with a reference in PyTorch.
 * Writes FOLDER/{f64,f32,bf16}.safetensors, as lra-probe export --gradients does. The file of f64
 * also contains
 * group/PATH (2)   factor of the learning rate (0: frozen) and weight decay of a parameter
 * losses (20)      loss before each step of AdamW with learning rate 1e-2 and weight decay 0.1
 * The metadata are the model's settings and lra.T_max. DRAW from 1 on draws other weights; these
 * files do not have the arrays that only f64 has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "tests/parity/parity_case.h"

/* Collects the arrays of the file in addition to the gradients; the caller frees names and
 * bytes. */
static int more_of(const parity_case *c, lra_safetensor *more, lra_err *e)
{
    int n = c->gradients.n;
    parity_case trained;
    parity_what what = c->is;
    double *loss = lra_alloc_array(PARITY_STEPS, sizeof *loss);
    for (int i = 0; i < n; i++) {
        const lra_tensor *p = c->gradients.param[i];
        double *group = lra_alloc_array(2, sizeof *group);
        parity_group(p, group);
        more[i] = (lra_safetensor){
            .name = lra_format("group/%s", lra_tensor_path(p)),
            .array = {.dtype = LRA_DTYPE_F64, .rank = 1, .dims = {2}, .bytes = group}};
    }
    more[n] = (lra_safetensor){
        .name = lra_copy_text("losses"),
        .array = {.dtype = LRA_DTYPE_F64, .rank = 1, .dims = {PARITY_STEPS}, .bytes = loss}};
    what.trained = true;
    int rc = parity_open(&trained, &what, e);
    if (rc == 0) rc = parity_train(&trained, loss, e);
    parity_close(&trained);
    return rc;
}

static int write_case(const parity_case *c, const char *to, lra_err *e)
{
    bool f64 = c->is.type == LRA_F64 && c->is.draw == 0;
    int n = c->gradients.n + 1, rc = 0;
    lra_safetensor *more = lra_alloc_array((size_t)n, sizeof *more);
    lra_config *meta = lra_config_copy(c->config);
    lra_config_set_int(meta, "lra.T_max", PARITY_T_MAX);
    if (f64) rc = more_of(c, more, e);
    if (rc == 0)
        rc = lra_gradients_write(&c->gradients, c->plan, c->params, meta, f64 ? n : 0, more, to,
                                 NULL, e);
    for (int i = 0; i < n; i++) {
        lra_free(more[i].name);
        lra_free((void *)(uintptr_t)more[i].array.bytes);
    }
    lra_free(more);
    lra_config_free(meta);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct {
        lra_type type;
        const char *name;
    } precision[] = {{LRA_F64, "f64"}, {LRA_F32, "f32"}, {LRA_BF16, "bf16"}};
    lra_err e = {{0}};
    const lra_model *m = lra_model_find(argc > 3 ? argv[3] : "", &e);
    int T = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (!m || T < 7 || T > PARITY_T_MAX) {
        fprintf(stderr, "parity_dump: %s\n", m ? "STEPS is no number from 7 to 40" : e.msg);
        return 2;
    }
    int rc = 0, draw = argc > 5 ? (int)strtol(argv[5], NULL, 10) : 0;
    for (int i = 0; i < 3 && rc == 0; i++) {
        parity_case c;
        parity_what what = {.model = m,
                            .changes = argc > 4 ? argv[4] : "",
                            .T = T,
                            .type = precision[i].type,
                            .draw = draw};
        char *to = lra_format("%s/%s.safetensors", argv[1], precision[i].name);
        rc = parity_open(&c, &what, &e);
        if (rc == 0) rc = lra_run(c.plan, &e);
        if (rc == 0) rc = write_case(&c, to, &e);
        parity_close(&c);
        lra_free(to);
    }
    if (rc != 0) fprintf(stderr, "parity_dump: %s\n", e.msg);
    return rc ? 1 : 0;
}
