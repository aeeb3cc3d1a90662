/* Own data: kinds of inputs and labels, splits, limits, properties that are stored, equal data in
 * other formats. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "datasets/formats/bytes.h"
#include "datasets/own/own.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_npz.h"
#include "tests/fixtures/task_data.h"

static lra_dataset *import(const char *name, const char *text, const char *changes)
{
    lra_err e = {{0}};
    task_write_text(name, text);
    lra_dataset *d = task_import(&lra_task_file, name, changes, &e);
    if (!d) fail_msg("%s", e.msg);
    return d;
}

static void refuses(const char *name, const char *text, const char *changes, const char *message)
{
    task_write_text(name, text);
    task_refuses(&lra_task_file, name, changes, message);
}

static int64_t total(const lra_dataset *d)
{
    return d->split[0].n + d->split[1].n + d->split[2].n;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Texts become bytes and <eos>; longer texts are cut at the limit, and an empty text is <eos>
 * alone. */
TEST(text)
{
    lra_dataset *d = import("kinds/text.csv",
                            "text,label,split\n\xC3\xA9,b,train\n,a,train\nabcdef,a,validation\n"
                            "x,b,test\n",
                            "length=4");
    lra_row row = lra_sequences_row(&d->split[LRA_TRAIN_SPLIT], 0);
    assert_int_equal(row.n, 3);
    assert_int_equal(row.token[0], LRA_BYTES_FIRST + 0xC3);
    assert_int_equal(row.token[2], LRA_BYTES_EOS);
    assert_int_equal(row.label, 1);
    row = lra_sequences_row(&d->split[LRA_TRAIN_SPLIT], 1);
    assert_int_equal(row.n, 1);
    assert_int_equal(row.token[0], LRA_BYTES_EOS);
    row = lra_sequences_row(&d->split[LRA_VAL_SPLIT], 0);
    assert_int_equal(row.n, 4);
    assert_int_equal(row.token[2], LRA_BYTES_FIRST + 'c');
    assert_string_equal(d->task->name, "file:text");
    assert_string_equal(lra_task_id(d->task), "file");
    assert_string_equal(d->task->text.label_names[0], "a");
    assert_int_equal(d->task->n_classes, 2);
    assert_int_equal(d->longest, 4);
    assert_int_equal(d->task->data.steps, 0);
    assert_string_equal(lra_config_text(d->config, "split"), "split");
    lra_own own;
    lra_err e;
    OK(lra_own_parse(d->properties, &own, &e));
    assert_int_equal(own.n_truncated, 1);
    assert_int_equal(own.n_empty, 1);
    lra_own_free(&own);
    lra_dataset_free(d);
}

/* Sequences of ids, which may have any length from one on; the size of the vocabulary follows from
 * the data or is given. */
TEST(tokens)
{
    static const char lines[] = "{\"ids\": [70000], \"y\": 0, \"split\": \"train\"}\n"
                                "{\"ids\": [3, 1, 4], \"y\": 1, \"split\": \"val\"}\n"
                                "{\"ids\": [1, 5], \"y\": 1, \"split\": \"test\"}\n";
    lra_dataset *d = import("kinds/tokens.jsonl", lines, "");
    assert_int_equal(d->vocab, 70001);
    assert_int_equal(d->split[LRA_TRAIN_SPLIT].width, 2);
    assert_int_equal(lra_token_at(d->split[LRA_TRAIN_SPLIT].token, 2, 0), 70000);
    lra_dataset_free(d);
    d = import("kinds/tokens.jsonl", lines, "vocab=80000");
    assert_int_equal(d->vocab, 80000);
    lra_dataset_free(d);
    refuses("kinds/tokens.jsonl", lines, "vocab=100", "token 1 is 70000, expected 0 to 99");
    refuses("kinds/negative.jsonl", "{\"ids\": [-1], \"y\": 0}\n{\"ids\": [1], \"y\": 0}\n", "",
            "token 1 is -1");
    refuses("kinds/none.jsonl", "{\"ids\": [], \"y\": 0}\n{\"ids\": [1], \"y\": 0}\n", "",
            "example 1: no tokens in column 'ids'");
    refuses("kinds/text.csv", "text,label\na,0\n", "vocab=7", "--vocab applies to tokens");
}

