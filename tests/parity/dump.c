/* parity_dump MODEL [CHANGES [STEPS]]: one batch of a model in float64, STEPS long (37), its parameters, answers and gradients, as JSON on
 * stdout; parity.py compares them with a reference in PyTorch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "tests/model_trial.h"

enum { B = 3, T_MAX = 40 };

static void print_array(const char *name, const double *v, int64_t n)
{
    printf("\"%s\": [", name);
    for (int64_t i = 0; i < n; i++) printf("%s%.17g", i ? ", " : "", v[i]);
    printf("]");
}

static void print_config(const lra_config *c)
{
    printf("{\"config\": {");
    for (int i = 0; lra_config_key(c, i); i++)
        printf("%s\"%s\": \"%s\"", i ? ", " : "", lra_config_key(c, i), lra_config_value(c, i));
    printf("}, \"T_max\": %d,\n", (int)T_MAX);
}

static void print_params(model_trial *f)
{
    lra_err e = {{0}};
    printf(",\n\"params\": {");
    for (int i = 0; i < f->n; i++) {
        const char *path = lra_tensor_path(f->param[i]);
        lra_shape s = lra_tensor_shape(f->param[i]);
        int64_t n = lra_elements(f->param[i]);
        double *value = lra_alloc_array((size_t)n, sizeof *value);
        double *grad = model_get(f, f->grad[i]);
        if (lra_params_get(f->params, path, value, &e) != 0) fail_msg("%s", e.msg);
        printf("%s\n\"%s\": {\"shape\": [", i ? "," : "", path);
        for (int k = 0; k < s.n; k++) printf("%s%d", k ? ", " : "", (int)s.d[k]);
        printf("], ");
        print_array("value", value, n);
        printf(", ");
        print_array("grad", grad, n);
        printf("}");
        lra_free(value);
        lra_free(grad);
    }
    printf("}}\n");
}

int main(int argc, char **argv)
{
    int T = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 37;
    const int32_t length[B] = {T, (T + 3) / 2, 5};
    lra_err e = {{0}};
    const lra_model *m = lra_model_find(argc > 1 ? argv[1] : "", &e);
    int32_t token[B * T_MAX];
    double numbers[B * T_MAX];
    if (!m || T < 7 || T > T_MAX) {
        fprintf(stderr, "parity_dump: %s\n", m ? "STEPS is no number from 7 to 40" : e.msg);
        return 2;
    }
    model_case what = {.model = m,
                       .variant = argc > 2 ? argv[2] : "",
                       .type = LRA_F64,
                       .vocab = TRIAL_VOCAB,
                       .B = B,
                       .T = T,
                       .T_max = T_MAX,
                       .what = MODEL_GRADIENTS};
    model_trial f;
    model_open(&f, &what);
    for (int i = 0; i < B * T; i++)
        token[i] = i % T < length[i / T] ? (i * 7 + i / T) % TRIAL_VOCAB : 0;
    model_set_tokens(&f, length, token);
    model_run(&f);
    print_config(f.config);
    for (int i = 0; i < B * T; i++) numbers[i] = token[i];
    print_array("tokens", numbers, (int64_t)B * T);
    for (int i = 0; i < B; i++) numbers[i] = length[i];
    printf(",\n");
    print_array("length", numbers, B);
    for (int i = 0; i < B; i++) numbers[i] = i % TRIAL_CLASSES;
    printf(",\n");
    print_array("label", numbers, B);
    double *output = model_get(&f, f.k.output), loss = model_loss(&f);
    printf(",\n");
    print_array("output", output, lra_elements(f.k.output));
    printf(",\n");
    print_array("loss", &loss, 1);
    print_params(&f);
    lra_free(output);
    model_close(&f);
    return 0;
}
