/* text8, enwik8 and WikiText-103 as streams: ids, splits, vocabularies, missing files; the real
 * WikiText-2. */
#include "tests/fixtures/test.h"

#include "datasets/language.h"
#include "datasets/loader/batch.h"
#include "datasets/loader/words.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/task_data.h"

static void check_ids(const lra_sequences *r, int64_t n, const int *expected)
{
    assert_int_equal(r->n, 1);
    assert_int_equal(r->start[1], n);
    for (int64_t i = 0; i < n; i++) assert_int_equal(r->token[i], expected[i]);
}

TEST(letters)
{
    lra_err e = {{0}};
    char text[61] = {0};
    for (int i = 0; i < 60; i++) text[i] = (char)(i % 27 ? 'a' + i % 27 - 1 : ' ');
    packed_file zip = {"text8", text, 0};
    pack_write(folder, "t8/text8.zip", &zip, 1, PACK_ZIP);
    for (int k = 0; k < 2; k++) {
        lra_dataset *d = task_import(&lra_task_text8, k ? "t8/text8.zip" : "t8", "context=4", &e);
        NOT_NULL(d);
        int ids[60];
        for (int i = 0; i < 60; i++) ids[i] = i % 27;
        check_ids(&d->split[0], 54, ids);
        check_ids(&d->split[1], 3, ids + 54);
        check_ids(&d->split[2], 3, ids + 57);
        assert_int_equal(d->max_length, 4);
        lra_dataset_free(d);
    }
    lra_dataset *d = task_import(&lra_task_text8, "t8", "context=4 tokens=10", &e);
    assert_int_equal(d->split[0].start[1], 10);
    assert_int_equal(d->split[1].start[1], 3);
    lra_dataset_free(d);
    task_write_text("upper/text8",
                    "Not small: 5 letters, 16 marks, and a few words more to divide");
    assert_null(task_import(&lra_task_text8, "upper", "context=2", &e));
    assert_string_equal(strstr(e.msg, "byte"), "byte 1 is 78, expected a to z or a blank (--set "
                                               "clean=1 cleans any text)");
    d = task_import(&lra_task_text8, "upper", "context=2 clean=1", &e);
    NOT_NULL(d);
    lra_dataset_free(d);
}