/* Values of several channels, standardized with the mean and deviation of the training rows; the
 * label is a real number. */
TEST(values)
{
    lra_dataset *d = import("kinds/values.jsonl",
                            "{\"values\": [[1.0, 5.0], [3.0, 5.0]], \"y\": 0.5, \"split\": 0}\n"
                            "{\"values\": [[9.0, 1.0]], \"y\": 1.5, \"split\": 1}\n"
                            "{\"values\": [[9.0, 1.0]], \"y\": 2.0, \"split\": 2}\n",
                            "");
    assert_int_equal(d->task->goal, LRA_GOAL_VALUE);
    assert_int_equal(d->task->n_targets, 1);
    assert_int_equal(d->task->input.channels, 2);
    assert_true(d->split[LRA_TEST_SPLIT].target[0] == 2.0f);
    assert_true(fabsf(d->scale[0] - 1) < 1e-6f && fabsf(d->shift[0] + 2) < 1e-6f);
    assert_true(fabsf(d->scale[1] - 1) < 1e-6f && fabsf(d->shift[1] + 5) < 1e-6f);
    lra_dataset_free(d);
    refuses("kinds/infinite.jsonl", "{\"values\": [1.0, null], \"y\": 1}\n", "",
            "value 2 of column 'values' is not finite");
}

/* ---- labels ---------------------------------------------------------------------------------- */

TEST(labels)
{
    lra_dataset *d = import("labels/integers.csv",
                            "text,label,split\na,7,train\nb,-3,val\nc,7,test\n", "");
    assert_int_equal(d->task->n_classes, 2);
    assert_string_equal(d->task->text.label_names[0], "-3");
    assert_int_equal(d->split[LRA_TRAIN_SPLIT].label[0], 1);
    lra_dataset_free(d);
    d = import("labels/plain.csv", "text,label,split\na,1,train\nb,0,val\nc,1,test\n", "");
    assert_null(d->task->text.label_names);
    lra_dataset_free(d);
    d = import("labels/plain.csv", "text,label,split\na,1,train\nb,0,val\nc,1,test\n",
               "goal=value");
    assert_int_equal(d->task->goal, LRA_GOAL_VALUE);
    lra_dataset_free(d);
    d = import("labels/plain.csv", "text,label,split\na,1,train\nb,0,val\nc,1,test\n",
               "label=none");
    assert_int_equal(d->task->n_classes, 0);
    assert_null(d->task->baseline);
    lra_dataset_free(d);
    refuses("labels/real.csv", "text,label\na,1.5\nb,2\n", "goal=class", "--goal class needs");
    refuses("labels/words.csv", "text,label\na,x\nb,y\n", "goal=value",
            "--goal value needs numbers");
    refuses("labels/bare.csv", "text\na\nb\n", "goal=class", "--goal class needs labels");
    refuses("labels/both.csv", "text,label\na,x\nb,y\n", "label=text", "cannot be input and label");
}

/* ---- splits ---------------------------------------------------------------------------------- */

/* Equal inputs are always in the same split, and an input remains in its split if others are
 * added. */
