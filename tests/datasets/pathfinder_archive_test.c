/* Pathfinder from archives: the rows are the same as from unpacked folders, for any order of the
 * files; defects; the official archives. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/formats/png.h"
#include "datasets/formats/walk.h"
#include "datasets/pathfinder/file.h"
#include "datasets/pathfinder/pathfinder.h"
#include "datasets/pathfinder/write.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/task_data.h"

enum { EASY, INTERMEDIATE, HARD, ROWS = 8, SEED = 11, MAX_FILES = 200 };
#define TREE "lra_release/lra_release"

/* The files of a folder, in a form that can be packed. */
typedef struct {
    packed_file file[MAX_FILES];
    int n;
} file_list;

static int add_file(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    (void)e;
    file_list *l = of;
    char *copy = lra_alloc(n + 1);
    memcpy(copy, bytes, n);
    assert_in_range(l->n, 0, MAX_FILES - 1);
    l->file[l->n++] = (packed_file){lra_copy_text(name), copy, n};
    return 0;
}

static void read_files(const char *name, file_list *l)
{
    lra_err e;
    char *path = lra_format("%s/%s", folder, name);
    lra_walk w = {.visit = add_file, .of = l, .levels = 8};
    l->n = 0;
    OK(lra_walk_path(&w, path, &e));
    lra_free(path);
}

static void free_files(file_list *l)
{
    for (int i = 0; i < l->n; i++) {
        lra_free((void *)(uintptr_t)l->file[i].name);
        lra_free((void *)(uintptr_t)l->file[i].bytes);
    }
    l->n = 0;
}

/* Writes the batches 0, 2 and 10 of a level to FOLDER/name. */
static void write_level(const char *name, int level)
{
    lra_err e;
    static const int64_t batch[] = {0, 2, 10};
    char *path = lra_format("%s/%s/%s", folder, name, lra_pathfinder_level_folders[level]);
    lra_pathfinder *g = lra_pathfinder_new(lra_pathfinder_size_find(32),
                                           lra_pathfinder_level_paddles[level], 0, true);
    for (int i = 0; i < 3; i++)
        OK(lra_pathfinder_write_batch(g, path, batch[i], SEED, i * ROWS, ROWS, &e));
    lra_pathfinder_free(g);
    lra_free(path);
}

static void read_level(const char *name, int level, lra_pathfinder_set *set)
{
    lra_err e = {{0}};
    char *path = lra_format("%s/%s", folder, name);
    OK(lra_pathfinder_read(path, 32, 1, &level, set, &e));
    lra_free(path);
}

/* ---- order and packing ----------------------------------------------------------------------- */

enum { IMAGES_FIRST, METADATA_FIRST, MIXED, N_ORDERS };

static void reorder(file_list *l, int order)
{
    for (int i = 0; order == METADATA_FIRST && i < l->n / 2; i++) {
        packed_file f = l->file[i];
        l->file[i] = l->file[l->n - 1 - i], l->file[l->n - 1 - i] = f;
    }
    for (int i = l->n - 1; order == MIXED && i > 0; i--) {
        int k = i * 7 % 5 * i / 5;
        packed_file f = l->file[i];
        l->file[i] = l->file[k], l->file[k] = f;
    }
}

/* Imports without writing prepared data, which would take longer than reading these small files.
 * Returns NULL if the data are rejected. */
static lra_dataset *import(const lra_task *t, const char *name, const char *changes, lra_err *e)
{
    char *path = lra_format("%s/%s", folder, name);
    lra_config *c = task_config(t, changes);
    lra_dataset *d = NULL;
    lra_dataset_import(t, c, path, &d, e);
    lra_config_free(c);
    lra_free(path);
    return d;
}

static lra_dataset *open_rows(const char *name, const char *changes)
{
    lra_err e = {{0}};
    lra_dataset *d = import(&lra_task_pathfinder, name, changes, &e);
    if (!d) fail_msg("%s: %s", name, e.msg);
    return d;
}

static void same_rows(const char *name, const char *changes, const lra_dataset *as)
{
    lra_dataset *d = open_rows(name, changes);
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *x = &as->split[s], *y = &d->split[s];
        assert_int_equal(x->n, y->n);
        assert_memory_equal(x->label, y->label, (size_t)x->n * sizeof *x->label);
        assert_memory_equal(x->token, y->token, (size_t)x->start[x->n] * sizeof *x->token);
    }
    assert_string_equal(as->fingerprint, d->fingerprint);
    lra_dataset_free(d);
}

