/* csv and tsv files from arbitrary bytes. What is accepted has columns of equal length in memory of
 * their own, and is the same when it is read again. */
#include "datasets/formats/delimited.h"
#include "kernels/base/os/file.h"
#include "tests/fixtures/column_checks.h"
#include "tests/fuzz/fuzz.h"

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const seeds[] = {
        "text,label\r\n\"a, \"\"b\"\"\r\nc\",1\r\nplain,0\r\n",
        "\xEF\xBB\xBF,0,1\n0,x,2.5e-3\n1,,NA",
        "a\tb\n\"x\ty\"\t[1, 2]\n\t\"\"\n",
        "sep=;\ra;b\r1;-inf\r\r2;.5\r",
        "n\n123456789012345678901\n1e400\n0.1\n",
        "\xC3\xA9,\"\"\n\xF0\x9F\x98\x80,5\" x\n",
    };
    if (i >= (int)(sizeof seeds / sizeof *seeds)) return false;
    lra_text_bytes(to, seeds[i], strlen(seeds[i]));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const as_text[] = {"a", "n", NULL};
    for (int way = 0; way < 3; way++) {
        lra_err e = {{0}};
        lra_data_columns c, again;
        const char separator = way == 1 ? '\t' : ',';
        const char *const *names = way == 2 ? as_text : NULL;
        int rc = lra_delimited_parse((const char *)data, n, "x", separator, names, &c, &e);
        if (rc != 0) {
            lra_fuzz_check_message(&e);
            if (c.column || c.n) LRA_BUG("columns of a file that is refused");
            continue;
        }
        check_columns(&c);
        if (lra_delimited_parse((const char *)data, n, "x", separator, names, &again, &e) != 0 ||
            hash_columns(&c) != hash_columns(&again))
            LRA_BUG("the second reading differs");
        lra_data_columns_free(&again);
        take_columns(&c);
        lra_data_columns_free(&c);
    }
    return 0;
}