TEST(made_splits)
{
    lra_text t = {0};
    lra_text_add(&t, "text,label\n");
    for (int i = 0; i < 400; i++) lra_text_add(&t, "word %d,%d\n", i % 250, i % 2);
    lra_dataset *a = import("splits/a.csv", t.s, "");
    assert_int_equal(total(a), 400);
    assert_true(a->split[LRA_TRAIN_SPLIT].n > 280 && a->split[LRA_TEST_SPLIT].n > 15);
    for (int i = 0; i < 100; i++) lra_text_add(&t, "other %d,%d\n", i, i % 2);
    lra_dataset *b = import("splits/b.csv", t.s, "");
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *x = &a->split[s], *y = &b->split[s];
        assert_true(y->n >= x->n);
        assert_memory_equal(x->token, y->token, (size_t)x->start[x->n] * sizeof *x->token);
        for (int64_t i = 0; i < x->n; i++)
            for (int64_t k = 0; s != LRA_TRAIN_SPLIT && k < a->split[LRA_TRAIN_SPLIT].n; k++) {
                lra_row one = lra_sequences_row(x, i);
                lra_row other = lra_sequences_row(&a->split[LRA_TRAIN_SPLIT], k);
                assert_false(one.n == other.n &&
                             memcmp(one.token, other.token, (size_t)one.n * 2) == 0);
            }
    }
    lra_dataset_free(a);
    lra_dataset_free(b);
    lra_text_free(&t);
    lra_dataset *few = import("splits/few.csv", "text,label\na,0\nb,1\nc,0\na,1\n", "");
    for (int s = 0; s < LRA_N_SPLITS; s++) assert_true(few->split[s].n > 0);
    lra_dataset_free(few);
    refuses("splits/two.csv", "text,label\na,0\nb,1\na,1\n", "",
            "the examples have 2 distinct inputs");
    refuses("splits/no_test.csv", "text,label,split\na,0,train\nb,1,val\n", "",
            "column 'split' of 'no_test.csv' has no test examples");
    refuses("splits/one.csv", "text,label,split\na,0,train\na,0,train\nb,1,test\n", "",
            "the training examples have 1 distinct input");
}

/* ---- stored properties ---------------------------------------------------------------------- */

/* Reading prepared data gives the imported data again; names of classes are stored with the
 * data. */
TEST(prepared_data_hold_all)
{
    static const char good[] = "text,label,split\na,one\\two,train\nb,\"x\ny\",val\nc,z,test\n";
    lra_err e = {{0}};
    lra_dataset *a = import("prepared/held.csv", good, ""),
                *b = import("prepared/held.csv", good, "");
    assert_string_equal(a->fingerprint, b->fingerprint);
    assert_string_equal(a->properties, b->properties);
    assert_int_equal(b->task->n_classes, 3);
    assert_string_equal(b->task->text.label_names[0], "one\\two");
    char *out = lra_format("%s/out", folder);
    lra_config *c = lra_keys_config(lra_task_file.keys);
    lra_dataset *found = lra_dataset_find(&lra_task_file, c, out, a->fingerprint);
    NOT_NULL(found);
    assert_string_equal(found->task->name, "file:held");
    lra_dataset *again = lra_dataset_find(found->task, c, out, a->fingerprint);
    NOT_NULL(again); /* a file imported before, opened by an instance of other data */
    lra_dataset_free(found);
    assert_string_equal(again->task->name, "file:held");
    lra_dataset_free(again);
    lra_config_free(c);
    lra_free(out);
    lra_dataset *other = import("prepared/b.csv",
                                "text,label,split\na,1,train\nb,2,val\nc,3,test\n", "");
    assert_string_not_equal(a->fingerprint, other->fingerprint);
    lra_dataset_free(a);
    lra_dataset_free(b);
    lra_dataset_free(other);
    (void)e;
}

TEST(properties_are_checked)
{
    static const char *const bad[] = {
        "input=text\ntarget=class\nvocab=260\nwidth=1\nclasses=2\nclass=a\n",
        "input=text\ntarget=class\nvocab=260\nwidth=1\nclasses=0\n",
        "input=text\ntarget=none\nvocab=7\nwidth=1\nclasses=0\n",
        "input=values\ntarget=none\nvocab=0\nwidth=65\nclasses=0\n",
        "input=values\ntarget=none\nvocab=0\nwidth=0\nclasses=0\n",
        "input=sound\ntarget=none\nvocab=0\nwidth=1\nclasses=0\n",
        "input=tokens\ntarget=class\nvocab=9\nwidth=1\nclasses=99999\n",
        "input=tokens\ntarget=class\nvocab=9\nwidth=1\nclasses=1\nclass=a\nclass=b\n",
        "input\n",
        ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lra_own own;
        lra_err e = {{0}};
        if (lra_own_parse(bad[i], &own, &e) == 0) fail_msg("accepted: %s", bad[i]);
        assert_non_null(strstr(e.msg, "properties of own data"));
    }
}

