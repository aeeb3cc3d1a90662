/* MNIST pixel by pixel: classifies handwritten digits. 28 x 28 grey levels are 784 tokens, row by
 * row (smnist) or in one fixed random order (pmnist). The input of a model is x/255, one number per
 * token.
 * Source: LeCun et al. 1998; as sequences, Le, Jaitly and Hinton 2015, arXiv:1504.00941.
 * The 60,000 training images are divided 54,000 / 6,000 by torch's random_split with seed 42;
 * 10,000 images are for test.
 * Orders of pmnist: "bits" reverses the ten bits of the pixel's index (0 512 256 768 128 ...), as
 * in the state-space papers; "numpy" is RandomState(92916).permutation(784), as in other papers.
 * Known: the most frequent digit of the test images, 1, is 11.35 % of them. */
#include "datasets/formats/mnist_file.h"

#include <string.h>

#include "datasets/formats/image_show.h"
#include "datasets/loader/dataset.h"
#include "datasets/loader/official.h"
#include "datasets/loader/split.h"
#include "datasets/mnist.h"

enum { PIXELS = LRA_MNIST_PIXELS, BITS = 10, NUMPY_SEED = 92916 };

void lra_mnist_reversed_bits(int64_t *order)
{
    int64_t n = 0;
    for (int i = 0; i < 1 << BITS; i++) {
        int reversed = 0;
        for (int k = 0; k < BITS; k++) reversed |= (i >> k & 1) << (BITS - 1 - k);
        if (reversed < PIXELS) order[n++] = reversed;
    }
}

/* ---- import ---------------------------------------------------------------------------------- */

typedef struct {
    const lra_mnist *files;
    int64_t order[PIXELS];
} ordered;

static void take(const void *of, int64_t i, uint16_t *token, int32_t *label)
{
    const ordered *o = of;
    const lra_mnist_part *p = &o->files->part[0];
    if (i >= p->n) i -= p->n, p++;
    *label = p->label[i];
    for (int64_t k = 0; k < PIXELS; k++) token[k] = p->image[i * PIXELS + o->order[k]];
}

static int import(const lra_config *c, const char *folder, lra_dataset *d, lra_err *e)
{
    lra_mnist files = {0};
    ordered o = {.files = &files};
    const char *permutation = lra_config_text_or(c, "permutation", "none");
    for (int64_t k = 0; k < PIXELS; k++) o.order[k] = k;
    if (strcmp(permutation, "bits") == 0) lra_mnist_reversed_bits(o.order);
    if (strcmp(permutation, "numpy") == 0) lra_split_numpy(NUMPY_SEED, PIXELS, o.order);
    int rc = lra_mnist_read(&files, folder, e);
    lra_official rows = {.n_train = files.part[0].n,
                         .n_test = files.part[1].n,
                         .length = PIXELS,
                         .width = 1,
                         .row = take,
                         .of = &o};
    if (rc == 0) rc = lra_official_divide(&rows, c, d, e);
    lra_mnist_free(&files);
    return rc;
}

static int import_hash(const lra_config *c, const char *folder, lra_digest *to, lra_err *e)
{
    (void)c;
    return lra_mnist_hash(folder, to, e);
}

static int inspect(const lra_config *c, const char *folder, lra_facts *found, lra_err *e)
{
    (void)c;
    lra_mnist m = {0};
    int rc = lra_mnist_read(&m, folder, e);
    for (int p = 0; p < 2 && rc == 0; p++) {
        int64_t count[LRA_MNIST_CLASSES] = {0};
        for (int64_t i = 0; i < m.part[p].n; i++) count[m.part[p].label[i]]++;
        lra_facts_add(found, (double)m.part[p].n, "%s, images", p ? "test" : "train");
        for (int k = 0; k < LRA_MNIST_CLASSES; k++)
            lra_facts_add(found, (double)count[k], "%s, digit %d", p ? "test" : "train", k);
    }
    if (rc == 0) {
        lra_facts_defect(found, m.n_missing, "items announced but missing");
        lra_facts_defect(found, m.n_unpaired, "images or labels unpaired");
        lra_facts_defect(found, m.n_strange, "labels above 9");
        lra_facts_defect(found, m.n_extra, "bytes after the last item");
    }
    lra_mnist_free(&m);
    return rc;
}

/* ---- the tasks ------------------------------------------------------------------------------- */

#define MNIST_TASK                                                                                 \
    .files.from_parquet = LRA_MNIST_PARQUET, .files.published = {60000, 0, 10000},                 \
    .files.source = LRA_MNIST_SOURCE, .n_classes = LRA_MNIST_CLASSES,                              \
    .data.steps = LRA_MNIST_PIXELS, .input.vocab = 256, .input.channels = 1,                       \
    .input.level_scale = 1.0 / 255, .quick = LRA_OFFICIAL_QUICK, .small = LRA_OFFICIAL_SMALL,      \
    .paper = {NULL, "batch=64 epochs=100", 3}, .files.import = import,                             \
    .files.import_hash = import_hash, .baseline = lra_baseline_constant, .files.inspect = inspect, \
    .text.show = lra_image_show

const lra_task lra_task_smnist = {
    MNIST_TASK,
    .name = "smnist",
    .summary = "handwritten digit (MNIST, row by row), ten classes",
    .data.correlation = 0.81,
    .input.image = true,
    .keys = (const lra_key[]){LRA_OFFICIAL_ROWS, LRA_KEYS_END},
    .files.import_keys = LRA_OFFICIAL_KEYS,
};

const lra_task lra_task_pmnist = {
    MNIST_TASK,
    .name = "pmnist",
    .summary = "handwritten digit (MNIST, pixels in one fixed random order), ten classes",
    .keys =
        (const lra_key[]){
            LRA_OFFICIAL_ROWS,
            LRA_CHOICE_KEY("permutation", "bits", "bits|numpy",
                           "order of the pixels: index bits reversed, or NumPy's permutation"),
            LRA_KEYS_END},
    .files.import_keys = LRA_OFFICIAL_KEYS " permutation",
};
