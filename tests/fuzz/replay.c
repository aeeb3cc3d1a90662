/* Feeds inputs to a fuzz target without libFuzzer.
 * replay_NAME              the seeds, all their truncations, and every single-bit flip (of seeds
 * above 2 KiB an even selection)
 * replay_NAME --all        the same with every single-bit flip of every seed
 * replay_NAME --write DIR  writes the seeds as files
 * replay_NAME FILE...      inputs that a fuzzer has found */
#include <stdio.h>

#include "kernels/base/os/file.h"
#include "tests/fuzz/fuzz.h"

enum { LARGE = 2048, CHOICE = 64, MAX_FILE = 1 << 26 };

/* Copies the n bytes into memory of exactly this size, so that the address sanitizer detects every
 * read beyond them. */
static void feed(const char *bytes, size_t n)
{
    uint8_t *copy = lra_alloc(n);
    if (n) memcpy(copy, bytes, n);
    LLVMFuzzerTestOneInput(copy, n);
    lra_free(copy);
}

static long damage(lra_text *seed, bool all)
{
    long runs = 1;
    bool choose = !all && seed->n > LARGE;
    size_t cuts = choose ? seed->n / CHOICE : 1, bits = choose ? 8 * seed->n / CHOICE | 1 : 1;
    feed(seed->s, seed->n);
    for (size_t cut = 0; cut < seed->n; cut += cuts, runs++) feed(seed->s, cut);
    for (size_t bit = 0; bit < 8 * seed->n; bit += bits, runs++) {
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
    bool all = argc == 2 && strcmp(argv[1], "--all") == 0, seeds = argc == 1 || all || write;
    int rc = 0, n_seeds = 0;
    long runs = 0;
    for (int i = 1; i < argc && !seeds && rc == 0; i++) rc = replay_file(argv[i], &e);
    for (lra_text seed = {0}; seeds && rc == 0; lra_text_free(&seed), n_seeds++) {
        lra_text_bytes(&seed, "", 0);
        if (!lra_fuzz_seed(n_seeds, &seed)) {
            lra_text_free(&seed);
            break;
        }
        if (write)
            rc = write_seed(argv[2], n_seeds, &seed, &e);
        else
            runs += damage(&seed, all);
    }
    if (rc != 0) fprintf(stderr, "%s: %s\n", argv[0], e.msg);
    if (runs) printf("%d seeds, %ld inputs\n", n_seeds, runs);
    return rc != 0 || (seeds && n_seeds == 0);
}
