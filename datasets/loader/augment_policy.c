/* The augmentation policy that AutoAugment found on CIFAR-10: a crop after padding, a flip, then
 * one of 25 pairs of operations.
 * Source: Cubuk et al. 2019, arXiv:1805.09501, table 7. The locality paper trains on "a strategy
 * derived from" this policy, without details. Here it is the policy itself without its cutout
 * stage, applied to the colours before they are converted to grey. */
#include <string.h>

#include "datasets/loader/augment.h"
#include "datasets/loader/pillow.h"
#include "kernels/base/core/mem.h"

enum { SIDE = LRA_PICTURE_SIDE, BORDER = 4, STEPS = 2 };

/* One operation of a pair: applied with probability tenths/10, with this level of strength. */
typedef struct {
    lra_pillow_op op;
    int tenths, level;
} policy_step;

static const policy_step policy[LRA_N_POLICIES][STEPS] = {
    {{LRA_INVERT, 1, 0}, {LRA_CONTRAST, 2, 6}},
    {{LRA_ROTATE, 7, 2}, {LRA_TRANSLATE_X, 3, 9}},
    {{LRA_SHARPNESS, 8, 1}, {LRA_SHARPNESS, 9, 3}},
    {{LRA_SHEAR_Y, 5, 8}, {LRA_TRANSLATE_Y, 7, 9}},
    {{LRA_AUTO_CONTRAST, 5, 0}, {LRA_EQUALIZE, 9, 0}},
    {{LRA_SHEAR_Y, 2, 7}, {LRA_POSTERIZE, 3, 7}},
    {{LRA_COLOR, 4, 3}, {LRA_BRIGHTNESS, 6, 7}},
    {{LRA_SHARPNESS, 3, 9}, {LRA_BRIGHTNESS, 7, 9}},
    {{LRA_EQUALIZE, 6, 0}, {LRA_EQUALIZE, 5, 0}},
    {{LRA_CONTRAST, 6, 7}, {LRA_SHARPNESS, 6, 5}},
    {{LRA_COLOR, 7, 7}, {LRA_TRANSLATE_X, 5, 8}},
    {{LRA_EQUALIZE, 3, 0}, {LRA_AUTO_CONTRAST, 4, 0}},
    {{LRA_TRANSLATE_Y, 4, 3}, {LRA_SHARPNESS, 2, 6}},
    {{LRA_BRIGHTNESS, 9, 6}, {LRA_COLOR, 2, 8}},
    {{LRA_SOLARIZE, 5, 2}, {LRA_INVERT, 0, 0}},
    {{LRA_EQUALIZE, 2, 0}, {LRA_AUTO_CONTRAST, 6, 0}},
    {{LRA_EQUALIZE, 2, 0}, {LRA_EQUALIZE, 6, 0}},
    {{LRA_COLOR, 9, 9}, {LRA_EQUALIZE, 6, 0}},
    {{LRA_AUTO_CONTRAST, 8, 0}, {LRA_SOLARIZE, 2, 8}},
    {{LRA_BRIGHTNESS, 1, 3}, {LRA_COLOR, 7, 0}},
    {{LRA_SOLARIZE, 4, 5}, {LRA_AUTO_CONTRAST, 9, 0}},
    {{LRA_TRANSLATE_Y, 9, 9}, {LRA_TRANSLATE_Y, 7, 9}},
    {{LRA_AUTO_CONTRAST, 9, 0}, {LRA_SOLARIZE, 8, 3}},
    {{LRA_EQUALIZE, 8, 0}, {LRA_INVERT, 1, 0}},
    {{LRA_TRANSLATE_Y, 7, 9}, {LRA_AUTO_CONTRAST, 9, 0}},
};

/* Crops after padding with 4 pixels: out(x,y) = in(x + dx - 4, y + dy - 4), black outside of the
 * image. */
