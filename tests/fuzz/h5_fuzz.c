/* The HDF5 files of this project. Their seal would detect every change, so it is computed again
 * after changes. The first byte of the input selects the kind of change:
 * 0..4 IMAGE    the bytes of a file of this kind (format_files.h);
 * 5.. EDITS     the file of kind (first byte % 5), in which datasets and attributes are replaced by
 * others of any type, rank and extent through the library, so that the checksums of HDF5 are
 * correct.
 * The readers must accept a file or reject it with a message; their memory is bounded by the size
 * of the file. */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/formats/h5_impl.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fixtures/format_files.h"

enum { MAX_IMAGE = 1 << 20, MAX_EDITS = 8 };

static lra_text image[FORMAT_KINDS]; /* content of the unchanged files, without seal */

/* HDF5 does not free an object header whose checksum is wrong. These leaks are ignored; those of
 * this project are still detected. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5\n";
}

/* HDF5 allocates as much memory as a damaged file requests, and handles a failed allocation. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* ---- edits ----------------------------------------------------------------------------------- */

static const char *const objects[] = {"/train/start",
                                      "/train/token",
                                      "/val/label",
                                      "/config",
                                      "/history",
                                      "/param/encoder/layer0/conv/kernel",
                                      "/param/embed/table",
                                      "/adam/count",
                                      "/adam/m/head/w",
                                      "/test/logits",
                                      "/test/label",
                                      "/baseline/constant",
                                      "/baseline/another",
                                      "/listops/label",
                                      "/listops/root",
                                      "/heuristic/majority-by-operator",
                                      "/labels/train",
                                      "/deviations",
                                      "/val/logits",
                                      "/train/correct",
                                      "/origin",
                                      "/",
                                      "/param"};
static const char *const attributes[] = {"lra.format", "lra.kind",   "fingerprint", "task",
                                         "epoch",      "batch",      "log_bytes",   "seconds",
                                         "model",      "max_length", "best_epoch",  "kernel",
                                         "columns",    "threads",    "train_rows",  "date"};
enum {
    N_OBJECTS = sizeof objects / sizeof *objects,
    N_ATTRIBUTES = sizeof attributes / sizeof *attributes
};

typedef struct {
    const uint8_t *at, *end;
} stream;

static uint8_t next(stream *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

static hid_t any_type(uint8_t b)
{
    const hid_t known[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_I64LE,
                           H5T_STD_U8LE,   H5T_STD_U16LE,  H5T_STD_I32BE, H5T_STD_U64LE};
    size_t n = sizeof known / sizeof *known;
    if (b % (n + 2) < n) return H5Tcopy(known[b % (n + 2)]);
    hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, b % (n + 2) == n ? H5T_VARIABLE : (size_t)b);
    return text;
}

/* Returns an extent: mostly small numbers, and sometimes a power of two that is larger than any
 * memory. */
static hsize_t any_extent(uint8_t b)
{
    return b < 192 ? b % 24 : (hsize_t)1 << (b - 192);
}

static hid_t any_space(stream *s, hsize_t dims[10], int *rank)
{
    *rank = next(s) % 11;
    for (int i = 0; i < *rank && i < 10; i++) dims[i] = any_extent(next(s));
    return *rank == 10 ? H5Screate(H5S_NULL) : H5Screate_simple(*rank, dims, NULL);
}

/* Returns values for the elements of the data space, taken from the stream, in a buffer that is
 * large enough for any type; NULL if there are too many elements. */
static uint8_t *any_values(stream *s, hid_t space, hid_t type)
{
    hssize_t n = H5Sget_simple_extent_npoints(space);
    if (n < 0 || n > 4096 || H5Tis_variable_str(type) > 0) return NULL;
    size_t bytes = (size_t)n * H5Tget_size(type);
    uint8_t *values = lra_alloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++) values[i] = next(s);
    return values;
}

static void replace_dataset(hid_t file, const char *path, stream *s)
{
    hsize_t dims[10], chunk[10];
    int rank;
    hid_t type = any_type(next(s)), space = any_space(s, dims, &rank);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
    uint8_t how = next(s);
    /* chunks are small, because HDF5 keeps a chunk in memory */
    hsize_t most = how & 2 ? 1 << 20 : 1;
    for (int i = 0; i < rank && i < 10; i++) {
        chunk[i] = dims[i] < 1 ? 1 : dims[i] < most ? dims[i] : most;
        most = most / chunk[i] ? most / chunk[i] : 1;
    }
    if (how & 1 && rank > 0 && rank < 10) H5Pset_chunk(list, rank, chunk);
    if (how & 4) H5Pset_deflate(list, 1);
    if (how & 8) H5Pset_fletcher32(list);
    if (how & 16) H5Pset_nbit(list);
    H5Pset_create_intermediate_group(links, 1);
    H5Ldelete(file, path, H5P_DEFAULT);
    hid_t set = H5Dcreate2(file, path, type, space, links, list, H5P_DEFAULT);
    uint8_t *values = set >= 0 && how & 32 ? any_values(s, space, type) : NULL;
    if (values) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    lra_free(values);
    if (set >= 0) H5Dclose(set);
    H5Pclose(links);
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(type);
}

