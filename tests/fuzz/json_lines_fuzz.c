/* JSON lines from arbitrary bytes. What is accepted has columns of equal length in memory of their
 * own, and is the same when it is read again. */
#include "datasets/formats/json_lines.h"
#include "kernels/base/os/file.h"
#include "tests/fixtures/column_checks.h"
#include "tests/fuzz/fuzz.h"

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const seeds[] = {
        "{\"text\": \"a\\n\\u00e9\\ud83d\\ude00\", \"label\": 1}\n{\"text\": \"\", \"label\": null}",
        "{\"t\":[1,-2],\"s\":\"train\"}\r\n\r\n{\"t\":[],\"s\":\"test\"}\r\n{\"s\":\"\\u0000\"}",
        "{\"x\":[1]}\n{\"x\":[0.5,null]}\n{\"x\":[true]}\n{\"late\":false}",
        "{\"v\":[[1,2],[3,4.5]]}\n{\"v\":[[5,6]],\"o\":{\"a\":[]}}",
        "\xEF\xBB\xBF{\"a\":1}\n{\"a\":\"b\"}\n",
        "{\"a\":9223372036854775807,\"b\":1e308}\n",
        "[{\"a\":1}]",
    };
    if (i >= (int)(sizeof seeds / sizeof *seeds)) return false;
    lra_text_bytes(to, seeds[i], strlen(seeds[i]));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_data_columns c, again;
    if (lra_json_lines_parse((const char *)data, n, "x", &c, &e) != 0) {
        lra_fuzz_check_message(&e);
        if (c.column || c.n) LRA_BUG("columns of a file that is refused");
        return 0;
    }
    check_columns(&c);
    if (lra_json_lines_parse((const char *)data, n, "x", &again, &e) != 0 ||
        hash_columns(&c) != hash_columns(&again))
        LRA_BUG("the second reading differs");
    lra_data_columns_free(&again);
    take_columns(&c);
    lra_data_columns_free(&c);
    return 0;
}