TEST(cleaning)
{
    static const char *const cases[][2] = {
        {"A dog.", "a dog "},  {"  1998, x", "one nine nine eight x"},
        {"a1b", "a one b"},    {"\xC3\xA9t\xC3\xA9", "t "},
        {"77", "seven seven"}, {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[128] = {0};
        to[lra_text8_clean(cases[i][0], strlen(cases[i][0]), to)] = 0;
        assert_string_equal(to, cases[i][1]);
    }
}

TEST(bytes_of_anything)
{
    lra_err e = {{0}};
    char text[40];
    int ids[40];
    for (int i = 0; i < 40; i++) text[i] = (char)(ids[i] = (i * 37 + 5) % 256);
    packed_file any = {"notes", text, 40};
    pack_write(folder, "e8/notes.xz", &any, 1, PACK_XZ);
    lra_dataset *d = task_import(&lra_task_enwik8, "e8/notes.xz", "context=2", &e);
    NOT_NULL(d);
    check_ids(&d->split[0], 36, ids);
    check_ids(&d->split[1], 2, ids + 36);
    check_ids(&d->split[2], 2, ids + 38);
    /* The target of every position is the next token, also at the end of a window. */
    lra_buckets b = lra_buckets_find(d);
    lra_loader_spec spec = {.data = d, .split = LRA_TRAIN_SPLIT, .buckets = &b, .batch = 1};
    lra_loader *l = lra_loader_new(&spec);
    const lra_batch *batch = lra_loader_get(l, 1);
    assert_int_equal(batch->token[0], ids[2]);
    assert_int_equal(batch->label[0], ids[3]);
    assert_int_equal(batch->label[1], ids[4]);
    lra_loader_free(l);
    lra_dataset_free(d);
    task_refuses(&lra_task_enwik8, "e8", "context=2", "no file 'enwik8' in");
    task_refuses(&lra_task_enwik8, "e8", "context=2", "http://mattmahoney.net/dc/enwik8.zip");
    task_write_text("two/enwik8", "abc");
    task_write_text("two/x/enwik8", "abc");
    assert_null(task_import(&lra_task_enwik8, "two", "context=2", &e));
    task_write_text("short/enwik8", "abc");
    task_refuses(&lra_task_enwik8, "short", "context=2", "expected at least 2");
}

/* Counts in the training text: b 3, a 2 and c 2 (a comes first), <unk> 1; d and z occur only in
 * other splits. */
#define TRAIN " \n b a <unk> b c \n c a b \n"
TEST(words)
{
    static const int train[] = {0, 1, 2, 4, 1, 3, 0, 3, 2, 1, 0}, valid[] = {2, 4, 0},
                     test[] = {4, 1, 0};
    lra_err e = {{0}};
    packed_file all[] = {{"wikitext-103/wiki.test.tokens", "z b", 0},
                         {"wikitext-103/wiki.train.tokens", TRAIN, 0},
                         {"wikitext-103/wiki.valid.tokens", " a d \n", 0}};
    pack_write(folder, "w/wikitext-103-v1.zip", all, 3, PACK_ZIP);
    task_write_text("plain/train.txt", TRAIN);
    task_write_text("plain/test.txt", "z b");
    pack_write(folder, "plain/valid.txt.xz", &all[2], 1, PACK_XZ);
    for (int k = 0; k < 2; k++) {
        lra_dataset *d = task_import(&lra_task_wikitext103, k ? "w" : "plain", "context=2", &e);
        NOT_NULL(d);
        assert_int_equal(d->vocab, 5);
        assert_string_equal(d->words, "<eos>\nb\na\nc\n<unk>\n");
        check_ids(&d->split[0], 11, train);
        check_ids(&d->split[1], 3, valid);
        check_ids(&d->split[2], 3, test);
        lra_dataset_free(d);
    }
    task_write_text("half/valid.txt", TRAIN);
    task_write_text("half/test.txt", "b\na a a a\nb\n");
    task_refuses(&lra_task_wikitext103, "half", "context=2", "no training text in");
    task_refuses(&lra_task_wikitext103, "half", "context=2", "--set training=valid");
    lra_dataset *d = task_import(&lra_task_wikitext103, "half", "context=2 training=valid", &e);
    NOT_NULL(d);
    static const int halves[] = {1, 0, 2, 2, 2, 2, 0, 1, 0};
    check_ids(&d->split[0], 11, train);
    check_ids(&d->split[1], 7, halves);
    check_ids(&d->split[2], 2, halves + 7);
    lra_dataset_free(d);
    /* The packed copy of the file is ignored. */
    packed_file kept = {"valid.txt", "a", 0};
    pack_write(folder, "half/valid.txt.xz", &kept, 1, PACK_XZ);
    d = task_import(&lra_task_wikitext103, "half", "context=2 training=valid", &e);
    NOT_NULL(d);
    check_ids(&d->split[0], 11, train);
    lra_dataset_free(d);
    task_write_text("half/x/wiki.valid.tokens", "a");
    task_refuses(&lra_task_wikitext103, "half", "context=2 training=valid",
                 "two files of the valid text");
}

/* There are more words than 16 bits represent: each position has two 16-bit halves. */
TEST(many_words)
{
    enum { WORDS = 70000 };
    lra_err e = {{0}};
    lra_text t = {0};
    for (int i = 0; i < WORDS; i++) lra_text_add(&t, "w%d ", i);
    lra_text_add(&t, "w69999\n");
    task_write_text("many/train.txt", t.s);
    task_write_text("many/valid.txt", "w65540 none\n");
    task_write_text("many/test.txt", "w0 w1\n");
    for (int k = 0; k < 2; k++) { /* first the data are prepared, then read again */
        lra_dataset *d = task_import(&lra_task_wikitext103, "many", "context=2", &e);
        NOT_NULL(d);
        assert_int_equal(d->vocab, WORDS + 2);
        const lra_sequences *r = &d->split[LRA_VAL_SPLIT];
        assert_int_equal(r->width, 2);
        assert_int_equal(r->start[1], 3);
        assert_int_equal(r->token[0] + (r->token[1] << 16),
                         65540 + 2); /* its id follows those of <eos> and w69999 */
        /* the word <unk> has the last id */
        assert_int_equal(r->token[2] + (r->token[3] << 16), WORDS + 1);
        lra_dataset_free(d);
    }
    lra_text_free(&t);
}

TEST(wrong_parameters)
{
    static const struct {
        const lra_task *task;
        const char *changes;
    } cases[] = {{&lra_task_text8, "context=1"},
                 {&lra_task_text8, "clean=2"},
                 {&lra_task_enwik8, "tokens=100"},
                 {&lra_task_enwik8, "context=70000"},
                 {&lra_task_wikitext103, "training=test"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        task_refuses_change(cases[i].task, NULL, cases[i].changes, "expected");
}

TEST(real_wikitext)
{
    char *path = real_file("wikitext2");
    if (!path) skip();
    static const double expected[] = {0, 0, 0, 3760, 213886, 217646, 2991, 175973, 178964};
    lra_err e = {{0}};
    lra_facts f = {0};
    lra_config *c = task_config(&lra_task_wikitext103, "training=valid");
    OK(lra_task_wikitext103.files.inspect(c, path, &f, &e));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (f.value[i] != expected[i])
            fail_msg("%s is %g, expected %g", f.name[i], f.value[i], expected[i]);
    lra_config_free(c);
    lra_free(path);
}

GROUP(make_folder, remove_folder);
