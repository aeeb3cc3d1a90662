/* SHA-256: the known answers of FIPS 180-4 and NIST's examples, in one piece and in several. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "kernels/base/core/sha256.h"

static const struct {
    const char *text, *hex;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmno"
     "pqrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"}};

TEST(known_answers)
{
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t n = strlen(known[k].text);
        for (size_t piece = 1; piece <= n + 1; piece++) {
            lra_sha256 s;
            char hex[65];
            lra_sha256_start(&s);
            for (size_t at = 0; at < n; at += piece)
                lra_sha256_add(&s, known[k].text + at, piece < n - at ? piece : n - at);
            lra_sha256_end(&s, hex);
            assert_string_equal(hex, known[k].hex);
        }
    }
}

/* "a" a million times; lengths one byte shorter and longer than a block. */
TEST(long_messages)
{
    static const char *const around[] = {
        "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59",
        "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562",
        "2fe741af801cc238602ac0ec6a7b0c3a8a87c7fc7d7f02a3fe03d1c12eac4d8f"};
    char bytes[1000], hex[65];
    lra_sha256 s;
    memset(bytes, 'a', sizeof bytes);
    lra_sha256_start(&s);
    for (int i = 0; i < 1000; i++) lra_sha256_add(&s, bytes, sizeof bytes);
    lra_sha256_end(&s, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    for (size_t n = 55; n <= 57; n++) {
        for (size_t i = 0; i < n; i++) bytes[i] = (char)i;
        lra_sha256_start(&s);
        lra_sha256_add(&s, bytes, n);
        lra_sha256_end(&s, hex);
        assert_string_equal(hex, around[n - 55]);
    }
}
