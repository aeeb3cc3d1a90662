/* The task Text: reviews from folders and archives, the fixed order and split, defects, and the
 * real reviews. */
#include "tests/fixtures/test.h"

#include "datasets/formats/bytes.h"
#include "datasets/formats/imdb.h"
#include "datasets/loader/dataset.h"
#include "datasets/loader/split.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/task_data.h"

/* Ten training and three test reviews; their ids are not in order, and are sorted as numbers, not
 * as text. */
static const packed_file files[] = {
    {"aclImdb/train/pos/10_9.txt", "p10", 0},
    {"aclImdb/train/pos/9_7.txt", "p9", 0},
    {"aclImdb/train/neg/2_1.txt", "n2", 0},
    {"aclImdb/train/neg/10_3.txt", "n10", 0},
    {"aclImdb/train/neg/1_4.txt", "n1", 0},
    {"aclImdb/train/pos/0_10.txt", "p0", 0},
    {"aclImdb/train/neg/0_2.txt", "n0", 0},
    {"aclImdb/train/pos/3_8.txt", "p3", 0},
    {"aclImdb/train/neg/33_2.txt", "n33", 0},
    {"aclImdb/train/pos/4_8.txt", "p4", 0},
    {"aclImdb/test/neg/5_1.txt", "\xC3\xA9", 0},
    {"aclImdb/test/pos/5_7.txt", "a review of many bytes, of which few are kept", 0},
    {"aclImdb/test/pos/1_7.txt", "t1", 0},
    {"aclImdb/train/unsup/7_0.txt", "none", 0},
    {"aclImdb/README", "readme", 0},
    {"aclImdb/train/neg/._2_1.txt", "hidden", 0}};
enum { N_FILES = sizeof files / sizeof *files };
static const char *const in_order[10] = {"n0", "n1", "n2", "n10", "n33",
                                         "p0", "p3", "p4", "p9",  "p10"};

static lra_config *config_of(const char *changes)
{
    return task_config(&lra_task_text, changes);
}

static lra_dataset *import(const char *name, const char *changes, lra_err *e)
{
    return task_import(&lra_task_text, name, changes, e);
}

static void check_row(const lra_sequences *r, int64_t i, const char *text, int label)
{
    lra_row row = lra_sequences_row(r, i);
    size_t n = strlen(text);
    assert_int_equal(row.n, n + 1);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(row.token[k], (unsigned char)text[k] + LRA_BYTES_FIRST);
    assert_int_equal(row.token[n], LRA_BYTES_EOS);
    assert_int_equal(row.label, label);
}

/* By PyTorch, the permutation of 10 with seed 42 is 2 6 1 8 4 5 0 9 3 7. */
TEST(order_and_split)
{
    static const int torch[10] = {2, 6, 1, 8, 4, 5, 0, 9, 3, 7};
    static const char *const names[] = {"zip/imdb.zip", "gz/aclImdb_v1.tar.gz"};
    char print[17] = "";
    for (int k = 0; k < 2; k++) {
        lra_err e = {{0}};
        pack_write(folder, names[k], files, N_FILES, k ? PACK_TAR_GZ : PACK_ZIP);
        for (int whole = 0; whole < 2; whole++) { /* the archive, and the folder that contains it */
            char *from = lra_copy_text(names[k]);
            if (whole) *strchr(from, '/') = 0;
            lra_dataset *d = import(from, "length=16 val-split=0.2", &e);
            NOT_NULL(d);
            const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT], *val = train + 1;
            assert_int_equal(train->n, 8);
            assert_int_equal(val->n, 2);
            for (int i = 0; i < 10; i++)
                check_row(i < 8 ? train : val, i < 8 ? i : i - 8, in_order[torch[i]],
                          torch[i] >= 5);
            const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
            assert_int_equal(test->n, 3);
            check_row(test, 0, "\xC3\xA9", 0);
            check_row(test, 1, "t1", 1);
            check_row(test, 2, "a review of man", 1);
            assert_int_equal(d->max_length, 16);
            if (print[0]) assert_string_equal(print, d->fingerprint);
            memcpy(print, d->fingerprint, sizeof print);
            lra_dataset_free(d);
            lra_free(from);
        }
    }
}

