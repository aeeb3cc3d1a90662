/* Prepared data: the cache returns the stored data, and every changed byte is detected. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "datasets/loader/batch.h"
#include "datasets/loader/dataset.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "tests/fixtures/folder.h"

static lra_config *tiny(void)
{
    lra_err e;
    lra_config *c = lra_task_config(&lra_task_listops, "quick", &e);
    lra_config_set(c, "train", "300");
    lra_config_set(c, "val", "20");
    lra_config_set(c, "test", "30");
    return c;
}

/* Rows of ListOps are expressions, rows of Pathfinder are drawings; all other tasks have no
 * grammar. */
TEST(grammars)
{
    for (int i = 0; lra_task_at(i); i++) {
        const lra_task *t = lra_task_at(i);
        lra_grammar expected = strcmp(t->name, "listops") == 0    ? LRA_GRAMMAR_EXPRESSION
                               : strncmp(t->name, "path", 4) == 0 ? LRA_GRAMMAR_DRAWING
                                                                  : LRA_GRAMMAR_NONE;
        assert_int_equal(t->data.grammar, expected);
    }
}

/* Returns the path of the only cache file in out/data; the caller frees it. */
static char *cache_of(const char *out)
{
    char **names = NULL, *data = lra_format("%s/data", out), *path = NULL;
    lra_err e;
    int n = lra_folder_list(data, &names, &e);
    for (int i = 0; i < n; i++)
        if (strstr(names[i], ".h5")) {
            assert_null(path);
            path = lra_format("%s/%s", data, names[i]);
        }
    lra_names_free(names, n);
    lra_free(data);
    assert_non_null(path);
    return path;
}

TEST(read_again_is_the_same)
{
    lra_err e = {{0}};
    lra_config *c = tiny();
    char *out = lra_format("%s/same", folder);
    lra_dataset *a = lra_dataset_open(&lra_task_listops, c, out, NULL, &e);
    lra_dataset *b = lra_dataset_open(&lra_task_listops, c, out, NULL, &e);
    assert_non_null(a);
    assert_non_null(b);
    assert_string_equal(a->fingerprint, b->fingerprint);
    assert_int_equal(a->max_length, b->max_length);
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        size_t bytes = (size_t)a->split[s].start[a->split[s].n] * sizeof(uint16_t);
        assert_int_equal(a->split[s].n, b->split[s].n);
        assert_memory_equal(a->split[s].token, b->split[s].token, bytes);
    }
    lra_free(cache_of(out));
    lra_config_set(c, "data-seed", "1");
    lra_dataset *other = lra_dataset_open(&lra_task_listops, c, out, NULL, &e);
    assert_string_not_equal(a->fingerprint, other->fingerprint);
    lra_dataset_free(a);
    lra_dataset_free(b);
    lra_dataset_free(other);
    lra_config_free(c);
    lra_free(out);
}

TEST(changed_caches_are_refused)
{
    lra_err e = {{0}};
    lra_config *c = tiny();
    char *out = lra_format("%s/bits", folder);
    lra_dataset *d = lra_dataset_open(&lra_task_listops, c, out, NULL, &e);
    assert_non_null(d);
    char print[17];
    memcpy(print, d->fingerprint, sizeof print);
    lra_dataset_free(d);
    char *path = cache_of(out);
    size_t n;
    char *bytes = lra_file_read(path, 1 << 26, &n, &e);
    int refused = 0;
    for (size_t at = 0; at < n; at += n / 97 + 1) {
        bytes[at] ^= 0x10;
        assert_int_equal(lra_file_write(path, bytes, n, &e), 0);
        bytes[at] ^= 0x10;
        e.msg[0] = 0;
        d = lra_dataset_open(&lra_task_listops, c, out, NULL, &e);
        if (d)
            assert_string_equal(d->fingerprint, print); /* this byte of the HDF5 file is unused */
        else
            assert_non_null(strstr(e.msg, "remove it; it is then made again"));
        refused += !d;
        lra_dataset_free(d);
    }
    assert_true(refused > 20);
    for (size_t cut = 0; cut < n; cut += n / 13 + 1) {
        assert_int_equal(lra_file_write(path, bytes, cut, &e), 0);
        assert_null(lra_dataset_open(&lra_task_listops, c, out, NULL, &e));
    }
    lra_free_large(bytes);
    lra_free(path);
    lra_free(out);
    lra_config_free(c);
}

