/* The operations of AutoAugment compared with Pillow, its policy, and its random draws. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/loader/augment.h"
#include "datasets/loader/pillow.h"
#include "kernels/base/core/mem.h"

enum { SIDE = LRA_PICTURE_SIDE, PIXELS = LRA_PICTURE_PIXELS, N_PICTURES = 3 };

/* Makes a picture by kind: all levels; few levels, different in each colour; a single level. */
static lra_picture picture(int kind)
{
    lra_picture p;
    for (int i = 0; i < PIXELS; i++) {
        int x = i % SIDE, y = i / SIDE;
        for (int c = 0; c < 3; c++) {
            int v = x * (5 + c) + y * (3 + 2 * c) + ((x * y) >> (1 + c));
            p.at[i][c] = (uint8_t)(kind == 0   ? v & 255
                                   : kind == 1 ? 40 + v % (150 - 20 * c)
                                               : 77 + c);
        }
    }
    return p;
}

/* Returns the FNV-1a hash of the pictures for all magnitudes and both signs of the operation. */
static uint64_t hash_of(lra_pillow_op op, const lra_picture *from)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int level = 0; level < 10; level++)
        for (int sign = 1; sign >= -1; sign -= 2) {
            lra_picture p = *from;
            lra_pillow_apply(op, level, sign, &p);
            for (int i = 0; i < PIXELS; i++)
                for (int c = 0; c < 3; c++) h = (h ^ p.at[i][c]) * 0x100000001b3u;
        }
    return h;
}

/* The hashes were computed by Pillow 13.0. */
TEST(operations_are_pillows)
{
    static const uint64_t expected[N_PICTURES][LRA_N_PILLOW_OPS] = {
        {0x8f29d64e72f1fe5f, 0x957e5d68758bafb7, 0x544b9e87b8d653ad, 0x4645c8453236c465,
         0x278e9d0e24880f80, 0x8d747c34eecdf9b7, 0x8f5792192bb0b375, 0xaeb58d2c82f34b1e,
         0x71180acfdd7cb5a9, 0x66c685bc00629525, 0x0260b7e788e3b759, 0xed7212228d88c5a5,
         0x26fbdf7e22d6b32d, 0x24bc6b36c3d821a5},
        {0xd266cff09af95553, 0x7ea14aac96fc04a3, 0x0c0d5833380f94af, 0x03181b3d83a5ae59,
         0x8dcd259119bb1f0c, 0x8d5ed01f60f6026d, 0xf7a349a29a705ebe, 0x1b4566d9c4d36696,
         0x06e15812edf76c27, 0xb7b84174cd889fa5, 0x1c957407ca941e7d, 0xad0ad05bed7de255,
         0xf8b3901a7fe8a15d, 0x82d1177ae1f4ee35},
        {0xa483715934027735, 0xa89e435d48028fc5, 0x335e5cf3a82f0325, 0x557232a4f72d6325,
         0xead0d2512a1b6265, 0x4680b8e9e3205325, 0xf28766911d77eb25, 0xf28766911d77eb25,
         0x6096504dc474e325, 0xbfab9d7b6b5a6325, 0x72b0a15963bccb25, 0x6096504dc474e325,
         0x6096504dc474e325, 0xb896216e2e649325}};
    for (int k = 0; k < N_PICTURES; k++) {
        lra_picture p = picture(k);
        for (lra_pillow_op op = 0; op < LRA_N_PILLOW_OPS; op++)
            if (hash_of(op, &p) != expected[k][op])
                fail_msg("%s of picture %d differs", lra_pillow_names[op], k);
    }
}

TEST(some_pixels)
{
    static const struct {
        lra_pillow_op op;
        int level, sign;
        uint8_t at[3][3]; /* pixels (5,9), (20,14), (30,3) */
    } known[] = {{LRA_ROTATE, 6, 1, {{82, 90, 104}, {52, 24, 36}, {0, 0, 0}}},
                 {LRA_SHARPNESS, 9, 1, {{74, 86, 103}, {26, 0, 0}, {204, 217, 255}}},
                 {LRA_CONTRAST, 7, -1, {{110, 114, 119}, {96, 89, 93}, {149, 153, 160}}},
                 {LRA_EQUALIZE, 0, 1, {{76, 81, 128}, {23, 4, 20}, {217, 223, 255}}}};
    static const int at[3] = {9 * SIDE + 5, 14 * SIDE + 20, 3 * SIDE + 30};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        lra_picture p = picture(0);
        lra_pillow_apply(known[k].op, known[k].level, known[k].sign, &p);
        for (int i = 0; i < 3; i++) assert_memory_equal(p.at[at[i]], known[k].at[i], 3);
    }
}

/* ---- the policy ------------------------------------------------------------------------------ */

static lra_dataset with(const char *switches)
{
    lra_err e;
    return (lra_dataset){.config = lra_config_parse(switches, &e)};
}

