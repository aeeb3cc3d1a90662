/* Archives and compressed files, and the reviews of Text in them, from arbitrary bytes. Nothing is
 * unpacked beyond the size limit. What is accepted gives the same files at every reading. Every
 * review is returned once, in order. */
#include "datasets/formats/archive.h"
#include "datasets/formats/imdb.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/warnings.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fixtures/make_archive.h"

enum { MAX_FILE = 1 << 16, MAX_TOTAL = 1 << 20 };

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const packed_file files[] = {
        {"aclImdb/train/neg/12_3.txt", "not good<br />", 0},
        {"aclImdb/train/pos/0_9.txt", "good", 0},
        {"aclImdb/test/neg/3_1.txt", "bad", 0},
        {"aclImdb/test/pos/12_10.txt", "\xC3\xA9tonnant", 0},
        {"aclImdb/README", "", 0},
    };
    if (i >= N_PACKS) return false;
    pack_files((pack)i, files, sizeof files / sizeof *files, to);
    return true;
}

typedef struct {
    uint64_t hash;
    uint64_t total;
    lra_reviews reviews;
} seen;

static int take(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    seen *s = of;
    if (n == 0 || n > MAX_FILE || bytes[n] != 0) LRA_BUG("a file of %zu bytes", n);
    uint64_t part[3] = {s->hash, lra_hash64(name, strlen(name)), lra_hash64(bytes, n)};
    s->hash = lra_hash64(part, sizeof part);
    s->total += n;
    if (!lra_reviews_wanted(NULL, name)) return 0;
    return lra_reviews_add(&s->reviews, name, bytes, n, e);
}

static int walk(const uint8_t *data, size_t n, seen *s)
{
    lra_err e = {{0}};
    *s = (seen){.reviews = {.keep = 10}};
    lra_walk w = {.visit = take, .of = s, .max_file = MAX_FILE, .max_total = MAX_TOTAL};
    int rc = lra_walk_bytes(&w, data, n, "x", &e);
    if (rc != 0) lra_fuzz_check_message(&e);
    if (s->total > MAX_TOTAL + MAX_FILE) LRA_BUG("%llu bytes", (unsigned long long)s->total);
    return rc;
}

static void check_reviews(lra_reviews *r)
{
    lra_err e = {{0}};
    int64_t n = r->n, counted = 0;
    if (lra_reviews_sort(r, &e) != 0) {
        lra_fuzz_check_message(&e);
        return;
    }
    for (int p = 0; p < 4; p++) counted += r->count[p / 2][p % 2];
    if (counted != r->n || r->n + r->n_repeated != n) LRA_BUG("reviews are lost");
    for (int64_t i = 0; i < r->n; i++) {
        const lra_review *v = &r->review[i], *before = i ? v - 1 : v;
        if (v->n > 10 || v->at + v->n > r->n_text || v->id < 0) LRA_BUG("a broken review");
        if (v->part < before->part || (v->part == before->part && v->label < before->label))
            LRA_BUG("reviews out of order");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    seen a, b;
    lra_text warnings = {0};
    lra_warn_into(&warnings);
    int first = walk(data, n, &a), second = walk(data, n, &b);
    if (first != second || a.hash != b.hash) LRA_BUG("the second reading differs");
    lra_warn_into(NULL);
    lra_text_free(&warnings);
    check_reviews(&a.reviews);
    lra_reviews_free(&a.reviews);
    lra_reviews_free(&b.reviews);
    return 0;
}
