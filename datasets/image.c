/* Image: classifies photographs into ten classes. CIFAR-10: 32 x 32 pixels are 1,024 tokens, row by
 * row.
 * Rows hold colours; the input of a model at a pixel is:
 *   image         its grey level L (Pillow's formula): (L/255 - 122.6/255) / (61/255), one number
 *   scifar        its colour: (x/255 - mean) / std, three numbers; mean .4914 .4822 .4465, std .247
 *                 .243 .261
 *   image-tokens  its grey level as a token of a vocabulary of 256, as in the Long Range Arena (Tay
 *                 et al. 2021), whose grey formula differs: 0.2989 R + 0.5870 G + 0.1140 B
 * Source: Krizhevsky 2009; as a task of long sequences, Tay et al. 2021; grey levels as numbers, Gu
 * et al. 2022. The 50,000 training images are divided 45,000 / 5,000 by torch's random_split with
 * seed 42 over file order; 10,000 images are for test. Differences: the Long Range Arena takes its
 * validation images from the end of another order, and masks pixels of level 0 in attention like
 * padding. Neither is done here.
 * augment=1: AutoAugment's policy on the colours (augment_policy.c), for image and scifar.
 * Known: ten classes of 6,000 images each. */
#include <string.h>

#include "datasets/formats/cifar.h"
#include "datasets/formats/image_show.h"
#include "datasets/loader/augment.h"
#include "datasets/loader/dataset.h"
#include "datasets/loader/grey.h"
#include "datasets/loader/official.h"

#define VIEW_KEYS "crop flip policy grey-first"
enum { PIXELS = LRA_CIFAR_PIXELS, COLOURS = LRA_CIFAR_COLOURS };

/* ---- import ---------------------------------------------------------------------------------- */

/* Converts a record of colour planes into pixels: token (PIXELS, 3). */
static void colours(const void *cifar, int64_t i, uint16_t *token, int32_t *label)
{
    const uint8_t *record = lra_cifar_record(cifar, i);
    *label = record[0];
    for (int64_t k = 0; k < PIXELS; k++)
        for (int64_t c = 0; c < COLOURS; c++) token[COLOURS * k + c] = record[1 + c * PIXELS + k];
}

static void grey_words(const void *cifar, int64_t i, uint16_t *token, int32_t *label)
{
    uint16_t rgb[COLOURS * PIXELS];
    colours(cifar, i, rgb, label);
    for (int64_t k = 0; k < PIXELS; k++)
        token[k] = lra_grey_first(rgb[COLOURS * k], rgb[COLOURS * k + 1], rgb[COLOURS * k + 2]);
}

static int import_as(bool words, const lra_config *c, const char *folder, lra_dataset *d,
                     lra_err *e)
{
    lra_cifar cifar = {0};
    int rc = lra_cifar_read(&cifar, folder, e);
    lra_official o = {.n_train = lra_cifar_n_train(&cifar),
                      .n_test = cifar.file[LRA_CIFAR_FILES - 1].n,
                      .length = PIXELS,
                      .width = words ? 1 : COLOURS,
                      .row = words ? grey_words : colours,
                      .of = &cifar};
    if (rc == 0) rc = lra_official_divide(&o, c, d, e);
    lra_cifar_free(&cifar);
    return rc;
}

static int import_colours(const lra_config *c, const char *folder, lra_dataset *d, lra_err *e)
{
    return import_as(false, c, folder, d, e);
}

static int import_words(const lra_config *c, const char *folder, lra_dataset *d, lra_err *e)
{
    return import_as(true, c, folder, d, e);
}

static int import_hash(const lra_config *c, const char *folder, lra_digest *to, lra_err *e)
{
    (void)c;
    return lra_cifar_hash(folder, to, e);
}