TEST(validation_is_the_test_as_published)
{
    lra_err e = {{0}};
    pack_write(folder, "pub/imdb.tar", files, N_FILES, PACK_TAR);
    lra_dataset *d = import("pub", "val=test length=64", &e);
    NOT_NULL(d);
    assert_int_equal(d->split[0].n, 10);
    assert_int_equal(d->split[1].n, 3);
    assert_int_equal(d->split[2].n, 3);
    assert_memory_equal(d->split[1].token, d->split[2].token,
                        (size_t)d->split[2].start[3] * sizeof(uint16_t));
    lra_dataset_free(d);
    d = import("pub", "rows=2", &e);
    for (int s = 0; s < LRA_N_SPLITS; s++) assert_int_equal(d->split[s].n, s == 1 ? 1 : 2);
    check_row(&d->split[2], 0, "\xC3\xA9", 0); /* evenly spaced rows, so that both classes occur */
    check_row(&d->split[2], 1, "t1", 1);
    lra_dataset_free(d);
}

/* Two equal copies are read as one. Two versions of a review, a class without reviews, and other
 * folders are rejected with a reason. */
TEST(copies_and_gaps)
{
    lra_err e = {{0}};
    static const packed_file other[] = {{"aclImdb/train/neg/0_2.txt", "changed", 0}};
    pack_write(folder, "two/imdb_a.tar.gz", files, N_FILES, PACK_TAR_GZ);
    pack_write(folder, "two/x/imdb_b.zip", files, N_FILES, PACK_ZIP);
    lra_dataset *d = import("two", "", &e);
    NOT_NULL(d);
    assert_int_equal(d->split[0].n + d->split[1].n, 10);
    lra_dataset_free(d);
    pack_write(folder, "two/imdb_c.tar", other, 1, PACK_TAR);
    task_refuses(&lra_task_text, "two", "",
                 "'train/neg/0_2.txt' occurs twice with different texts");
    pack_write(folder, "gap/imdb.tar", files, 10, PACK_TAR);
    task_refuses(&lra_task_text, "gap", "", "no reviews test/neg/ID_RATING.txt in");
    task_refuses(&lra_task_text, "gap", "", "https://ai.stanford.edu/~amaas/data/sentiment/");
    lra_config *c = config_of("");
    char *out = lra_format("%s/out", folder);
    assert_null(lra_dataset_open(&lra_task_text, c, out, NULL, &e));
    assert_non_null(strstr(e.msg, "aclImdb_v1.tar.gz"));
    lra_free(out);
    lra_config_free(c);
}

TEST(names_of_files)
{
    static const struct {
        const char *name;
        int wanted, unnamed, strange;
    } cases[] = {
        {"train/neg/0_1.txt", 1, 0, 0},   {"a/b/test/pos/12_10.txt", 1, 0, 0},
        {"test/pos/12_1.txt", 1, 0, 1},   {"train/neg/12_0.txt", 1, 0, 1},
        {"train/neg/12.txt", 1, 1, 0},    {"train/neg/12_3_4.txt", 1, 1, 0},
        {"train/neg/x12_3.txt", 1, 1, 0}, {"train/neg/99999999999999999999_3.txt", 1, 1, 0},
        {"train/neg/-1_3.txt", 1, 1, 0},  {"train/unsup/1_0.txt", 0, 0, 0},
        {"xtrain/neg/1_1.txt", 0, 0, 0},  {"train/negative/1_1.txt", 0, 0, 0},
        {"train/neg/1_1.dat", 0, 0, 0},   {"train/neg/.1_1.txt", 0, 0, 0},
        {"neg/1_1.txt", 0, 0, 0},         {"1_1.txt", 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lra_err e = {{0}};
        lra_reviews r = {0};
        assert_int_equal(lra_reviews_wanted(NULL, cases[i].name), cases[i].wanted);
        int rc = lra_reviews_add(&r, cases[i].name, "x", 1, &e);
        assert_int_equal(rc, cases[i].wanted ? 0 : -1);
        assert_int_equal(r.n_unnamed, cases[i].unnamed);
        assert_int_equal(lra_reviews_sort(&r, &e), 0);
        assert_int_equal(r.n, cases[i].wanted && !cases[i].unnamed);
        assert_int_equal(r.n_strange, cases[i].strange);
        lra_reviews_free(&r);
    }
}

TEST(wrong_parameters)
{
    static const char *const cases[] = {"length=15",     "length=70000",  "rows=-1",
                                        "val-split=0.0", "val-split=1.0", "val=none",
                                        "vocab=words"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        task_refuses_change(&lra_task_text, NULL, cases[i], "expected");
}

static double fact(const lra_facts *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->name[i], name) == 0) return f->value[i];
    fail_msg("no '%s'", name);
    return 0;
}

