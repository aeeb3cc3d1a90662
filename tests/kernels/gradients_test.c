/* The file of gradients contains the tensors of the model and the computed gradients, in PyTorch's
 * layout. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "tests/parity/parity_case.h"

static lra_err err;

static const lra_ndarray *array_of(const lra_safetensors *t, const char *kind, const char *path)
{
    char *name = lra_format("%s/%s", kind, path);
    const lra_ndarray *a = lra_safetensors_find(t, name);
    if (!a) fail_msg("no '%s'", name);
    assert_int_equal(a->dtype, LRA_DTYPE_F64);
    lra_free(name);
    return a;
}

/* Compares an array of the engine with that of the file; if the layout is reversed, (A, B, C)
 * corresponds to (C, B, A). */
static void compare(const lra_ndarray *a, const lra_tensor *param, const double *ours)
{
    lra_shape s = param->shape;
    const double *theirs = a->bytes;
    if (lra_spec_of(param)->layout == LRA_LAYOUT_SAME) {
        assert_memory_equal(theirs, ours, (size_t)a->n * sizeof *ours);
        return;
    }
    int64_t A = s.d[0], M = s.n == 3 ? s.d[1] : 1, C = s.d[s.n - 1];
    assert_int_equal(a->dims[0], C);
    assert_int_equal(a->dims[s.n - 1], A);
    for (int64_t i = 0; i < A * M * C; i++)
        assert_true(theirs[(i % C * M + i / C % M) * A + i / C / M] == ours[i]);
}

TEST(test_file)
{
    parity_case c;
    parity_what what = {.model = lra_model_find("resconv", &err),
                        .changes = "width=6 hidden=4 kernel=3",
                        .T = 13,
                        .type = LRA_F64};
    char *file = lra_format("gradients_test.%ld", (long)getpid());
    lra_safetensors t;
    int n, n_reversed = 0;
    if (parity_open(&c, &what, &err) != 0 || lra_run(c.plan, &err) != 0) fail_msg("%s", err.msg);
    if (lra_gradients_write(&c.gradients, c.plan, c.params, c.config, 0, NULL, file, &n, &err) != 0)
        fail_msg("%s", err.msg);
    if (lra_safetensors_read(file, &t, &err) != 0) fail_msg("%s", err.msg);
    assert_int_equal(t.n, n);
    /* the five others are tokens, length, label, output, loss */
    assert_int_equal(t.n, 2 * c.gradients.n + 5);
    for (int i = 0; i < c.gradients.n; i++) {
        const lra_tensor *p = c.gradients.param[i];
        const char *path = lra_tensor_path(p);
        double *v = lra_alloc_array((size_t)lra_elements(p), sizeof *v);
        bool reversed = lra_spec_of(p)->layout == LRA_LAYOUT_REVERSED;
        n_reversed += reversed;
        assert_int_equal(lra_params_get(c.params, path, v, &err), 0);
        compare(array_of(&t, "param", path), p, v);
        assert_int_equal(lra_get(c.plan, c.gradients.grad[i], v, &err), 0);
        compare(array_of(&t, "grad", path), p, v);
        bool listed = strstr(lra_config_text(t.meta, "lra.reversed"), path) != NULL;
        assert_int_equal(listed, reversed);
        lra_free(v);
    }
    assert_true(n_reversed > 0);
    assert_string_equal(lra_config_text(t.meta, "lra.precision"), "f64");
    lra_safetensors_free(&t);
    parity_close(&c);
    remove(file);
    lra_free(file);
}