static void put(const lra_picture *p, uint16_t *token)
{
    for (int i = 0; i < 3 * PIXELS; i++) token[i] = p->at[i / 3][i % 3];
}

static lra_picture augmented(const char *switches, uint64_t index, const lra_picture *from)
{
    uint16_t token[3 * PIXELS];
    lra_row row = {.n = PIXELS, .width = 3, .token = token};
    lra_dataset d = with(switches);
    lra_rng rng = lra_rng_new(1, 2, index);
    lra_picture p;
    put(from, token);
    lra_augment_policy(&d, &rng, &row);
    for (int i = 0; i < 3 * PIXELS; i++) p.at[i / 3][i % 3] = (uint8_t)token[i];
    lra_config_free(d.config);
    return p;
}

static bool equal(const lra_picture *a, const lra_picture *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

TEST(stages_are_switched)
{
    lra_picture from = picture(0), flipped = from;
    for (int i = 0; i < PIXELS; i++)
        memcpy(flipped.at[i], from.at[i / SIDE * SIDE + SIDE - 1 - i % SIDE], 3);
    int n_flipped = 0, seen[9][9] = {{0}}, n_seen = 0;
    for (uint64_t i = 0; i < 600; i++) {
        lra_picture none = augmented("crop=0 flip=0 policy=0 grey-first=0", i, &from);
        assert_true(equal(&none, &from));
        lra_picture flip = augmented("crop=0 flip=1 policy=0 grey-first=0", i, &from);
        assert_true(equal(&flip, &from) || equal(&flip, &flipped));
        n_flipped += equal(&flip, &flipped);
        lra_picture crop = augmented("crop=1 flip=0 policy=0 grey-first=0", i, &from);
        /* Pixel (16,16) of the crop comes from one of the 9 x 9 pixels (12..20, 12..20). */
        for (int k = 0; k < 81; k++)
            if (!memcmp(crop.at[16 * SIDE + 16], from.at[(12 + k / 9) * SIDE + 12 + k % 9], 3))
                n_seen += seen[k / 9][k % 9]++ == 0;
    }
    assert_true(n_flipped > 250 && n_flipped < 350);
    assert_int_equal(n_seen, 81);
}

TEST(grey_first_is_grey)
{
    lra_picture from = picture(0);
    for (uint64_t i = 0; i < 60; i++) {
        lra_picture p = augmented("crop=1 flip=1 policy=1 grey-first=1", i, &from);
        for (int k = 0; k < PIXELS; k++)
            assert_true(p.at[k][0] == p.at[k][1] && p.at[k][1] == p.at[k][2]);
    }
    /* the exact grey level is 18.15 */
    assert_int_equal(lra_pillow_grey((const uint8_t[]){10, 20, 30}), 18);
    assert_int_equal(lra_pillow_grey((const uint8_t[]){255, 255, 255}), 255);
}

/* The same key gives the same image; all sub-policies occur equally often. */
TEST(keyed_and_complete)
{
    const char *all = "crop=1 flip=1 policy=1 grey-first=0";
    lra_picture from = picture(0), a = augmented(all, 7, &from), b = augmented(all, 7, &from),
                c = augmented(all, 8, &from);
    assert_true(equal(&a, &b));
    assert_false(equal(&a, &c));
    assert_ptr_equal(lra_augmentation_of(&(lra_task){.data.augment = lra_augment_policy}),
                     &lra_augmentation_autoaugment);
    assert_null(lra_augmentation_of(&(lra_task){0}));
}

/* The share of images that a sub-policy leaves unchanged follows from its probabilities. */
TEST(probabilities)
{
    static const struct {
        int sub;
        double same;
    } known[] = {{1, 0.3 * 0.7}, {3, 0.5 * 0.3}, {6, 0.6 * 0.4}, {14, 0.5}, {21, 0.1 * 0.3}};
    enum { DRAWS = 2000 };
    lra_picture from = picture(0);
    uint16_t before[3 * PIXELS], token[3 * PIXELS];
    put(&from, before);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int same = 0;
        for (int i = 0; i < DRAWS; i++) {
            lra_row row = {.n = PIXELS, .width = 3, .token = memcpy(token, before, sizeof token)};
            lra_rng rng = lra_rng_new(3, 4, (uint64_t)i);
            lra_augmentation_autoaugment.variant(known[k].sub, &rng, &row);
            same += memcmp(token, before, sizeof token) == 0;
        }
        /* The tolerance is four standard deviations, which are at most 0.011 each. */
        assert_true((double)same / DRAWS > known[k].same - 0.045);
        assert_true((double)same / DRAWS < known[k].same + 0.045);
    }
}

TEST(texts)
{
    char *text = lra_augmentation_autoaugment.variant_text(1);
    assert_string_equal(text, "Rotate 0.7 L2, TranslateX 0.3 L9");
    lra_free(text);
    text = lra_augmentation_autoaugment.variant_text(24);
    assert_string_equal(text, "TranslateY 0.7 L9, AutoContrast 0.9");
    lra_free(text);
}