/* The vocabulary consists of the characters that occur 15 times in the training reviews after they
 * are cut; reviews for validation are included. */
TEST(characters)
{
    lra_err e = {{0}};
    packed_file of[13];
    for (int i = 0; i < 13; i++) of[i] = files[i];
    of[0].bytes = "bbbbbbbbbbbbbbbbbbbb\xC3\xA9\xC3\xA9"; /* the character b 20 times */
    /* 16 times e with an accent, in all reviews */
    of[2].bytes = "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                  "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9";
    /* 20 times a; the characters after them are cut */
    of[3].bytes = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    of[4].bytes = "cccccccccccccc"; /* the character c 14 times, one time too few */
    pack_write(folder, "chars/imdb.tar", of, 13, PACK_TAR);
    lra_dataset *d = import("chars", "length=21 vocab=chars15", &e);
    NOT_NULL(d);
    assert_int_equal(d->vocab, LRA_BYTES_FIRST + 2);
    assert_string_equal(d->words, "<pad>\n<unk>\n<eos>\n<mask>\na\nb\n");
    lra_dataset_free(d);
    d = import("chars", "length=23 vocab=chars15", &e);
    assert_string_equal(d->words, "<pad>\n<unk>\n<eos>\n<mask>\na\nb\n\xC3\xA9\n");
    lra_row row = lra_sequences_row(&d->split[LRA_TEST_SPLIT], 0);
    assert_int_equal(row.n, 2);
    assert_int_equal(row.token[0], LRA_BYTES_FIRST + 2);
    /* the review contains no character of the vocabulary */
    row = lra_sequences_row(&d->split[LRA_TEST_SPLIT], 1);
    assert_int_equal(row.n, 3);
    assert_int_equal(row.token[0], LRA_BYTES_UNK);
    lra_dataset_free(d);
}

/* q occurs 20 times in ten training reviews, and 10 times in the half that remains for training:
 * reviews used for validation are not counted. */
TEST(characters_of_training_alone)
{
    lra_err e = {{0}};
    packed_file of[13];
    for (int i = 0; i < 13; i++) {
        of[i] = files[i];
        of[i].bytes = "qq";
    }
    pack_write(folder, "apart/imdb.tar", of, 13, PACK_TAR);
    lra_dataset *d = import("apart", "length=21 vocab=chars15 val=test", &e);
    NOT_NULL(d);
    assert_string_equal(d->words, "<pad>\n<unk>\n<eos>\n<mask>\nq\n");
    lra_dataset_free(d);
    d = import("apart", "length=21 vocab=chars15 val-split=0.5", &e);
    NOT_NULL(d);
    assert_string_equal(d->words, "<pad>\n<unk>\n<eos>\n<mask>\n");
    lra_dataset_free(d);
}