TEST(names)
{
    static const struct {
        const char *path, *name;
    } known[] = {{"reviews.csv", "file:reviews"},
                 {"/a/b/My Data.v2.jsonl", "file:my-data"},
                 {"/a/folder/", "file:folder"},
                 {"\xC3\xA9.csv", "file:data"},
                 {".", "file:data"},
                 {"A", "file:a"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lra_err e = {{0}};
        char *name = lra_own_name(known[i].path);
        assert_string_equal(name, known[i].name);
        assert_ptr_equal(lra_task_find(name, &e), &lra_task_file);
        lra_free(name);
    }
    lra_err e = {{0}};
    assert_null(lra_task_find("file:A", &e));
    assert_null(lra_task_find("file:", &e));
    assert_null(lra_task_find("listops:x", &e));
}

/* ---- formats --------------------------------------------------------------------------------- */

/* Imports two time steps of two values from npz; the arrays are padded to one length, and the array
 * `lengths` gives the true lengths. */
static lra_dataset *import_npz(const char *name)
{
    static const float value[3 * 2 * 2] = {1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10};
    static const int32_t label[3] = {0, 1, 1}, split[3] = {0, 1, 2}, length[3] = {2, 1, 2};
    npz_member m[] = {
        {.name = "values.npy", .bytes = make_npy("<f4", false, "3, 2, 2", value, sizeof value)},
        {.name = "label.npy", .bytes = make_npy("<i4", false, "3,", label, sizeof label)},
        {.name = "split.npy", .bytes = make_npy("<i4", false, "3,", split, sizeof split)},
        {.name = "lengths.npy", .bytes = make_npy("<i4", false, "3,", length, sizeof length)}};
    lra_text t = {0};
    lra_err e = {{0}};
    make_npz(m, 4, (npz_form){0}, &t);
    task_write(name, t.s, t.n);
    lra_text_free(&t);
    lra_dataset *d = task_import(&lra_task_file, name, "", &e);
    if (!d) fail_msg("%s", e.msg);
    return d;
}

TEST(equal_data_in_other_formats)
{
    static const char *const files[][2] = {
        {"same/a.csv", "tokens,label,split\n\"1 2\",0,train\n3,1,val\n\"4 0\",1,test\n"},
        {"same/b.tsv", "tokens\tlabel\tsplit\n1 2\t0\ttrain\n3\t1\tval\n4 0\t1\ttest\n"},
        {"same/c.jsonl", "{\"tokens\": [1, 2], \"label\": 0, \"split\": \"train\"}\n"
                         "{\"tokens\": [3], \"label\": 1, \"split\": \"dev\"}\n"
                         "{\"tokens\": [4, 0], \"label\": 1, \"split\": \"test\"}\n"}};
    char first[17] = "";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        lra_dataset *d = import(files[i][0], files[i][1], "tokens=tokens");
        if (i) assert_string_equal(d->fingerprint, first);
        memcpy(first, d->fingerprint, sizeof first);
        lra_dataset_free(d);
    }
}

TEST(equal_values_in_other_formats)
{
    lra_dataset *d = import(
        "same/d.jsonl",
        "{\"values\": [[1.0, 2], [3, 4]], \"label\": 0, \"split\": \"train\"}\n"
        "{\"values\": [[5.0, 6]], \"label\": 1, \"split\": \"val\"}\n"
        "{\"values\": [[7.0, 8], [9, 10]], \"label\": 1, \"split\": \"test\"}\n",
        "");
    lra_dataset *same = import_npz("same/d.npz");
    assert_string_equal(d->fingerprint, same->fingerprint);
    lra_dataset_free(d);
    lra_dataset_free(same);
}

GROUP(make_folder, remove_folder);