static void crop(lra_picture *p, int dx, int dy)
{
    const lra_picture in = *p;
    memset(p, 0, sizeof *p);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            int from_x = x + dx - BORDER, from_y = y + dy - BORDER;
            if (from_x < 0 || from_y < 0 || from_x >= SIDE || from_y >= SIDE) continue;
            memcpy(p->at[y * SIDE + x], in.at[from_y * SIDE + from_x], 3);
        }
    }
}

static void flip(lra_picture *p)
{
    const lra_picture in = *p;
    for (int i = 0; i < LRA_PICTURE_PIXELS; i++)
        memcpy(p->at[i], in.at[i / SIDE * SIDE + SIDE - 1 - i % SIDE], 3);
}

static void make_grey(lra_picture *p)
{
    for (int i = 0; i < LRA_PICTURE_PIXELS; i++) memset(p->at[i], lra_pillow_grey(p->at[i]), 3);
}

static void apply_policy(int sub, lra_rng *rng, lra_picture *p, bool off)
{
    for (int k = 0; k < STEPS; k++) {
        const policy_step *s = &policy[sub][k];
        bool chosen = (int)lra_rng_below(rng, 10) < s->tenths;
        int sign = lra_rng_below(rng, 2) ? 1 : -1;
        if (chosen && !off) lra_pillow_apply(s->op, s->level, sign, p);
    }
}

static void get_picture(const lra_row *row, lra_picture *p)
{
    if (row->n != LRA_PICTURE_PIXELS || row->width != 3 || !row->token)
        LRA_BUG("%lld positions of %d numbers are not a colour image of 32 x 32 pixels",
                (long long)row->n, row->width);
    for (int64_t i = 0; i < LRA_PICTURE_PIXELS; i++)
        for (int c = 0; c < 3; c++) p->at[i][c] = (uint8_t)row->token[3 * i + c];
}

static void put_picture(const lra_picture *p, lra_row *row)
{
    for (int64_t i = 0; i < LRA_PICTURE_PIXELS; i++)
        for (int c = 0; c < 3; c++) row->token[3 * i + c] = p->at[i][c];
}

/* A disabled stage still draws its random numbers, so that the other stages do not change. */
void lra_augment_policy(const lra_dataset *d, lra_rng *rng, lra_row *row)
{
    lra_picture p;
    get_picture(row, &p);
    int dx = (int)lra_rng_below(rng, 2 * BORDER + 1), dy = (int)lra_rng_below(rng, 2 * BORDER + 1);
    bool mirror = lra_rng_below(rng, 2);
    int sub = (int)lra_rng_below(rng, LRA_N_POLICIES);
    if (lra_config_int(d->config, "grey-first")) make_grey(&p);
    if (lra_config_int(d->config, "crop")) crop(&p, dx, dy);
    if (lra_config_int(d->config, "flip") && mirror) flip(&p);
    apply_policy(sub, rng, &p, !lra_config_int(d->config, "policy"));
    put_picture(&p, row);
}

static void variant(int sub, lra_rng *rng, lra_row *row)
{
    lra_picture p;
    get_picture(row, &p);
    apply_policy(sub, rng, &p, false);
    put_picture(&p, row);
}

static void add_step(lra_text *t, const policy_step *s)
{
    lra_text_add(t, "%s%s %g", t->s ? ", " : "", lra_pillow_names[s->op], s->tenths / 10.0);
    if (s->op < LRA_AUTO_CONTRAST) lra_text_add(t, " L%d", s->level);
}

static char *variant_text(int sub)
{
    lra_text t = {0};
    for (int k = 0; k < STEPS; k++) add_step(&t, &policy[sub][k]);
    return t.s;
}

const lra_augmentation lra_augmentation_autoaugment = {
    .name = "autoaugment",
    .summary = "CIFAR-10: crop, flip, one of AutoAugment's 25 pairs of operations",
    .keys = (const lra_key[]){LRA_AUGMENT_POLICY_ROWS, LRA_KEYS_END},
    .n_variants = LRA_N_POLICIES,
    .apply = lra_augment_policy,
    .variant = variant,
    .variant_text = variant_text};