TEST(packed_is_as_unpacked)
{
    for (int level = EASY; level <= HARD; level++) write_level("tree/" TREE "/pathfinder32", level);
    lra_dataset *three = open_rows("tree", "sets=three"), *one = open_rows("tree", "");
    assert_int_equal(three->split[0].n, 3 * 20);
    assert_int_equal(one->split[0].n + one->split[1].n + one->split[2].n, 3 * ROWS);
    same_rows("tree/" TREE, "sets=three", three);
    same_rows("tree/" TREE "/pathfinder32", "sets=three", three);
    same_rows("tree/" TREE "/pathfinder32/curv_contour_length_14", "", one);
    /* Other files in the archive do not matter. */
    task_write("tree/" TREE "/pathfinder64/curv_contour_length_14/metadata/0.npy", "x", 1);
    task_write("tree/" TREE "/pathfinder64/curv_contour_length_14/imgs/0/sample_0.png", "x", 1);
    task_write("tree/" TREE "/pathfinder32/curv_contour_length_14/metadata/._0.npy", "x", 1);
    task_write("tree/" TREE "/pathfinder32/curv_contour_length_14/metadata/01.npy", "x", 1);
    task_write("tree/" TREE "/listops-1000/basic_train.tsv", "x", 1);
    file_list l = {.n = 0};
    static const pack kinds[] = {PACK_TAR, PACK_TAR_GZ, PACK_TAR_XZ, PACK_ZIP};
    for (int order = IMAGES_FIRST; order < N_ORDERS; order++) {
        read_files("tree", &l);
        reorder(&l, order);
        if (order == METADATA_FIRST) assert_non_null(strstr(l.file[0].name, "metadata"));
        for (int k = 0; k < 4; k++) {
            char *name = lra_format("packed%d%d/lra_release.gz", order, k);
            pack_write(folder, name, l.file, l.n, kinds[k]);
            same_rows(name, "sets=three", three);
            same_rows(name, "", one);
            *strrchr(name, '/') = 0; /* now the path of the archive's folder */
            same_rows(name, "sets=three", three);
            lra_free(name);
        }
        free_files(&l);
    }
    lra_dataset_free(three);
    lra_dataset_free(one);
}

/* ---- defects --------------------------------------------------------------------------------- */

TEST(defects_are_those_of_the_folder)
{
    uint8_t large[64 * 64] = {0};
    lra_err e;
    file_list l = {.n = 0};
    write_level("bad/pathfinder32", EASY);
    char *image = lra_format("%s/bad/pathfinder32/curv_baseline/imgs/2/sample_3.png", folder);
    assert_int_equal(lra_png_write(image, 64, 64, large, &e), 0);
    image[strlen(image) - 5] = '4';
    remove(image);
    lra_free(image);
    task_write("bad/pathfinder32/curv_baseline/imgs/0/sample_6.png", "\x89PNG", 4);
    read_files("bad", &l);
    task_write("bad/pathfinder32/curv_baseline/imgs/0/sample_5.png", "", 0);
    for (int i = 0; i < l.n; i++)
        if (strstr(l.file[i].name, "imgs/0/sample_5.png")) {
            memset((void *)(uintptr_t)l.file[i].bytes, 0, l.file[i].n);
            l.file[i].n = 0; /* 0 means the length of the text, which is now empty */
        }
    pack_write(folder, "bad.tar.gz", l.file, l.n, PACK_TAR_GZ);
    const char *const places[] = {"bad", "bad.tar.gz"};
    for (int k = 0; k < 2; k++) {
        lra_pathfinder_set set;
        read_level(places[k], EASY, &set);
        assert_int_equal(set.n_listed, 3 * ROWS);
        assert_int_equal(set.n, 3 * ROWS - 4);
        assert_int_equal(set.n_absent, 1);
        assert_int_equal(set.n_empty, 1);
        assert_int_equal(set.n_broken, 2);
        assert_int_equal(set.n_doubled, 0);
        assert_int_equal(set.n_batches, 3);
        assert_int_equal(set.n_gaps, 8);
        assert_non_null(strstr(set.first_broken, places[k]));
        assert_non_null(strstr(set.first_broken, "/curv_baseline/imgs/0/sample_6.png"));
        lra_pathfinder_sets_free(1, &set);
    }
    free_files(&l);
}

