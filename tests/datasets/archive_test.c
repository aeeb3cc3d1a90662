/* Reading files from folders, archives and compressed files: the same files are found however they
 * are packed, damaged files are named and counted, and nothing is unpacked beyond the size
 * limit. */
#include "tests/fixtures/test.h"

#include "datasets/formats/archive.h"
#include "datasets/formats/walk.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/make_archive.h"

/* Appends "name=bytes;" for every file that is visited. */
typedef struct {
    lra_text seen;
    const char *suffix;
} record;

static int take(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    (void)e;
    record *r = of;
    assert_int_equal(bytes[n], 0);
    lra_text_add(&r->seen, "%s=%.*s;", name, n > 40 ? 40 : (int)n, bytes);
    return 0;
}

static bool with_suffix(void *of, const char *name)
{
    const record *r = of;
    size_t n = strlen(name), k = strlen(r->suffix);
    return n >= k && strcmp(name + n - k, r->suffix) == 0;
}

static bool any_archive(void *of, const char *name)
{
    (void)of, (void)name;
    return true;
}

static const packed_file files[] = {{"top/b.txt", "second", 0},
                                    {"top/a.txt", "first", 0},
                                    {"top/empty.txt", "", 0},
                                    {"./other.dat", "third", 0}};
enum { N_FILES = sizeof files / sizeof *files };

TEST(packings_do_not_matter)
{
    for (int k = PACK_TAR; k <= PACK_ZIP; k++)
        for (int sorted = 0; sorted < 2; sorted++) {
            lra_err e = {{0}};
            record r = {{0}, NULL};
            lra_text packed = {0};
            pack_files((pack)k, files, N_FILES, &packed);
            lra_walk w = {.visit = take, .of = &r, .sorted = sorted};
            OK(lra_walk_bytes(&w, packed.s, packed.n, "x", &e));
            assert_string_equal(r.seen.s,
                                sorted ? "other.dat=third;top/a.txt=first;top/b.txt=second;"
                                       : "top/b.txt=second;top/a.txt=first;other.dat=third;");
            assert_int_equal(w.n_files, 3);
            assert_int_equal(w.n_empty, 1);
            assert_int_equal(w.n_damaged, 0);
            lra_text_free(&r.seen);
            lra_text_free(&packed);
        }
}

TEST(only_what_is_wanted)
{
    lra_err e = {{0}};
    record r = {{0}, "a.txt"};
    lra_text packed = {0};
    pack_files(PACK_TAR_XZ, files, N_FILES, &packed);
    lra_walk w = {.visit = take, .wanted = with_suffix, .of = &r};
    assert_int_equal(lra_walk_bytes(&w, packed.s, packed.n, "x", &e), 0);
    assert_string_equal(r.seen.s, "top/a.txt=first;");
    assert_int_equal(w.n_empty, 0);
    lra_text_free(&r.seen);
    lra_text_free(&packed);
}

static void write_packed(const char *path, pack kind)
{
    lra_err e = {{0}};
    lra_text packed = {0};
    pack_files(kind, files, N_FILES, &packed);
    assert_int_equal(lra_file_write(path, packed.s, packed.n, &e), 0);
    lra_text_free(&packed);
}

