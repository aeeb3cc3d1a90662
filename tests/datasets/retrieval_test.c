/* The task Retrieval: pairs from the released files and from citations; defects; the sample of real
 * papers. */
#include "tests/fixtures/test.h"

#include "datasets/formats/bytes.h"
#include "datasets/formats/citations.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/task_data.h"

#define TRAIN                                                                                      \
    "1.0\tA00-1000\tA00-1001\tfirst\tsecond paper\n0.0\tA00-1002\tA00-1001\tthird\tsecond paper\n"
static const packed_file files[] = {
    {"r/r/tsv_data/new_aan_pairs.train.tsv", TRAIN, 0},
    {"r/r/tsv_data/new_aan_pairs.eval.tsv", "0.0\ta\tb\t\"quoted\t\n", 0},
    {"r/r/tsv_data/new_aan_pairs.test.tsv", "1.0\ta\tb\tx\xC3\xA9\tzz", 0},
    {"r/r/listops-1000/basic_train.tsv", "1\t2\t3\n", 0}};

static lra_dataset *import(const char *name, const char *changes, lra_err *e)
{
    return task_import(&lra_task_retrieval, name, changes, e);
}

static void check_document(const uint16_t *token, int64_t n, const char *text)
{
    assert_int_equal(n, strlen(text) + 1);
    for (int64_t i = 0; i < n - 1; i++)
        assert_int_equal(token[i], (unsigned char)text[i] + LRA_BYTES_FIRST);
    assert_int_equal(token[n - 1], LRA_BYTES_EOS);
}

static void check_pair(const lra_sequences *r, int64_t i, int label, const char *a, const char *b)
{
    lra_row row = lra_sequences_row(r, i);
    assert_int_equal(row.label, label);
    check_document(row.token, row.middle, a);
    check_document(row.token + row.middle, row.n - row.middle, b);
}

/* The released files, packed and in folders, one split compressed. */
TEST(released_files)
{
    pack_write(folder, "gz/lra_release.gz", files, 4, PACK_TAR_GZ);
    for (int i = 0; i < 3; i++)
        if (i != 1) {
            char *name = lra_format("dir/%s", files[i].name);
            task_write_text(name, files[i].bytes);
            lra_free(name);
        }
    pack_write(folder, "dir/r/r/tsv_data/new_aan_pairs.eval.tsv.xz", &files[1], 1, PACK_XZ);
    static const char *const places[] = {"gz", "gz/lra_release.gz", "dir"};
    for (int k = 0; k < 3; k++) {
        lra_err e = {{0}};
        lra_dataset *d = import(places[k], "length=16", &e);
        NOT_NULL(d);
        assert_int_equal(d->split[0].n, 2);
        check_pair(&d->split[0], 0, 1, "first", "second paper");
        check_pair(&d->split[0], 1, 0, "third", "second paper");
        check_pair(&d->split[1], 0, 0, "\"quoted", "");
        check_pair(&d->split[2], 0, 1, "x\xC3\xA9", "zz");
        assert_int_equal(d->max_length, 13);
        lra_dataset_free(d);
    }
    lra_err e = {{0}};
    lra_dataset *d = import("gz", "length=16 vocab=chars rows=1", &e);
    NOT_NULL(d);
    /* Counts of the characters in both papers of the pair: e 3, p 2, r 2, s 2; blank, a, c, d, f,
     * i, n, o, t 1 each. */
    assert_string_equal(d->words,
                        "<pad>\n<unk>\n<eos>\n<mask>\ne\np\nr\ns\n \na\nc\nd\nf\ni\nn\no\nt\n");
    assert_int_equal(d->vocab, 17);
    lra_row row = lra_sequences_row(&d->split[2], 0);
    assert_int_equal(row.middle, 3); /* x and e with an accent are both unknown */
    assert_int_equal(row.token[0], LRA_BYTES_UNK);
    assert_int_equal(row.token[1], LRA_BYTES_UNK);
    lra_dataset_free(d);
}

TEST(defects)
{
    lra_err e = {{0}};
    task_write_text("bad/new_aan_pairs.train.tsv", TRAIN "only two\tcolumns\n1.0\ta\tb\tc\td\te\n"
                                                         "maybe\ta\tb\tc\td\n\n" TRAIN);
    task_write_text("bad/new_aan_pairs.eval.tsv", TRAIN);
    task_write_text("bad/new_aan_pairs.test.tsv", "1.0\ta\tb\tc\td\r\n");
    lra_config *c = task_config(&lra_task_retrieval, "length=16");
    char *path = lra_format("%s/bad", folder);
    lra_facts f = {0};
    OK(lra_task_retrieval.files.inspect(c, path, &f, &e));
    static const double train[6] = {4, 2, 2, 1, 0, 0};
    for (int i = 0; i < 6; i++)
        if (f.value[i] != train[i])
            fail_msg("%s is %g, expected %g", f.name[i], f.value[i], train[i]);
    lra_dataset *d = import("bad", "length=16", &e);
    check_pair(&d->split[2], 0, 1, "c", "d");
    lra_dataset_free(d);
    /* An unpacked file and the .xz archive next to it count as one: the unpacked one is read. */
    packed_file kept = {"new_aan_pairs.test.tsv", "0.0\ta\tb\tx\ty\n", 0};
    pack_write(folder, "bad/new_aan_pairs.test.tsv.xz", &kept, 1, PACK_XZ);
    d = import("bad", "length=16", &e);
    NOT_NULL(d);
    check_pair(&d->split[2], 0, 1, "c", "d");
    lra_dataset_free(d);
    task_write_text("bad/x/new_aan_pairs.test.tsv", "1.0\ta\tb\tc\td\n");
    task_refuses(&lra_task_retrieval, "bad", "length=16", "two files of the test pairs");
    task_write_text("ids/new_aan_pairs.train.only_ids.tsv", "1.0\tA00-1000\tA00-1001\n");
    task_refuses(&lra_task_retrieval, "ids", "", "has 3 columns (ids without texts)");
    task_write_text("wrong/new_aan_pairs.train.tsv", "7.0\ta\tb\tc\td\n1.0\ta\n2.0\ta\tb\tc\td\n");
    task_refuses(&lra_task_retrieval, "wrong", "",
                 "pairs.train.tsv': 1 lines without 5 columns, 2 without a label 0.0 or 1.0");
    task_write_text("none/readme", "");
    task_refuses(&lra_task_retrieval, "none", "", "no pairs in a file 'new_aan_pairs.train.tsv'");
    task_refuses(&lra_task_retrieval, "none", "", "https://");
    lra_free(path);
    lra_config_free(c);
}

