/* Words, characters and letters from arbitrary bytes. The result does not depend on the pieces in
 * which bytes arrive, every id is in the vocabulary, and text that is cleaned for text8 is
 * unchanged when it is cleaned again. */
#include "datasets/formats/characters.h"
#include "datasets/language.h"
#include "datasets/loader/words.h"
#include "tests/fuzz/fuzz.h"

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const seeds[] = {
        " \n = Homarus gammarus = \n \n <unk> , known as the lobster , is a <unk> .\n",
        "one line without end", "\r\n\t\v\f \n\n", "a\\b caf\xC3\xA9 \xF0\x9F\x98\x80 a\\b",
        "In 1998, \"Text 8\" had 27 letters."};
    if (i >= (int)(sizeof seeds / sizeof *seeds)) return false;
    lra_text_bytes(to, seeds[i], strlen(seeds[i]));
    return true;
}

static void encode(lra_words *w, lra_word_text *t, const char *s, size_t n, size_t cut)
{
    lra_err e = {{0}};
    int rc = cut ? lra_words_encode(w, t, s, cut, &e) : 0;
    if (rc == 0 && n > cut) rc = lra_words_encode(w, t, s + cut, n - cut, &e);
    if (rc == 0) rc = lra_words_encode(w, t, NULL, 0, &e);
    if (rc != 0) lra_fuzz_check_message(&e);
}

static void check_words(const char *s, size_t n)
{
    lra_words *w = lra_words_new();
    lra_word_text a = {.counted = true}, b = {0};
    encode(w, &a, s, n, 0);
    encode(w, &b, s, n, n / 2);
    if (a.n != b.n || a.n_lines != b.n_lines ||
        (a.n && memcmp(a.token, b.token, (size_t)a.n * sizeof *a.token) != 0))
        LRA_BUG("pieces matter");
    int vocab = lra_words_fix(w);
    lra_words_renumber(w, a.token, a.n);
    int64_t ends = 0;
    for (int64_t i = 0; i < a.n; i++) {
        if (a.token[i] < 0 || a.token[i] >= vocab) LRA_BUG("id %d", a.token[i]);
        ends += a.token[i] == 0;
    }
    if (ends != a.n_lines)
        LRA_BUG("%lld ends of %lld lines", (long long)ends, (long long)a.n_lines);
    char *lines = lra_words_lines(w);
    int count = 0;
    for (const char *at = lines; *at; at++) count += *at == '\n';
    if (count != vocab) LRA_BUG("%d lines for %d words", count, vocab);
    lra_free(lines);
    lra_word_text_free(&a);
    lra_word_text_free(&b);
    lra_words_free(w);
}

static void check_points(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        uint32_t point;
        char again[4];
        size_t size = lra_utf8_read(s + at, n - at, &point);
        if (size < 1 || size > 4 || size > n - at) LRA_BUG("%zu bytes", size);
        if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) LRA_BUG("point %x", point);
        size_t back = lra_utf8_write(point, again);
        bool same = back == size && memcmp(again, s + at, size) == 0;
        if (!same && (size != 1 || point != 0xFFFD))
            LRA_BUG("point %x is not what was read", point);
        at += size;
    }
}

static void check_letters(const char *s, size_t n)
{
    lra_err e = {{0}};
    char *clean = lra_alloc(7 * n + 1);
    int32_t *token = lra_alloc_array(7 * n + 1, sizeof *token);
    size_t k = lra_text8_clean(s, n, clean);
    if (k > 7 * n) LRA_BUG("%zu bytes of %zu", k, n);
    if (lra_text8_parse(clean, k, "x", token, &e) != 0) LRA_BUG("%s", e.msg);
    for (size_t i = 1; i < k; i++)
        if (clean[i] == ' ' && clean[i - 1] == ' ') LRA_BUG("two blanks");
    if (lra_text8_parse(s, n, "x", token, &e) != 0) lra_fuzz_check_message(&e);
    lra_free(clean);
    lra_free(token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    check_words((const char *)data, n);
    check_points((const char *)data, n);
    check_letters((const char *)data, n);
    return 0;
}