/* If an archive contains a file twice, the second one counts, as when the archive is unpacked. */
TEST(the_last_of_two_counts)
{
    file_list l = {.n = 0};
    write_level("twice/pathfinder32", EASY);
    read_files("twice", &l);
    lra_pathfinder_set value_target, set;
    read_level("twice", EASY, &value_target);
    /* Appends image 1 with the name of image 0, and the unchanged metadata again. */
    const packed_file *last = &l.file[l.n - 1];
    add_file(&l, l.file[0].name, l.file[1].bytes, l.file[1].n, NULL);
    add_file(&l, last->name, last->bytes, last->n, NULL);
    pack_write(folder, "twice.tar", l.file, l.n, PACK_TAR);
    read_level("twice.tar", EASY, &set);
    assert_int_equal(set.n, value_target.n);
    assert_int_equal(set.n_doubled, 2);
    uint8_t x[32 * 32], y[32 * 32];
    lra_pathfinder_decode(&value_target, 1, x);
    lra_pathfinder_decode(&set, 0, y);
    assert_memory_equal(x, y, sizeof x);
    lra_pathfinder_decode(&set, 1, y);
    assert_memory_equal(x, y, sizeof x);
    lra_pathfinder_sets_free(1, &value_target);
    lra_pathfinder_sets_free(1, &set);
    free_files(&l);
}

/* The official archive contains a set twice: the copy whose name sorts first is read, wherever it
 * is in the archive. */
