/* Reads the four files of MNIST: images and labels of the training and of the test set. */
#include <stdio.h>
#include <string.h>

#include "datasets/formats/idx.h"
#include "datasets/formats/mnist_file.h"
#include "datasets/formats/walk.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

enum { LEVELS = 2, MAX_FILE = 1 << 28 };
static const char *const starts[2][2] = {{"train-images", "train-labels"},
                                         {"t10k-images", "t10k-labels"}};

/* Recognises file names such as "train-images-idx3-ubyte" and "train-images.idx3-ubyte". *part: 0
 * training, 1 test. *labels: 1 for a file of labels, 0 for images. */
static bool which_file(const char *name, int *part, int *labels)
{
    const char *base = lra_walk_base(name);
    for (*part = 0; *part < 2; ++*part)
        for (*labels = 0; *labels < 2; ++*labels) {
            size_t n = strlen(starts[*part][*labels]);
            const char *end = *labels ? "idx1-ubyte" : "idx3-ubyte";
            if (strncmp(base, starts[*part][*labels], n) == 0 &&
                (base[n] == '-' || base[n] == '.') && strcmp(base + n + 1, end) == 0)
                return true;
        }
    return false;
}

static bool is_wanted(void *mnist, const char *name)
{
    (void)mnist;
    int part, labels;
    return which_file(name, &part, &labels);
}

/* Returns true for one of the four files, compressed, or for an archive whose name begins with
 * "mnist". */
static bool is_archive(void *mnist, const char *name)
{
    const char *base = lra_walk_base(name);
    const char *dot = strrchr(base, '.');
    char *unpacked = lra_format("%.*s", dot ? (int)(dot - base) : (int)strlen(base), base);
    bool found = is_wanted(mnist, unpacked) || strncmp(base, "mnist", 5) == 0;
    lra_free(unpacked);
    return found;
}

/* ---- one file -------------------------------------------------------------------------------- */

/* Copies the data of a file. If the file was read before, only checks that the data are equal. */
static int keep(uint8_t **to, int64_t *n, const lra_idx *found, int64_t size, const char *name,
                lra_err *e)
{
    size_t bytes = (size_t)(found->n * size);
    if (*to)
        return *n == found->n && memcmp(*to, found->item, bytes) == 0
                   ? 0
                   : lra_fail(e, "'%s' occurs twice with different bytes", name);
    *to = lra_try_array(found->n, (size_t)size, name, e);
    if (!*to) return LRA_FAILED;
    memcpy(*to, found->item, bytes);
    *n = found->n;
    return 0;
}

int lra_mnist_add(lra_mnist *m, const char *name, const void *bytes, size_t n, lra_err *e)
{
    int part, labels;
    lra_idx found;
    if (!which_file(name, &part, &labels)) return lra_fail(e, "'%s' is not an MNIST file", name);
    if (lra_idx_parse(bytes, n, name, &found, e) != 0) return LRA_FAILED;
    if (labels ? found.rank != 1
               : found.rank != 3 || found.extent[1] != LRA_MNIST_SIDE ||
                     found.extent[2] != LRA_MNIST_SIDE)
        return lra_fail(e, "'%s' is an array of %d dimensions%s, expected %s", name, found.rank,
                        found.rank == 3 ? " or of another size" : "",
                        labels ? "a list of labels" : "images of 28 x 28 pixels");
    if (found.n == 0) return lra_fail(e, "'%s' contains only a header", name);
    lra_mnist_part *p = &m->part[part];
    bool new = labels ? !p->label : !p->image;
    if (new) m->n_missing += found.extent[0] - found.n;
    if (new &&found.n_extra && m->n_extra == 0)
        snprintf(m->extra, sizeof m->extra, "%s", lra_walk_base(name));
    if (new) m->n_extra += found.n_extra;
    return labels ? keep(&p->label, &p->n_labels, &found, 1, name, e)
                  : keep(&p->image, &p->n_images, &found, LRA_MNIST_PIXELS, name, e);
}

/* ---- all files ------------------------------------------------------------------------------- */

/* Keeps the images that have a valid label, and counts the others. */
static void pair(lra_mnist *m, lra_mnist_part *p)
{
    int64_t n = p->n_images < p->n_labels ? p->n_images : p->n_labels;
    m->n_unpaired += p->n_images + p->n_labels - 2 * n;
    for (int64_t i = 0; i < n; i++) {
        if (p->label[i] >= LRA_MNIST_CLASSES) {
            m->n_strange++;
            continue;
        }
        p->label[p->n] = p->label[i];
        if (p->n != i)
            memcpy(p->image + p->n * LRA_MNIST_PIXELS, p->image + i * LRA_MNIST_PIXELS,
                   LRA_MNIST_PIXELS);
        p->n++;
    }
}

static void report(const lra_mnist *m, const lra_walk *w, const char *path)
{
    lra_walk_report(w, path);
    if (m->n_missing)
        lra_warn("'%s': %lld items that headers announce are missing", path,
                 (long long)m->n_missing);
    if (m->n_extra)
        lra_warn("'%s': %lld bytes after the last item are excluded, the first of them in '%s'",
                 path, (long long)m->n_extra, m->extra);
    if (m->n_unpaired)
        lra_warn("'%s': %lld images or labels without their counterpart are excluded", path,
                 (long long)m->n_unpaired);
    if (m->n_strange)
        lra_warn("'%s': %lld labels above 9 are excluded with their images", path,
                 (long long)m->n_strange);
}

static int add_file(void *mnist, const char *name, const char *bytes, size_t n, lra_err *e)
{
    return lra_mnist_add(mnist, name, bytes, n, e);
}

static lra_walk make_walk(lra_mnist *m)
{
    return (lra_walk){.wanted = is_wanted,
                      .inside = is_archive,
                      .visit = add_file,
                      .of = m,
                      .levels = LEVELS,
                      .max_file = MAX_FILE};
}

int lra_mnist_read(lra_mnist *m, const char *path, lra_err *e)
{
    lra_walk w = make_walk(m);
    int rc = lra_walk_path(&w, path, e);
    for (int p = 0; p < 2 && rc == 0; p++) {
        const lra_mnist_part *part = &m->part[p];
        bool none = !m->part[0].image && !m->part[0].label && !m->part[1].image &&
                    !m->part[1].label;
        if (!part->image || !part->label) {
            lra_fail(e, "no %s-idx%d-ubyte in '%s' or two levels below; expected %s",
                     starts[p][part->image != NULL], part->image ? 1 : 3, path, LRA_MNIST_SOURCE);
            rc = none ? LRA_ABSENT : LRA_FAILED;
        }
    }
    for (int p = 0; p < 2 && rc == 0; p++) pair(m, &m->part[p]);
    if (rc == 0) report(m, &w, path);
    return rc;
}

int lra_mnist_hash(const char *path, lra_digest *to, lra_err *e)
{
    lra_walk w = make_walk(NULL);
    return lra_walk_hash(&w, path, to, e);
}

void lra_mnist_free(lra_mnist *m)
{
    for (int p = 0; p < 2; p++) {
        lra_free(m->part[p].image);
        lra_free(m->part[p].label);
    }
    *m = (lra_mnist){0};
}
