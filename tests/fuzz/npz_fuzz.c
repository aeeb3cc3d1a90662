/* npz files from arbitrary bytes. Members are within the file, shapes agree with sizes, and
 * accepted files have columns of equal length. */
#include "datasets/formats/array_columns.h"
#include "datasets/formats/npz.h"
#include "kernels/base/os/file.h"
#include "tests/fixtures/column_checks.h"
#include "tests/fixtures/make_npz.h"
#include "tests/fuzz/fuzz.h"

enum { LARGE = 1 << 24 }; /* size limit when unpacked: larger members are not read to their ends */

static npz_member array(const char *name, const char *descr, const char *shape, size_t n, bool pack)
{
    static const uint8_t data[64] = {1, 0, 0, 0, 0, 0, 0x80, 0x3F, 2, 0, 0, 0, 2};
    return (npz_member){
        .name = name, .bytes = make_npy(descr, false, shape, data, n), .deflated = pack};
}

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const values[][2] = {{"<f4", "2, 3, 2"}, {"<i4", "3, 4"}, {"<U2", "6,"}};
    static const char *const labels[] = {"2,", "3,", "6,"};
    if (i >= 6) return false;
    npz_member m[] = {
        array("x", values[i % 3][0], values[i % 3][1], 48, i % 2),
        array("lengths", "|u1", labels[i % 3], i % 3 == 2 ? 6u : (unsigned)(2 + i % 3), i > 2),
        array("o", "|O", "1,", 8, false)};
    make_npz(m, 3, (npz_form)(i % 3), to);
    return true;
}

static int load(void *of, int i, lra_ndarray *a, lra_err *e)
{
    return lra_npz_unpack(of, i, a, e);
}

static void read_columns(lra_npz *z)
{
    lra_err e = {{0}};
    lra_data_columns c;
    lra_array_source *source = lra_alloc_array((size_t)z->n + 1, sizeof *source);
    for (int i = 0; i < z->n; i++)
        source[i] = (lra_array_source){z->member[i].name, z->member[i].array, z->member[i].reason};
    if (lra_data_columns_of_arrays("x", z->n, source, load, z, &c, &e) != 0) {
        lra_fuzz_check_message(&e);
        if (c.column || c.n) LRA_BUG("columns of a file that is refused");
    } else {
        check_columns(&c);
        take_columns(&c);
    }
    lra_data_columns_free(&c);
    lra_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_npz z;
    uint64_t total = 0;
    int rc = lra_npz_parse(data, n, "x", &z, &e);
    if (rc != 0) lra_fuzz_check_message(&e);
    for (int i = 0; rc == 0 && i < z.n; i++) {
        const lra_npz_member *m = &z.member[i];
        total += m->n;
        if (m->packed < data || m->packed + m->n_packed > data + n) LRA_BUG("outside the file");
        if (!m->reason && m->data + (uint64_t)m->array.n * m->array.element != m->n)
            LRA_BUG("a member of %llu bytes", (unsigned long long)m->n);
    }
    if (rc == 0 && total < LARGE) read_columns(&z);
    lra_npz_free(&z);
    return 0;
}