/* ---- citations ------------------------------------------------------------------------------- */

enum { N_CITED = 12, PER_CITED = 4 };

/* Writes a citation network: 12 papers B01-00xx, each cited by four papers A01-xxyy that cite no
 * other. */
static void write_network(const char *name)
{
    lra_text list = {0};
    for (int k = 0; k < N_CITED; k++) {
        char file[96], text[64];
        snprintf(file, sizeof file, "%s/texts/B01-%04d.txt", name, k);
        snprintf(text, sizeof text, "cited\n\n %d", k);
        task_write_text(file, text);
        for (int i = 0; i < PER_CITED; i++) {
            lra_text_add(&list, "A01-%02d%02d , B01-%04d\n", k, i, k);
            snprintf(file, sizeof file, "%s/texts/A01-%02d%02d.xml", name, k, i);
            snprintf(text, sizeof text, "<p a='b'>citing</p>%d\t%d", k, i);
            task_write_text(file, text);
        }
    }
    lra_text_add(&list, "A01-0000 , B01-0000\nA01-0000 , A01-0000\nX99-0000 , B01-0001\nstrange\n");
    char *path = lra_format("%s/acl.txt", name);
    task_write_text(path, list.s);
    lra_free(path);
    lra_text_free(&list);
}

/* Returns the number in the text: "citing 3 1" -> 3; "cited 3" -> 3. */
static int number_of(const uint16_t *token, int64_t n)
{
    int v = 0;
    for (int64_t i = 0; i < n; i++) {
        int byte = token[i] - LRA_BYTES_FIRST;
        if (byte == ' ' && i > 6) break;
        if (byte >= '0' && byte <= '9') v = 10 * v + byte - '0';
    }
    return v;
}

TEST(pairs_of_citations)
{
    lra_err e = {{0}};
    write_network("net");
    lra_dataset *d = import("net", "length=64 pairs=citations", &e);
    NOT_NULL(d);
    int part_of[N_CITED], total = 0;
    for (int k = 0; k < N_CITED; k++) part_of[k] = -1;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        int label[2] = {0};
        for (int64_t i = 0; i < d->split[s].n; i++) {
            lra_row row = lra_sequences_row(&d->split[s], i);
            int citing = number_of(row.token, row.middle);
            int cited = number_of(row.token + row.middle, row.n - row.middle);
            assert_int_equal(citing == cited, row.label);
            if (part_of[cited] < 0) part_of[cited] = s;
            assert_int_equal(part_of[cited], s);
            label[row.label]++;
        }
        assert_true(label[1] > 0);
        assert_int_equal(label[0],
                         /* splits with a single cited paper have no negative pairs */
                         s == LRA_TRAIN_SPLIT ? label[1] : 0);
        total += label[1];
    }
    assert_int_equal(total, N_CITED * PER_CITED);
    assert_int_equal(d->split[LRA_TRAIN_SPLIT].n, 2 * 10 * PER_CITED);
    lra_dataset_free(d);
    task_write_text("list/acl.txt", "A00-1000 , A00-1001\n");
    task_refuses(&lra_task_retrieval, "list", "pairs=citations", "no texts in");
    task_write_text("texts/A00-1000.txt", "a text");
    task_refuses(&lra_task_retrieval, "texts", "pairs=citations",
                 "no citations in a file 'acl.txt'");
    task_write_text("list/A00-1000.txt", "a");
    task_refuses(&lra_task_retrieval, "list", "pairs=citations",
                 "0 citations between the 1 papers with texts, of 1");
}

TEST(wrong_parameters)
{
    static const char *const cases[] = {"length=15", "rows=-1", "vocab=words", "pairs=none"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        task_refuses_change(&lra_task_retrieval, NULL, cases[i], "expected");
}

TEST(real_papers)
{
    char *path = real_file("aan");
    if (!path) skip();
    static const int rows[2][LRA_N_SPLITS] = {{756, 117, 104}, {1788, 228, 210}};
    static const int positive[2][LRA_N_SPLITS] = {{381, 62, 53}, {894, 114, 105}};
    static const char *const configs[] = {"length=4000", "length=4000 pairs=citations"};
    for (int k = 0; k < 2; k++) {
        lra_err e = {{0}};
        lra_dataset d = {.task = &lra_task_retrieval};
        lra_config *c = task_config(&lra_task_retrieval, configs[k]);
        OK(lra_task_retrieval.files.import(c, path, &d, &e));
        for (int s = 0; s < LRA_N_SPLITS; s++) {
            int64_t n = 0;
            assert_int_equal(d.split[s].n, rows[k][s]);
            for (int64_t i = 0; i < d.split[s].n; i++) n += d.split[s].label[i];
            assert_int_equal(n, positive[k][s]);
            lra_sequences_free(&d.split[s]);
        }
        lra_config_free(c);
    }
    lra_free(path);
}

GROUP(make_folder, remove_folder);
