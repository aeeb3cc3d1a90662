/* Reads CIFAR-10 in its binary version. */
#include "datasets/formats/cifar.h"

#include <string.h>

#include "datasets/formats/walk.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

enum { LEVELS = 2, TEST = LRA_CIFAR_FILES - 1 };

const char *const lra_cifar_classes[LRA_CIFAR_CLASSES] = {
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
const char *const lra_cifar_files[LRA_CIFAR_FILES] = {"data_batch_1.bin", "data_batch_2.bin",
                                                      "data_batch_3.bin", "data_batch_4.bin",
                                                      "data_batch_5.bin", "test_batch.bin"};

/* Returns the index of a file in lra_cifar_files, -1 for other files. */
static int file_number(const char *name)
{
    int i = 0;
    while (i < LRA_CIFAR_FILES && strcmp(lra_walk_base(name), lra_cifar_files[i]) != 0) i++;
    return i < LRA_CIFAR_FILES ? i : -1;
}

/* ---- records --------------------------------------------------------------------------------- */

int lra_cifar_add(lra_cifar *c, const char *name, const void *bytes, size_t n, lra_err *e)
{
    int i = file_number(name);
    if (i < 0) return lra_fail(e, "'%s' is not a CIFAR-10 file", lra_walk_base(name));
    lra_cifar_file *f = &c->file[i];
    uint64_t hash = lra_hash64(bytes, n);
    if (f->record && f->hash == hash) return 0;
    if (f->record) return lra_fail(e, "'%s' occurs twice with different bytes", lra_cifar_files[i]);
    int64_t found = (int64_t)(n / LRA_CIFAR_RECORD);
    if (found == 0)
        return lra_fail(e, "'%s' has %zu bytes, expected records of %d", name, n,
                        (int)LRA_CIFAR_RECORD);
    f->record = lra_try_array(found, LRA_CIFAR_RECORD, name, e);
    if (!f->record) return LRA_FAILED;
    f->hash = hash;
    c->n_cut += (int64_t)(n % LRA_CIFAR_RECORD);
    for (int64_t k = 0; k < found; k++) {
        const uint8_t *record = (const uint8_t *)bytes + k * LRA_CIFAR_RECORD;
        if (record[0] >= LRA_CIFAR_CLASSES)
            c->n_strange++;
        else
            memcpy(f->record + LRA_CIFAR_RECORD * f->n++, record, LRA_CIFAR_RECORD);
    }
    return 0;
}

int64_t lra_cifar_n_train(const lra_cifar *c)
{
    int64_t n = 0;
    for (int i = 0; i < TEST; i++) n += c->file[i].n;
    return n;
}

const uint8_t *lra_cifar_record(const lra_cifar *c, int64_t i)
{
    int file = 0;
    while (file < TEST && i >= c->file[file].n) i -= c->file[file++].n;
    return c->file[file].record + i * LRA_CIFAR_RECORD;
}

void lra_cifar_free(lra_cifar *c)
{
    for (int i = 0; i < LRA_CIFAR_FILES; i++) lra_free(c->file[i].record);
    *c = (lra_cifar){0};
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Returns true for a file of CIFAR-10's Python version: these have the same names without
 * ".bin". */
static bool is_python(const char *name)
{
    const char *base = lra_walk_base(name);
    for (int i = 0; i < LRA_CIFAR_FILES; i++)
        if (strlen(base) + 4 == strlen(lra_cifar_files[i]) &&
            strncmp(base, lra_cifar_files[i], strlen(base)) == 0)
            return true;
    return false;
}

static bool is_wanted(void *cifar, const char *name)
{
    lra_cifar *c = cifar;
    if (c && is_python(name)) c->other_form = true;
    return file_number(name) >= 0;
}

/* Returns true for the archive of CIFAR-10, or for one of its files, compressed. */
static bool is_archive(void *cifar, const char *name)
{
    (void)cifar;
    const char *base = lra_walk_base(name);
    if (strncmp(base, "cifar-10-binary", 15) == 0) return true;
    for (int i = 0; i < LRA_CIFAR_FILES; i++) {
        size_t n = strlen(lra_cifar_files[i]);
        if (strncmp(base, lra_cifar_files[i], n) == 0 && base[n] == '.') return true;
    }
    return false;
}

static int add_file(void *cifar, const char *name, const char *bytes, size_t n, lra_err *e)
{
    return lra_cifar_add(cifar, name, bytes, n, e);
}

static lra_walk make_walk(lra_cifar *c)
{
    return (lra_walk){
        .wanted = is_wanted, .inside = is_archive, .visit = add_file, .of = c, .levels = LEVELS};
}

static void report(const lra_cifar *c, const lra_walk *w, const char *path)
{
    lra_walk_report(w, path);
    if (c->n_cut)
        lra_warn("'%s': %lld bytes after the last complete record are excluded", path,
                 (long long)c->n_cut);
    if (c->n_strange)
        lra_warn("'%s': %lld records with a label above 9 are excluded", path,
                 (long long)c->n_strange);
}

static bool has_training(const lra_cifar *c)
{
    int i = 0;
    while (i < TEST && !c->file[i].record) i++;
    return i < TEST;
}

int lra_cifar_read(lra_cifar *c, const char *path, lra_err *e)
{
    lra_walk w = make_walk(c);
    int rc = lra_walk_path(&w, path, e);
    int64_t n_train = lra_cifar_n_train(c), n_test = c->file[TEST].n;
    if (rc == 0 && ((n_train == 0 && has_training(c)) || (n_test == 0 && c->file[TEST].record)))
        return lra_fail(e,
                        "'%s': %lld training and %lld test records, and %lld with a label above 9",
                        path, (long long)n_train, (long long)n_test, (long long)c->n_strange);
    if (rc == 0 && (n_train == 0 || n_test == 0)) {
        lra_fail(e, "no %s in '%s' or two levels below%s; expected " LRA_CIFAR_SOURCE,
                 n_train ? "test_batch.bin" : "data_batch_1.bin", path,
                 c->other_form ? " (found the Python version, which is not supported)" : "");
        rc = n_train + n_test == 0 && !c->other_form ? LRA_ABSENT : LRA_FAILED;
    }
    if (rc == 0) report(c, &w, path);
    return rc;
}

int lra_cifar_hash(const char *path, lra_digest *to, lra_err *e)
{
    lra_walk w = make_walk(NULL);
    return lra_walk_hash(&w, path, to, e);
}