/* Opens the data as the task does, and returns the number of files of prepared reviews in OUT. */
static int prepared_after(const lra_task *t, const char *settings, const char *out, char words[256])
{
    lra_err e = {{0}};
    char *from = lra_format("%s/apart", folder), *data = lra_format("%s/data", out), **names;
    lra_config *c = config_of(settings);
    lra_dataset *d = lra_dataset_open(t, c, out, from, &e);
    NOT_NULL(d);
    snprintf(words, 256, "%s", d->words ? d->words : "");
    int n = lra_folder_list(data, &names, &e);
    lra_names_free(names, n);
    lra_dataset_free(d);
    lra_config_free(c);
    lra_free(from);
    lra_free(data);
    return n;
}

/* Data prepared by an earlier version, which counted other reviews for the vocabulary, are not
 * used; byte inputs do not depend on the version. */
TEST(an_old_vocabulary_is_not_used_again)
{
    static const char chars[] = "length=21 vocab=chars15 val-split=0.5", bytes[] = "length=21";
    lra_task old = lra_task_text;
    char *out = lra_format("%s/revisions", folder), words[256];
    old.files.revision = NULL;
    assert_int_equal(prepared_after(&old, chars, out, words), 1);
    assert_int_equal(prepared_after(&lra_task_text, chars, out, words), 2);
    assert_string_equal(words, "<pad>\n<unk>\n<eos>\n<mask>\n");
    assert_int_equal(prepared_after(&lra_task_text, chars, out, words), 2);
    assert_int_equal(prepared_after(&old, bytes, out, words), 3);
    assert_int_equal(prepared_after(&lra_task_text, bytes, out, words), 3);
    lra_free(out);
}

/* The published training reviews, and four fifths of the test reviews. */
TEST(real_reviews)
{
    char *path = real_file("imdb");
    if (!path) skip();
    static const int rated[11] = {0, 5100, 2284, 2420, 2696, 0, 0, 2496, 3009, 2263, 4732};
    lra_err e = {{0}};
    lra_facts f = {0};
    lra_config *c = config_of("length=1024");
    OK(lra_task_text.files.inspect(c, path, &f, &e));
    assert_int_equal(fact(&f, "train neg"), 12500);
    assert_int_equal(fact(&f, "train pos"), 12500);
    assert_int_equal(fact(&f, "test neg"), 10000);
    assert_int_equal(fact(&f, "test pos"), 10000);
    assert_int_equal(fact(&f, "train, bytes, minimum"), 52);
    assert_int_equal(fact(&f, "train, bytes, maximum"), 13704);
    assert_int_equal(fact(&f, "train, repeated texts"), 96);
    assert_int_equal(fact(&f, "files, damaged"), 0);
    for (int k = 1; k < 11; k++) {
        char name[32];
        snprintf(name, sizeof name, "train, rating %d", k);
        if (rated[k]) assert_int_equal(fact(&f, name), rated[k]);
    }
    lra_dataset d = {.task = &lra_task_text};
    OK(lra_task_text.files.import(c, path, &d, &e));
    static const int rows[LRA_N_SPLITS] = {22500, 2500, 20000};
    int64_t positive = 0;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        assert_int_equal(d.split[s].n, rows[s]);
        for (int64_t i = 0; i < rows[s] && s < 2; i++) positive += d.split[s].label[i];
    }
    assert_int_equal(positive, 12500);
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&d.split[s]);
    lra_config_free(c);
    /* Sizes of the vocabulary of S4, which has no <mask>. */
    static const struct {
        const char *config;
        int size;
    } cut[] = {{"vocab=chars15 length=2048 rows=5 val=test", 129},
               {"vocab=chars15 length=4096 rows=5 val=test", 134},
               {"vocab=chars15 length=16384 rows=5 val=test", 136}};
    for (int i = 0; i < 3; i++) {
        lra_dataset t = {.task = &lra_task_text};
        c = config_of(cut[i].config);
        OK(lra_task_text.files.import(c, path, &t, &e));
        assert_int_equal(t.vocab, cut[i].size + 1);
        for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&t.split[s]);
        lra_free(t.words);
        lra_config_free(c);
    }
    lra_free(path);
}

GROUP(make_folder, remove_folder);
