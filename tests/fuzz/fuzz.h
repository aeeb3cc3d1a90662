/* Functions that all fuzz targets use. A target is a file NAME_fuzz.c with two functions:
 * libFuzzer's entry, which must survive arbitrary bytes, and the seeds, from which libFuzzer starts
 * and which replay.c damages in the ordinary tests.
 * cmake -S . -B build/fuzz -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DLRA_FUZZ=ON
 * build/fuzz/tests/replay_npy --write corpus && build/fuzz/tests/fuzz_npy -max_total_time=900
 * corpus */
#ifndef LRA_TESTS_FUZZ_FUZZ_H
#define LRA_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
/* Appends the i-th valid input to `to`; returns false if there are no more. */
bool lra_fuzz_seed(int i, lra_text *to);

/* Checks that an error message is a single line without control characters. */
static inline void lra_fuzz_check_message(const lra_err *e)
{
    size_t n = strlen(e->msg);
    if (n == 0) LRA_BUG("refused without a message");
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)e->msg[i] < ' ' || e->msg[i] == 127)
            LRA_BUG("byte %d in the message '%s'", e->msg[i], e->msg);
}

#endif