TEST(compressed_and_plain_files)
{
    static const struct {
        const char *name;
        int pack; /* how the file is packed; -1: not packed */
        const char *seen;
    } cases[] = {{"data.csv.gz", PACK_GZ, "data.csv=second;"},
                 {"data.xz", PACK_XZ, "data=second;"},
                 {"plain.csv", -1, "plain.csv=as it is;"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lra_err e = {{0}};
        record r = {{0}, NULL};
        char *path = lra_format("%s/%s", folder, cases[i].name);
        if (cases[i].pack >= 0)
            write_packed(path, (pack)cases[i].pack);
        else
            assert_int_equal(lra_file_write(path, "as it is", 8, &e), 0);
        lra_walk w = {.visit = take, .of = &r};
        OK(lra_walk_path(&w, path, &e));
        assert_string_equal(r.seen.s ? r.seen.s : "nothing", cases[i].seen);
        lra_text_free(&r.seen);
        remove(path);
        lra_free(path);
    }
}

/* Files in the same folder and in folders below, one of them an archive, one nested too deeply. */
TEST(folders)
{
    lra_err e = {{0}};
    char *top = lra_format("%s/tree", folder), *deep = lra_format("%s/one/two", top);
    char *paths[] = {lra_format("%s/z.txt", top), lra_format("%s/one/y.txt", top),
                     lra_format("%s/x.txt", deep), lra_format("%s/k.tar.gz", top)};
    assert_int_equal(lra_folder_make(deep, &e), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(lra_file_write(paths[i], "t", 1, &e), 0);
    write_packed(paths[3], PACK_TAR_GZ);
    static const char *const expected[2] = {
        "one/y.txt=t;z.txt=t;",
        "k.tar.gz/top/b.txt=second;k.tar.gz/top/a.txt=first;one/y.txt=t;z.txt=t;"};
    lra_digest hash[2] = {{0}};
    for (int inside = 0; inside < 2; inside++) {
        record r = {{0}, ".txt"};
        lra_walk w = {.visit = take,
                      .wanted = with_suffix,
                      .inside = inside ? any_archive : NULL,
                      .of = &r,
                      .levels = 1};
        OK(lra_walk_path(&w, top, &e));
        assert_string_equal(r.seen.s, expected[inside]);
        assert_int_equal(lra_walk_hash(&w, top, &hash[inside], &e), 0);
        lra_digest again = {0};
        assert_int_equal(lra_file_write(paths[0], "u", 1, &e), 0);
        assert_int_equal(lra_walk_hash(&w, top, &again, &e), 0);
        assert_true(again.hash != hash[inside].hash);
        assert_int_equal(lra_file_write(paths[0], "t", 1, &e), 0);
        assert_int_equal(lra_walk_hash(&w, top, &again, &e), 0);
        assert_true(again.hash == hash[inside].hash);
        lra_text_free(&r.seen);
    }
    assert_true(hash[0].hash != hash[1].hash);
    for (int i = 0; i < 4; i++) lra_free(paths[i]);
    lra_free(top);
    lra_free(deep);
}

static bool not_two(void *of, const char *name)
{
    (void)of;
    return strcmp(name, "one/two") != 0;
}

/* Empty files are visited only on request, and the hash does not depend on folders that are not
 * entered. */
TEST(empty_files_and_folders_left_out)
{
    lra_err e = {{0}};
    lra_text packed = {0};
    record r = {{0}, "y.txt"};
    pack_files(PACK_ZIP, files, N_FILES, &packed);
    lra_walk w = {.visit = take, .of = &r, .empty = true};
    OK(lra_walk_bytes(&w, packed.s, packed.n, "x", &e));
    assert_string_equal(r.seen.s,
                        "top/b.txt=second;top/a.txt=first;top/empty.txt=;other.dat=third;");
    assert_int_equal(w.n_empty, 0);
    r.seen.n = 0;
    char *top = lra_format("%s/half", folder), *deep = lra_format("%s/one/two", top);
    char *path[] = {lra_format("%s/one/y.txt", top), lra_format("%s/xy.txt", deep)};
    assert_int_equal(lra_folder_make(deep, &e), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(lra_file_write(path[i], "", 0, &e), 0);
    w.wanted = with_suffix, w.levels = 2;
    assert_int_equal(lra_walk_path(&w, top, &e), 0);
    assert_string_equal(r.seen.s, "one/two/xy.txt=;one/y.txt=;");
    r.seen.n = 0;
    w.enter = not_two;
    assert_int_equal(lra_walk_path(&w, top, &e), 0);
    assert_string_equal(r.seen.s, "one/y.txt=;");
    lra_digest before = {0}, after = {0};
    assert_int_equal(lra_walk_hash(&w, top, &before, &e), 0);
    assert_int_equal(lra_file_write(path[1], "t", 1, &e), 0);
    assert_int_equal(lra_walk_hash(&w, top, &after, &e), 0);
    assert_true(before.hash == after.hash);
    lra_text_free(&r.seen);
    lra_text_free(&packed);
    for (int i = 0; i < 2; i++) lra_free(path[i]);
    lra_free(top);
    lra_free(deep);
}

TEST(cut_archives_are_refused)
{
    static const pack kinds[] = {PACK_TAR_GZ, PACK_TAR_XZ, PACK_GZ, PACK_XZ};
    for (int k = 0; k < 4; k++) {
        lra_text packed = {0};
        pack_files(kinds[k], files, N_FILES, &packed);
        for (size_t cut = 0; cut < packed.n; cut++) {
            lra_err e = {{0}};
            record r = {{0}, NULL};
            lra_walk w = {.visit = take, .of = &r};
            if (lra_walk_bytes(&w, packed.s, cut, "x.tar", &e) == 0)
                fail_msg("%s cut to %zu of %zu bytes is accepted", pack_suffix[kinds[k]], cut,
                         packed.n);
            assert_non_null(strstr(e.msg, "'x.tar'"));
            lra_text_free(&r.seen);
        }
        lra_text_free(&packed);
    }
}

/* The CRC and the length are the last 8 bytes of gzip. Cases: data after the end of a tar archive
 * within gzip; a second gzip member. */
TEST(gzip_trailers_are_checked)
{
    static const pack kinds[] = {PACK_TAR_GZ, PACK_GZ};
    for (int k = 0; k < 2; k++) {
        lra_text packed = {0};
        pack_files(kinds[k], files, N_FILES, &packed);
        for (size_t back = 1; back <= 8; back++) {
            lra_err e = {{0}};
            record r = {{0}, NULL};
            lra_walk w = {.visit = take, .of = &r};
            packed.s[packed.n - back] ^= 4;
            if (lra_walk_bytes(&w, packed.s, packed.n, "x.gz", &e) == 0)
                fail_msg("%s: byte %zu from the end", pack_suffix[kinds[k]], back);
            assert_non_null(
                strstr(e.msg, back <= 4 ? "incorrect length check" : "incorrect data check"));
            packed.s[packed.n - back] ^= 4;
            lra_text_free(&r.seen);
        }
        lra_text_free(&packed);
    }
}

TEST(members_of_gzip_follow_each_other)
{
    lra_text packed = {0};
    static const char *const behind[] = {"\0\0\0", "rubbish"};
    pack_files(PACK_GZ, files, 1, &packed);
    pack_files(PACK_GZ, files, 1, &packed);
    for (int i = 0; i < 3; i++) {
        lra_err e = {{0}};
        record r = {{0}, NULL};
        lra_walk w = {.visit = take, .of = &r};
        size_t n = packed.n;
        if (i) lra_text_bytes(&packed, behind[i - 1], i == 1 ? 3 : 7);
        int rc = lra_walk_bytes(&w, packed.s, packed.n, "x.gz", &e);
        packed.n = n;
        assert_int_equal(rc, i < 2 ? 0 : -1);
        if (i < 2)
            assert_string_equal(r.seen.s, "x=secondsecond;");
        else
            assert_non_null(strstr(e.msg, "incorrect header check"));
        lra_text_free(&r.seen);
    }
    lra_text_free(&packed);
}

/* A byte of the first member is changed: its checksum is wrong, and the other members are read. */
TEST(damaged_members_are_counted)
{
    lra_err e = {{0}};
    record r = {{0}, NULL};
    lra_text packed = {0};
    pack_files(PACK_ZIP, files, N_FILES, &packed);
    for (size_t i = 0; i + 6 <= packed.n; i++)
        if (memcmp(packed.s + i, "second", 6) == 0) packed.s[i] ^= 1;
    lra_walk w = {.visit = take, .of = &r};
    OK(lra_walk_bytes(&w, packed.s, packed.n, "x", &e));
    assert_int_equal(w.n_damaged, 1);
    assert_string_equal(w.damaged, "top/b.txt");
    assert_string_equal(r.seen.s, "top/a.txt=first;other.dat=third;");
    lra_text_free(&r.seen);
    lra_text_free(&packed);
}

TEST(bombs_are_refused)
{
    enum { SIZE = 1 << 20 };
    char *zeros = lra_alloc(SIZE);
    packed_file bomb[] = {{"a", zeros, SIZE}, {"b", zeros, SIZE}, {"c", zeros, SIZE}};
    static const struct {
        uint64_t max_file, max_total;
        const char *message;
    } cases[] = {{SIZE - 1, 0, "'a' in 'x' is larger than 1048575 bytes"},
                 {0, SIZE, "'x' unpacks to more than 1048576 bytes"},
                 {SIZE, 4 * SIZE, NULL}};
    lra_text packed = {0};
    pack_files(PACK_TAR_GZ, bomb, 3, &packed);
    assert_true(packed.n < SIZE / 100);
    for (int i = 0; i < 3; i++) {
        lra_err e = {{0}};
        record r = {{0}, NULL};
        lra_walk w = {.visit = take,
                      .of = &r,
                      .max_file = cases[i].max_file,
                      .max_total = cases[i].max_total};
        int rc = lra_walk_bytes(&w, packed.s, packed.n, "x", &e);
        assert_int_equal(rc, cases[i].message ? -1 : 0);
        if (cases[i].message) assert_string_equal(e.msg, cases[i].message);
        lra_text_free(&r.seen);
    }
    lra_text_free(&packed);
    lra_free(zeros);
}

static int stop(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    (void)bytes, (void)n;
    ++*(int *)of;
    return lra_fail(e, "enough at '%s'", name);
}

static int take_piece(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    (void)e;
    record *r = of;
    if (r->seen.n == 0 || r->seen.s[r->seen.n - 1] == ';') lra_text_add(&r->seen, "%s=", name);
    if (n > 0)
        lra_text_bytes(&r->seen, bytes, n);
    else
        lra_text_add(&r->seen, ";");
    return 0;
}

/* Files that are larger than the memory limit are read in pieces; the content is the same. */
TEST(pieces_make_the_whole)
{
    enum { SIZE = 3 << 20 };
    lra_err e = {{0}};
    lra_text packed = {0}, expected = {0};
    char *large = lra_alloc(SIZE + 1), *path = lra_format("%s/large", folder);
    for (int i = 0; i < SIZE; i++) large[i] = (char)('a' + i % 23);
    packed_file of[] = {{"first", large, SIZE}, {"empty", "", 0}, {"second", "2", 0}};
    lra_text_add(&expected, "first=%s;second=2;", large);
    for (int k = PACK_TAR; k <= PACK_ZIP; k++) {
        record r = {{0}, NULL};
        packed.n = 0;
        pack_files((pack)k, of, 3, &packed);
        lra_walk w = {.piece = take_piece, .of = &r};
        OK(lra_walk_bytes(&w, packed.s, packed.n, "x", &e));
        assert_string_equal(r.seen.s, expected.s);
        assert_int_equal(w.n_files, 2);
        assert_int_equal(w.n_empty, 1);
        lra_text_free(&r.seen);
    }
    assert_int_equal(lra_file_write(path, large, SIZE, &e), 0);
    record r = {{0}, NULL};
    lra_walk w = {.piece = take_piece, .of = &r};
    assert_int_equal(lra_walk_path(&w, path, &e), 0);
    lra_text_add(&r.seen, "second=2;");
    memcpy(expected.s, "large", 5);
    assert_string_equal(r.seen.s, expected.s);
    lra_text_free(&r.seen);
    lra_text_free(&packed);
    lra_text_free(&expected);
    lra_free(large);
    lra_free(path);
}

TEST(visitors_end_a_walk)
{
    for (int sorted = 0; sorted < 2; sorted++) {
        lra_err e = {{0}};
        int n = 0;
        lra_text packed = {0};
        pack_files(PACK_TAR_XZ, files, N_FILES, &packed);
        lra_walk w = {.visit = stop, .of = &n, .sorted = sorted};
        assert_int_equal(lra_walk_bytes(&w, packed.s, packed.n, "x", &e), -1);
        assert_int_equal(n, 1);
        assert_string_equal(e.msg, sorted ? "enough at 'other.dat'" : "enough at 'top/b.txt'");
        lra_text_free(&packed);
    }
}

TEST(what_is_no_archive_is_refused)
{
    lra_err e = {{0}};
    record r = {{0}, NULL};
    lra_walk w = {.visit = take, .of = &r};
    assert_int_equal(lra_walk_bytes(&w, "plain text", 10, "x", &e), -1);
    assert_non_null(strstr(e.msg, "'x' is neither an archive (tar, zip) nor compressed"));
    assert_int_equal(lra_walk_path(&w, "no/such/file", &e), -1);
    assert_non_null(strstr(e.msg, "no/such/file"));
}

GROUP(make_folder, remove_folder);
