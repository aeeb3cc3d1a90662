/* The Python client of LRAX/1: outputs of a model defined by one table are as expected, text that
 * it prints does not disturb the protocol, its MemoryError halves the batch, and `check` finds no
 * error. Skipped without Python and numpy (LRA_PYTHON names the interpreter). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/process.h"
#include "probes/audit/check.h"
#include "probes/audit/process_responder.h"
#include "tests/fixtures/test.h"

enum { B = 40, T = 20, C = 3, VOCAB = 12 };
static int32_t token[B * T], length[B], label[B];

static float table(int32_t v, int c)
{
    return (float)((v * 7 + c * 3) % 11) / 11;
}

static void expected(int b, double logits[C])
{
    for (int c = 0; c < C; c++) {
        logits[c] = 0;
        for (int t = 0; t < length[b]; t++)
            logits[c] += (double)table(token[b * T + t], c) / length[b];
    }
}

static lra_request a_request(void)
{
    for (int i = 0; i < B * T; i++) token[i] = (5 * i + i * i / 3) % VOCAB;
    for (int i = 0; i < B; i++) {
        double logits[C];
        length[i] = 4 + i % (T - 4);
        expected(i, logits);
        label[i] = 0;
        for (int c = 1; c < C; c++)
            if (logits[c] > logits[label[i]]) label[i] = c;
    }
    return (lra_request){.B = B, .T = T, .towers = 1, .token = token, .length = length};
}

static const char *python(void)
{
    const char *given = getenv("LRA_PYTHON");
    return given ? given : "python3";
}

static bool has_numpy(void)
{
    lra_err e;
    char *words[] = {(char *)(uintptr_t)python(), "-c", "import numpy", NULL};
    return lra_process_run(words, NULL, NULL, NULL, &e) == 0;
}

static void check_answers(lra_responder *r)
{
    lra_err e = {{0}};
    lra_request q = a_request();
    float logits[B * C];
    static float grad[B * T], cotangent[B * C];
    int32_t position[B];
    OK(r->is->forward(r, &q, logits, &e));
    for (int b = 0; b < B; b++) {
        double is[C];
        expected(b, is);
        for (int c = 0; c < C; c++) assert_true(fabs((double)logits[b * C + c] - is[c]) < 1e-5);
        position[b] = length[b] / 2;
        for (int c = 0; c < C; c++) cotangent[b * C + c] = (float)(b + c);
    }
    /* the batch was halved from 16 to 8 and 4 */
    assert_int_equal(lra_process_responder_batch(r), 4);
    assert_int_equal(r->facts.width, C);
    OK(r->is->vjp(r, &q, NULL, position, 1, cotangent, grad, &e));
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) {
            float sum = t == position[b] ? (float)(b * b + (b + 1) * (b + 1) + (b + 2) * (b + 2))
                                         : 0;
            assert_true(grad[b * T + t] == sum);
        }
}

TEST(python_client)
{
    lra_err e = {{0}};
    if (!has_numpy()) {
        print_message("no Python with numpy\n");
        skip();
    }
    const char *source = getenv("LRA_SOURCE");
    char *script = lra_format("%s/tests/probes/adapter_model.py", source ? source : ".");
    char *argv[] = {(char *)(uintptr_t)python(), script, NULL};
    lra_process_options o = {
        .command = lra_model_command_default(),
        .task = {.task = "made-up", .classes = C, .vocab = VOCAB, .length = T, .towers = 1},
        .processes = 2,
        .batch = 16};
    o.command.argv = argv;
    lra_responder *r = lra_process_responder_open(&o, &e);
    NOT_NULL(r);
    check_answers(r);
    lra_request q = a_request();
    lra_check c;
    lra_check_spec spec = {.examples = &q, .label = label, .batch = 4, .seed = 1};
    OK(lra_check_model(r, &spec, &c, &e));
    for (int i = 0; i < LRA_N_CHECKS; i++)
        if (c.row[i].outcome == LRA_CHECK_FAILED) {
            lra_check_print(&c, stderr);
            fail_msg("'%s' failed", c.row[i].label);
        }
    lra_check_free(&c);
    OK(lra_process_responder_end(r, &e));
    lra_free(script);
}
