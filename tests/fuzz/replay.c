/* Feeds a fuzz target without libFuzzer.
 *   replay_NAME              the seeds, all their truncations, and every single-bit flip (large seeds: one bit of
 *                            every byte)
 *   replay_NAME --write DIR  writes the seeds as files
 *   replay_NAME FILE...      what a fuzzer has found */
#include <stdio.h>

#include "kernels/base/file.h"
#include "tests/fuzz/fuzz.h"

enum { LARGE = 2048, MAX_FILE = 1 << 26 };

/* Exactly n bytes, so that the address sanitizer sees every read beyond them. */
static void feed(const char *bytes, size_t n)
{
    uint8_t *copy = lra_alloc(n);
    if (n) memcpy(copy, bytes, n);
    LLVMFuzzerTestOneInput(copy, n);
    lra_free(copy);
}

static long damage(lra_text *seed)
{
    long runs = 1;
    feed(seed->s, seed->n);
    for (size_t cut = 0; cut < seed->n; cut++, runs++) feed(seed->s, cut);
    size_t step = seed->n > LARGE ? 9 : 1;
    for (size_t bit = 0; bit < 8 * seed->n; bit += step, runs++) {
        seed->s[bit / 8] = (char)(seed->s[bit / 8] ^ (1 << bit % 8));
        feed(seed->s, seed->n);
        seed->s[bit / 8] = (char)(seed->s[bit / 8] ^ (1 << bit % 8));
    }
    return runs;
}

static int write_seed(const char *folder, int i, const lra_text *seed, lra_err *e)
{
    char *path = lra_format("%s/seed-%02d", folder, i);
    int rc = lra_folder_make(folder, e);
    if (rc == 0) rc = lra_file_write(path, seed->s, seed->n, e);
    lra_free(path);
    return rc;
}

static int replay_file(const char *path, lra_err *e)
{
    size_t n;
    char *bytes = lra_file_read(path, MAX_FILE, &n, e);
    if (!bytes) return LRA_FAILED;
    feed(bytes, n);
    printf("%s: survived\n", path);
    lra_free_large(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    lra_err e = {{0}};
    bool write = argc == 3 && strcmp(argv[1], "--write") == 0;
    int rc = 0, n_seeds = 0;
    long runs = 0;
    for (int i = 1; i < argc && !write && rc == 0; i++) rc = replay_file(argv[i], &e);
    for (lra_text seed = {0}; (argc == 1 || write) && rc == 0; lra_text_free(&seed), n_seeds++) {
        lra_text_bytes(&seed, "", 0);
        if (!lra_fuzz_seed(n_seeds, &seed)) {
            lra_text_free(&seed);
            break;
        }
        if (write)
            rc = write_seed(argv[2], n_seeds, &seed, &e);
        else
            runs += damage(&seed);
    }
    if (rc != 0) fprintf(stderr, "%s: %s\n", argv[0], e.msg);
    if (argc == 1) printf("%d seeds, %ld inputs\n", n_seeds, runs);
    return rc != 0 || (argc == 1 && n_seeds == 0);
}