static void replace_attribute(hid_t file, const char *object, const char *name, stream *s)
{
    hsize_t dims[10];
    int rank;
    hid_t owner = H5Oopen(file, object, H5P_DEFAULT);
    if (owner < 0) return;
    hid_t type = any_type(next(s));
    hid_t space = next(s) % 4 ? H5Screate(H5S_SCALAR) : any_space(s, dims, &rank);
    /* attributes are small, because HDF5 keeps them in memory */
    if (H5Sget_simple_extent_npoints(space) > 4096) H5Sset_extent_none(space);
    H5Adelete(owner, name);
    hid_t a = H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    uint8_t *values = a >= 0 ? any_values(s, space, type) : NULL;
    if (values) H5Awrite(a, type, values);
    lra_free(values);
    if (a >= 0) H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    H5Oclose(owner);
}

static void edit(const char *path, stream *s)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
    H5Pclose(access);
    if (file < 0) LRA_BUG("the seed '%s' does not open", path);
    for (int i = 0; i < MAX_EDITS && s->at < s->end; i++) {
        uint8_t what = next(s);
        if (what % 2)
            replace_attribute(file, what & 2 ? "/" : objects[next(s) % N_OBJECTS],
                              attributes[what / 4 % N_ATTRIBUTES], s);
        else if (what % 8 == 6)
            H5Ldelete(file, objects[what / 8 % (N_OBJECTS - 2)], H5P_DEFAULT);
        else
            replace_dataset(file, objects[what / 8 % (N_OBJECTS - 2)], s);
    }
    H5Fclose(file);
}

/* ---- the target ------------------------------------------------------------------------------ */

static void load_images(void)
{
    format_files_make();
    atexit(format_files_remove);
    for (int k = 0; k < FORMAT_KINDS; k++) {
        lra_err e = {{0}};
        size_t n;
        char *bytes = lra_file_read(format_files_path(k), MAX_IMAGE, &n, &e);
        if (!bytes) LRA_BUG("%s", e.msg);
        lra_text_bytes(&image[k], bytes, n - LRA_H5_SEAL);
        lra_free_large(bytes);
    }
}

static void write_bytes(const char *path, const void *bytes, size_t n, bool sealed)
{
    remove(path); /* some file systems wait for the disk when a file is overwritten */
    FILE *f = fopen(path, "wb");
    if (!f || (sealed ? format_files_seal(f, bytes, n) != 0 : fwrite(bytes, 1, n, f) != n))
        LRA_BUG("cannot write '%s'", path);
    fclose(f);
}

static void seal_again(const char *path)
{
    lra_err e = {{0}};
    size_t n;
    char *bytes = lra_file_read(path, MAX_IMAGE << 4, &n, &e);
    if (!bytes) LRA_BUG("%s", e.msg);
    write_bytes(path, bytes, n, true);
    lra_free_large(bytes);
}

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const uint8_t edits[][8] = {
        {2, 3, 1, 4, 47, 7}, {1, 9, 3, 1, 255, 255}, {38, 6, 2, 250, 1, 43}};
    if (!image[0].s) load_images();
    if (i >= 2 * FORMAT_KINDS) return false;
    char kind = (char)(i % FORMAT_KINDS + (i < FORMAT_KINDS ? 0 : FORMAT_KINDS));
    lra_text_bytes(to, &kind, 1);
    if (i < FORMAT_KINDS)
        lra_text_bytes(to, image[i].s, image[i].n);
    else
        lra_text_bytes(to, edits[i % 3], sizeof *edits);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    uint64_t hash;
    if (!image[0].s) load_images();
    if (n == 0) return 0;
    int kind = data[0] % FORMAT_KINDS;
    const char *path = format_files_path(kind);
    if (data[0] < FORMAT_KINDS) {
        write_bytes(path, data + 1, n - 1, true);
    } else {
        stream s = {data + 1, data + n};
        write_bytes(path, image[kind].s, image[kind].n, false);
        edit(path, &s);
        seal_again(path);
    }
    if (format_files_read(kind, &hash, &e) != 0) lra_fuzz_check_message(&e);
    return 0;
}