static int inspect(const lra_config *c, const char *folder, lra_facts *found, lra_err *e)
{
    (void)c;
    lra_cifar cifar = {0};
    int rc = lra_cifar_read(&cifar, folder, e);
    int64_t count[2][LRA_CIFAR_CLASSES] = {{0}};
    int64_t n_train = lra_cifar_n_train(&cifar), n = n_train + cifar.file[LRA_CIFAR_FILES - 1].n;
    for (int64_t i = 0; rc == 0 && i < n; i++)
        count[i >= n_train][lra_cifar_record(&cifar, i)[0]]++;
    for (int i = 0; rc == 0 && i < LRA_CIFAR_FILES; i++)
        lra_facts_add(found, (double)cifar.file[i].n, "records of %s", lra_cifar_files[i]);
    for (int p = 0; rc == 0 && p < 2; p++)
        for (int k = 0; k < LRA_CIFAR_CLASSES; k++)
            lra_facts_add(found, (double)count[p][k], "%s, %s", p ? "test" : "train",
                          lra_cifar_classes[k]);
    if (rc == 0) {
        lra_facts_defect(found, cifar.n_strange, "records with a label above 9");
        lra_facts_defect(found, cifar.n_cut, "bytes after the last complete record");
    }
    lra_cifar_free(&cifar);
    return rc;
}

/* ---- inputs of models ------------------------------------------------------------------------ */

static void grey_values(const lra_dataset *d, const lra_row *row, float *out)
{
    (void)d;
    const uint16_t *rgb = row->token;
    for (int64_t k = 0; k < row->n; k++, rgb += COLOURS)
        out[k] = ((float)lra_grey(rgb[0], rgb[1], rgb[2]) - 122.6f) / 61.0f;
}

static void colour_levels(const lra_dataset *d, float *scale, float *shift)
{
    static const double mean[COLOURS] = {0.4914, 0.4822, 0.4465}, std[COLOURS] = {.247, .243, .261};
    int64_t n = d->max_length * COLOURS;
    for (int64_t j = 0; j < n; j++) {
        scale[j] = (float)(1 / (255 * std[j % COLOURS]));
        shift[j] = (float)(-mean[j % COLOURS] / std[j % COLOURS]);
    }
}

/* ---- the tasks ------------------------------------------------------------------------------- */

#define IMAGE_TASK                                                                                 \
    .files.from_parquet = LRA_CIFAR_PARQUET,                                                       \
    .files.published = {(LRA_CIFAR_FILES - 1) * LRA_CIFAR_FILE_RECORDS, 0,                         \
                        LRA_CIFAR_FILE_RECORDS},                                                   \
    .files.source = LRA_CIFAR_SOURCE, .n_classes = LRA_CIFAR_CLASSES,                              \
    .text.label_names = lra_cifar_classes, .data.correlation = 0.92 /* first 3,000 images */,      \
    .data.steps = PIXELS, .input.vocab = 256, .input.image = true, .quick = LRA_OFFICIAL_QUICK,    \
    .small = LRA_OFFICIAL_SMALL, .files.import_keys = LRA_OFFICIAL_KEYS,                           \
    .files.import_hash = import_hash, .baseline = lra_baseline_constant, .files.inspect = inspect, \
    .text.show = lra_image_show

const lra_task lra_task_image = {
    IMAGE_TASK,
    .name = "image",
    .summary = "object in a grey photograph (CIFAR-10), ten classes",
    .input.channels = 1,
    .paper = {NULL, "batch=64 epochs=200", 3},
    .keys = (const lra_key[]){LRA_OFFICIAL_ROWS, LRA_AUGMENT_POLICY_ROWS, LRA_KEYS_END},
    .input.keys = VIEW_KEYS,
    .data.augment = lra_augment_policy,
    .files.import = import_colours,
    .input.values = grey_values,
};

const lra_task lra_task_scifar = {
    IMAGE_TASK,
    .name = "scifar",
    .summary = "object in a colour photograph (CIFAR-10), ten classes",
    .input.channels = COLOURS,
    .paper = {NULL, "batch=64 epochs=200", 3},
    .keys = (const lra_key[]){LRA_OFFICIAL_ROWS, LRA_AUGMENT_POLICY_ROWS, LRA_KEYS_END},
    .input.keys = VIEW_KEYS,
    .data.augment = lra_augment_policy,
    .files.import = import_colours,
    .input.levels = colour_levels,
};

const lra_task lra_task_image_tokens = {
    IMAGE_TASK,
    .name = "image-tokens",
    .summary = "image with grey levels as token ids, as in the Long Range Arena",
    .paper = {NULL, "batch=64 epochs=200", 3},
    .keys = (const lra_key[]){LRA_OFFICIAL_ROWS, LRA_KEYS_END},
    .files.import = import_words,
};