/* A file made with other parameters is copied to the name of these parameters; it is rejected. */
TEST(copied_caches_are_refused)
{
    lra_err e = {{0}};
    lra_config *c = tiny();
    char *here = lra_format("%s/here", folder), *there = lra_format("%s/there", folder);
    lra_dataset_free(lra_dataset_open(&lra_task_listops, c, here, NULL, &e));
    lra_config_set(c, "data-seed", "1");
    lra_dataset_free(lra_dataset_open(&lra_task_listops, c, there, NULL, &e));
    char *from = cache_of(here), *to = cache_of(there);
    assert_int_equal(rename(from, to), 0);
    assert_null(lra_dataset_open(&lra_task_listops, c, there, NULL, &e));
    assert_non_null(strstr(e.msg, "other parameters than its name states"));
    lra_free(from);
    lra_free(to);
    lra_free(here);
    lra_free(there);
    lra_config_free(c);
}

TEST(imports_follow_their_files)
{
    lra_err e = {{0}};
    lra_config *c = tiny();
    char *out = lra_format("%s/import", folder), *raw = lra_format("%s/raw/listops-1000", folder);
    char *above = lra_format("%s/raw", folder);
    lra_sequences split[LRA_N_SPLITS] = {{0}};
    assert_int_equal(lra_folder_make(raw, &e), 0);
    assert_int_equal(lra_task_listops.data.make(c, split, &e), 0);
    assert_int_equal(lra_task_listops.files.write(raw, split, &e), 0);
    lra_dataset *made = lra_dataset_open(&lra_task_listops, c, out, NULL, &e);
    lra_dataset *read = lra_dataset_open(&lra_task_listops, c, out, above, &e);
    assert_non_null(read);
    assert_string_equal(read->fingerprint, made->fingerprint);
    lra_dataset_free(read);

    lra_sequences swapped[LRA_N_SPLITS] = {split[1], split[0], split[2]};
    assert_int_equal(lra_task_listops.files.write(raw, swapped, &e), 0);
    read = lra_dataset_open(&lra_task_listops, c, out, above, &e);
    assert_non_null(read);
    assert_int_equal(read->split[0].n, 20);
    lra_dataset_free(read);
    lra_dataset_free(made);
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&split[s]);
    lra_config_free(c);
    lra_free(out);
    lra_free(raw);
    lra_free(above);
}

TEST(names_are_suggested)
{
    lra_err e = {{0}};
    assert_ptr_equal(lra_task_find("listops", &e), &lra_task_listops);
    assert_null(lra_task_find("litsops", &e));
    assert_non_null(strstr(e.msg, "did you mean 'listops'?"));
}

/* The maximum length is given by the parameters alone, independent of the rows; no row is
 * longer. */
TEST(the_longest_row_is_declared)
{
    static const char *const presets[] = {"quick", "small", "paper"};
    for (int i = 0; lra_task_at(i); i++)
        for (int k = 0; k < 3; k++) {
            lra_err e = {{0}};
            lra_config *c = lra_task_config(lra_task_at(i), presets[k], &e);
            if (c && lra_task_longest(lra_task_at(i), c) < 1)
                fail_msg("'%s' declares no rows", lra_task_at(i)->name);
            lra_config_free(c);
        }
    const struct {
        const lra_task *task;
        int64_t longest, end;
    } known[] = {{&lra_task_listops, 32, 32}, {&lra_task_select, 112 + 2 * 8, 128}};
    for (int i = 0; i < 2; i++)
        for (int more = 0; more < 2; more++) {
            lra_err e = {{0}};
            lra_config *c = lra_task_config(known[i].task, "quick", &e);
            lra_config_set(c, "train", more ? "300" : "2");
            lra_config_set(c, "val", "2");
            lra_config_set(c, "test", "2");
            lra_dataset *d = lra_dataset_make(known[i].task, c, &e);
            NOT_NULL(d);
            lra_buckets b = lra_buckets_find(d);
            assert_int_equal(d->longest, known[i].longest);
            assert_int_equal(lra_buckets_end(d), known[i].end);
            assert_true(d->max_length <= d->longest && b.length[b.n - 1] <= known[i].end);
            lra_dataset_free(d);
            lra_config_free(c);
        }
}

GROUP(make_folder, remove_folder);
