/* Golden files: tests/golden/NAME.  After cmocka.h. */
#ifndef LRA_TESTS_GOLDEN_H
#define LRA_TESTS_GOLDEN_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"

/* Equal but for the last digits of numbers, which another compiler may round elsewhere. */
static inline bool nearly_equal(const char *a, const char *b)
{
    while (*a && *a == *b) {
        bool number = *a >= '0' && *a <= '9';
        char *end_a, *end_b;
        double x = number ? strtod(a, &end_a) : 0, y = number ? strtod(b, &end_b) : 0;
        if (fabs(x - y) > 1e-9 * fabs(x)) return false;
        a = number ? end_a : a + 1;
        b = number ? end_b : b + 1;
    }
    return *a == *b;
}

/* Equal to tests/golden/NAME; LRA_UPDATE_GOLDEN=1 rewrites it.  Frees the text. */
static inline void check_golden(const char *name, char *text)
{
    lra_err e = {{0}};
    size_t n;
    const char *source = getenv("LRA_SOURCE"), *update = getenv("LRA_UPDATE_GOLDEN");
    char *path = lra_format("%s/tests/golden/%s", source ? source : ".", name);
    if (update && *update) assert_int_equal(lra_file_write(path, text, strlen(text), &e), 0);
    char *golden = lra_file_read(path, 1 << 20, &n, &e);
    if (!golden) fail_msg("%s", e.msg);
    if (!nearly_equal(text, golden)) assert_string_equal(text, golden);
    lra_free_large(golden);
    lra_free_large(text);
    lra_free(path);
}

/* The text of a file, which is removed. */
static inline char *take_file(const char *name)
{
    lra_err e = {{0}};
    size_t n;
    char *text = lra_file_read(name, 1 << 20, &n, &e);
    if (!text) fail_msg("%s", e.msg);
    remove(name);
    return text;
}

#endif