TEST(copies_in_archives_are_compared)
{
    file_list l = {.n = 0};
    write_level("copies/b/pathfinder32", EASY);
    write_level("copies/a/pathfinder32", EASY);
    for (int equal = 1; equal >= 0; equal--) {
        read_files("copies", &l);
        reorder(&l, METADATA_FIRST);
        pack_write(folder, "copies.tar.xz", l.file, l.n, PACK_TAR_XZ);
        free_files(&l);
        lra_pathfinder_set set;
        read_level("copies.tar.xz", EASY, &set);
        assert_int_equal(set.n_copies, 2);
        assert_int_equal(set.equal, equal);
        assert_int_equal(set.n, 3 * ROWS);
        assert_non_null(strstr(set.folder, "copies.tar.xz/a/pathfinder32/curv_baseline"));
        lra_pathfinder_sets_free(1, &set);
        task_write("copies/b/pathfinder32/curv_baseline/imgs/0/sample_1.png", "x", 1);
    }
    /* A folder of images without metadata is not a copy of the set. */
    task_write("copies/0/pathfinder32/curv_baseline/imgs/0/sample_1.png", "x", 1);
    lra_pathfinder_set set;
    read_level("copies", EASY, &set);
    assert_int_equal(set.n_copies, 2);
    assert_int_equal(set.n, 3 * ROWS);
    lra_pathfinder_sets_free(1, &set);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Reads n bytes as an archive; returns true if they are accepted. */
static bool accepts(const char *bytes, size_t n)
{
    lra_err e = {{0}};
    task_write("cut/part", bytes, n);
    lra_dataset *d = import(&lra_task_pathfinder_easy, "cut/part", "", &e);
    if (!d && !strstr(e.msg, "cut/part")) fail_msg("'%s' does not name the archive", e.msg);
    lra_dataset_free(d);
    return d != NULL;
}

TEST(damaged_archives_are_refused)
{
    static const pack kinds[] = {PACK_TAR_GZ, PACK_TAR_XZ};
    file_list l = {.n = 0};
    write_level("cut/pathfinder32", EASY);
    read_files("cut", &l);
    for (int k = 0; k < 2; k++) {
        lra_text whole = {0};
        pack_files(kinds[k], l.file, l.n, &whole);
        assert_true(accepts(whole.s, whole.n));
        for (size_t n = whole.n / 16; n + 64 < whole.n; n += whole.n / 16)
            assert_false(accepts(whole.s, n));
        /* A damaged archive is rejected, or read with one image missing. */
        for (size_t at = 600; at < whole.n; at += whole.n / 24) {
            whole.s[at] ^= 0x55;
            accepts(whole.s, whole.n);
            whole.s[at] ^= 0x55;
        }
        lra_text_free(&whole);
    }
    free_files(&l);
}

TEST(what_is_missing_is_named)
{
    file_list l = {.n = 0};
    write_level("some/pathfinder32", EASY);
    read_files("some", &l);
    pack_write(folder, "some.tar", l.file, l.n, PACK_TAR);
    task_refuses(&lra_task_pathfinder, "some.tar", "",
                 "no 'curv_contour_length_14/metadata' of pathfinder32 in '");
    task_refuses(&lra_task_pathfinder, "some.tar", "sets=three",
                 "'curv_contour_length_9/metadata'");
    task_refuses(&lra_task_path_x, "some.tar", "", "or lra_release.gz");
    /* Images without metadata, and metadata without images. */
    packed_file *image = &l.file[0], *metadata = &l.file[l.n - 1];
    assert_non_null(strstr(metadata->name, "metadata/2.npy"));
    pack_write(folder, "images.tar", image, 1, PACK_TAR);
    task_refuses(&lra_task_pathfinder_easy, "images.tar", "", "no 'curv_baseline/metadata'");
    pack_write(folder, "metadata.tar", metadata, 1, PACK_TAR);
    task_refuses(&lra_task_pathfinder_easy, "metadata.tar", "", "none of 8 images can be read: '");
    free_files(&l);
}

/* ---- real archives --------------------------------------------------------------------------- */

static void check_real(const char *name, int window, int level, int64_t n, int64_t ones, int gaps)
{
    lra_err e = {{0}};
    lra_pathfinder_set set;
    char *path = real_file(name);
    if (!path) skip();
    OK(lra_pathfinder_read(path, window, 1, &level, &set, &e));
    assert_int_equal(set.n, n);
    assert_int_equal(set.n_listed, n);
    assert_int_equal(set.n_gaps, gaps);
    int64_t found = 0;
    for (int64_t i = 0; i < set.n; i++) found += set.label[i];
    assert_int_equal(found, ones);
    lra_pathfinder_sets_free(1, &set);
    lra_free(path);
}

TEST(real_archives)
{
    lra_err e;
    lra_pathfinder_set set;
    static const int intermediate = INTERMEDIATE;
    check_real("pathfinder/pathfinder32.tar.xz", 32, EASY, 1000, 518, 0);
    check_real("pathfinder/pathfinder32.tar.xz", 32, HARD, 3000, 490 + 512 + 525, 1);
    check_real("pathfinder/pathfinder128.tar.xz", 128, HARD, 24, 11, 0);
    check_real("pathfinder", 32, EASY, 1000, 518, 0);
    check_real("pathfinder", 128, HARD, 24, 11, 0);
    char *path = real_file("pathfinder/pathfinder32.tar.xz");
    assert_int_equal(lra_pathfinder_read(path, 32, 1, &intermediate, &set, &e), LRA_ABSENT);
    assert_int_equal(lra_pathfinder_read(path, 64, 1, &intermediate, &set, &e), LRA_ABSENT);
    lra_free(path);
}

/* An archive with metadata in the format of the generator, a NumPy array of strings. */
TEST(numpy_metadata_in_an_archive)
{
    lra_err e;
    file_list l = {.n = 0};
    char *sample = real_file("pathfinder/sample");
    if (!sample) skip();
    lra_walk w = {.visit = add_file, .of = &l, .levels = 8};
    OK(lra_walk_path(&w, sample, &e));
    packed_file *text = NULL, *numpy = NULL;
    for (int i = 0; i < l.n; i++) {
        if (strstr(l.file[i].name, "numpy_metadata_0.npy")) numpy = &l.file[i];
        if (strstr(l.file[i].name, "metadata/0.npy")) text = &l.file[i];
    }
    assert_non_null(text);
    assert_non_null(numpy);
    pack_write(folder, "text.tar", l.file, l.n, PACK_TAR);
    const char *name = text->name;
    text->name = numpy->name, numpy->name = name;
    pack_write(folder, "numpy.tar", l.file, l.n, PACK_TAR);
    lra_dataset *d = open_rows("text.tar", "");
    assert_int_equal(d->split[0].n + d->split[1].n + d->split[2].n, 20);
    same_rows("numpy.tar", "", d);
    lra_dataset_free(d);
    free_files(&l);
    lra_free(sample);
}

GROUP(make_folder, remove_folder);
