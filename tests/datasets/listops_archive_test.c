/* ListOps from archives: the complete archive, which contains a copy of the files, archives of
 * single files, missing files. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/task_data.h"

static const char train[] =
    "Source\tTarget\r\n( ( ( [MAX 3 ) 4 ) ] )\t4\r\n( ( ( [MIN 3 ) 4 ) ] )\t3\r\n";
static const char val[] = "Source\tTarget\r\n( ( ( [SM 3 ) 4 ) ] )\t7\r\n";
static const char test[] = "Source\tTarget\r\n( ( ( [MED 3 ) 5 ) ] )\t4\r\n";

static void check(const char *name)
{
    lra_err e = {{0}};
    lra_dataset *d = task_import(&lra_task_listops, name, "", &e);
    if (!d) fail_msg("%s: %s", name, e.msg);
    assert_int_equal(d->split[0].n, 2);
    assert_int_equal(d->split[1].n, 1);
    assert_int_equal(d->split[2].n, 1);
    assert_int_equal(d->split[1].label[0], 7);
    lra_dataset_free(d);
}

TEST(packed_files_are_read)
{
    /* The published archive contains the folder twice; the files of the copy come first. */
    static const packed_file all[] = {
        {"lra_release/listops-1000/basic_train.tsv", train, 0},
        {"lra_release/listops-1000/basic_val.tsv", val, 0},
        {"lra_release/listops-1000/basic_test.tsv", test, 0},
        {"lra_release/lra_release/listops-1000/basic_train.tsv", train, 0},
        {"lra_release/lra_release/listops-1000/basic_val.tsv", val, 0},
        {"lra_release/lra_release/listops-1000/basic_test.tsv", test, 0}};
    pack_write(folder, "whole/lra_release.gz", all, 6, PACK_TAR_GZ);
    check("whole");
    check("whole/lra_release.gz");
    pack_write(folder, "each/basic_train.tsv.xz", all, 1, PACK_XZ);
    pack_write(folder, "each/basic_val.tsv.gz", all + 1, 1, PACK_GZ);
    pack_write(folder, "each/basic_test.tsv.xz", all + 2, 1, PACK_XZ);
    check("each");
}

TEST(what_is_missing_is_named)
{
    task_write_text("some/basic_train.tsv", train);
    task_write_text("some/basic_test.tsv", test);
    task_refuses(&lra_task_listops, "some", "", "no 'basic_val.tsv' in '");
    task_write_text("none/other.tsv", train);
    task_refuses(&lra_task_listops, "none", "", "no 'basic_train.tsv' in '");
    static const char wrong[] = "Source\tTarget\n( ( ( [MAX 3 ) 4 ) ] )\t5\n";
    const packed_file bad = {"listops/basic_train.tsv", wrong, 0};
    pack_write(folder, "bad/listops.zip", &bad, 1, PACK_ZIP);
    task_refuses(&lra_task_listops, "bad", "", "line 2");
}

TEST(the_real_sample_is_read_as_it_is)
{
    lra_err e = {{0}};
    char *path = real_file("listops");
    if (!path) skip();
    lra_dataset *d = task_open(&lra_task_listops, path, "", &e);
    lra_free(path);
    NOT_NULL(d);
    assert_int_equal(d->split[0].n, 8000);
    assert_int_equal(d->split[1].n, 1000);
    assert_int_equal(d->max_length, 1999 + 1);
    lra_dataset_free(d);
}

GROUP(make_folder, remove_folder);
