/* Speech Commands: clips and lists, both splits, inputs of models, defects, the real clips. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/formats/speech_clips.h"
#include "datasets/formats/speech_file.h"
#include "datasets/formats/wav.h"
#include "datasets/loader/batch.h"
#include "datasets/loader/split.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/make_wav.h"
#include "tests/fixtures/task_data.h"

enum { SAMPLES = LRA_SPEECH_SAMPLES, HALF = 1 << 15, CLIPS = 10 };

/* Clips in the order of their names; labels are in the published order of the words. */
static const struct {
    const char *name;
    int label;
} clips[CLIPS] = {{"bed/a_nohash_0.wav", 0},  {"bed/a_nohash_1.wav", 0},
                  {"cat/b_nohash_0.wav", 1},  {"dog/c_nohash_0.wav", 19},
                  {"no/a_nohash_0.wav", 9},   {"no/d_nohash_0.wav", 9},
                  {"no/e_nohash_0.wav", 9},   {"yes/a_nohash_0.wav", 16},
                  {"yes/f_nohash_0.wav", 16}, {"zero/g_nohash_0.wav", 34}};

static int16_t sample_of(int64_t clip, int64_t t)
{
    return (int16_t)((clip * 7919 + t * (clip + 3)) % 20011 - 10000);
}

static void add_clip(lra_text *to, int64_t clip, uint32_t n)
{
    int16_t *sample = lra_alloc_array(n, sizeof *sample);
    for (int64_t t = 0; t < n; t++) sample[t] = sample_of(clip, t);
    make_wav(to, LRA_SPEECH_RATE, 1, sample, n);
    lra_free(sample);
}

/* Writes a small copy of the published folder. */
static void write_set(const char *name)
{
    for (int i = 0; i < CLIPS; i++) {
        lra_text bytes = {0};
        add_clip(&bytes, i, i == 3 ? 9000 : SAMPLES);
        char *path = lra_format("%s/%s", name, clips[i].name);
        task_write(path, bytes.s, bytes.n);
        lra_free(path);
        lra_text_free(&bytes);
    }
}

static void write_file(const char *set, const char *name, const char *text)
{
    char *path = lra_format("%s/%s", set, name);
    task_write_text(path, text);
    lra_free(path);
}

static void check_clip(const lra_sequences *r, int64_t row, int64_t clip)
{
    lra_row found = lra_sequences_row(r, row);
    assert_int_equal(found.n, SAMPLES);
    assert_int_equal(found.label, clips[clip].label);
    for (int64_t t = 0; t < SAMPLES; t++)
        assert_int_equal(found.token[t], HALF + (clip == 3 && t >= 9000 ? 0 : sample_of(clip, t)));
}

/* The lists may end with or without a newline; clips that no list names are for training. */
TEST(published_split)
{
    static const int expected[LRA_N_SPLITS][7] = {{0, 2, 3, 5, 6, 8, 9}, {7}, {1, 4}};
    static const int size[LRA_N_SPLITS] = {7, 1, 2};
    lra_err e = {{0}};
    write_set("lists");
    write_file("lists", "validation_list.txt", "yes/a_nohash_0.wav\nyes/gone_nohash_0.wav");
    write_file("lists", "testing_list.txt", "no/a_nohash_0.wav\r\nbed/a_nohash_1.wav\r\n");
    write_file("lists", "_background_noise_/noise.wav", "no clip");
    write_file("lists", "README.md", "text");
    lra_dataset *d = task_import(&lra_task_speech_commands, "lists", "", &e);
    NOT_NULL(d);
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        assert_int_equal(d->split[s].n, size[s]);
        for (int i = 0; i < size[s]; i++) check_clip(&d->split[s], i, expected[s][i]);
    }
    lra_dataset_free(d);
    d = task_import(&lra_task_speech_commands, "lists", "rows=2", &e);
    assert_int_equal(d->split[0].n, 2);
    check_clip(&d->split[0], 0, expected[0][0]);
    /* rows=2 keeps evenly spaced clips, here the first and the last */
    check_clip(&d->split[0], 1, expected[0][3]);
    lra_dataset_free(d);
}

/* Without lists, or with lists that name no clip: 8, 1 and 1 clips in the order of names, by
 * PyTorch's permutation 2 6 1 8 4 5 0 9 3 7. */
TEST(split_without_lists)
{
    static const int train[8] = {0, 1, 2, 4, 5, 6, 8, 9};
    lra_err e = {{0}};
    for (int with = 0; with < 2; with++) {
        const char *name = with ? "foreign" : "bare";
        write_set(name);
        if (with) write_file(name, "testing_list.txt", "no/x.wav\n");
        lra_dataset *d = task_import(&lra_task_speech_commands, name, "", &e);
        NOT_NULL(d);
        assert_int_equal(d->split[0].n, 8);
        for (int i = 0; i < 8; i++) check_clip(&d->split[0], i, train[i]);
        check_clip(&d->split[1], 0, 3);
        check_clip(&d->split[2], 0, 7);
        lra_dataset_free(d);
    }
}

/* The archive, a folder that contains it, and a folder that contains it and some unpacked clips. */
TEST(packings_do_not_matter)
{
    lra_err e = {{0}};
    lra_text bytes[CLIPS] = {{0}}, packed = {0};
    packed_file files[CLIPS];
    char *names[CLIPS];
    for (int i = 0; i < CLIPS; i++) {
        add_clip(&bytes[i], i, i == 3 ? 9000 : SAMPLES);
        names[i] = lra_format("./%s", clips[CLIPS - 1 - i].name);
        files[i] = (packed_file){.name = names[i]};
    }
    for (int i = 0; i < CLIPS; i++)
        files[i].bytes = bytes[CLIPS - 1 - i].s, files[i].n = bytes[CLIPS - 1 - i].n;
    pack_files(PACK_TAR_GZ, files, CLIPS, &packed);
    task_write("packed/speech_commands_v0.02.tar.gz", packed.s, packed.n);
    task_write("mixed/speech_commands_v0.02.tar.gz", packed.s, packed.n);
    task_write("mixed/sample/no/d_nohash_0.wav", bytes[5].s, bytes[5].n);
    write_set("unpacked");
    static const char *const from[] = {"unpacked", "packed", "packed/speech_commands_v0.02.tar.gz",
                                       "mixed"};
    char print[17] = "";
    for (int i = 0; i < 4; i++) {
        lra_dataset *d = task_import(&lra_task_speech_commands, from[i], "", &e);
        NOT_NULL(d);
        if (i) assert_string_equal(print, d->fingerprint);
        memcpy(print, d->fingerprint, sizeof print);
        lra_dataset_free(d);
    }
    task_write("mixed/sample/no/d_nohash_0.wav", bytes[6].s, bytes[6].n);
    task_refuses(&lra_task_speech_commands, "mixed", "",
                 "'no/d_nohash_0.wav' occurs twice with different bytes");
    for (int i = 0; i < CLIPS; i++) {
        lra_text_free(&bytes[i]);
        lra_free(names[i]);
    }
    lra_text_free(&packed);
}

/* Each time step, or all of them together, has mean 0 and deviation 1 over the training clips,
 * apart from the 1e-5 that is added to the deviation. */
TEST(what_models_see)
{
    lra_err e = {{0}};
    write_set("see");
    for (int global = 0; global < 2; global++) {
        lra_dataset *d = task_import(&lra_task_speech_commands, "see",
                                     global ? "sc-norm=global" : "sc-norm=step", &e);
        const lra_sequences *train = &d->split[0];
        lra_buckets buckets = lra_buckets_find(d);
        lra_loader_spec spec = {
            .data = d, .split = LRA_TRAIN_SPLIT, .buckets = &buckets, .batch = 8};
        lra_loader *l = lra_loader_new(&spec);
        const lra_batch *b = lra_loader_get(l, 0);
        double all = 0, squares = 0;
        for (int64_t t = 0; t < SAMPLES; t++) {
            double sum = 0, square = 0, mean = 0, s = 0;
            for (int i = 0; i < 8; i++)
                mean += (train->token[i * SAMPLES + t] - HALF) / 32768.0 / 8;
            for (int i = 0; i < 8; i++) {
                double x = (train->token[b->row[i] * SAMPLES + t] - HALF) / 32768.0 - mean;
                s += x * x / 7;
            }
            for (int i = 0; i < 8; i++) {
                double v = (double)b->value[i * SAMPLES + t];
                double x = (train->token[b->row[i] * SAMPLES + t] - HALF) / 32768.0;
                sum += v, square += v * v;
                /* the rounding error of float32 increases if the divisor is small */
                double divisor = sqrt(s) + 1e-5;
                if (!global) assert_true(fabs(v - (x - mean) / divisor) < 1e-5 + 1e-6 / divisor);
            }
            all += sum, squares += square;
        }
        assert_true(fabs(all / (8 * SAMPLES)) < 1e-3);
        if (global) assert_true(fabs(squares / (8.0 * SAMPLES) - 1) < 1e-3);
        lra_loader_free(l);
        lra_dataset_free(d);
    }
}

TEST(kinds_of_clips)
{
    static const int16_t sample[6] = {1, -2, 3, -32768, 32767, 0};
    lra_err e = {{0}};
    int16_t out[4];
    int64_t n, total;
    lra_text good = {0}, other = {0};
    make_wav(&good, 16000, 1, sample, 6);
    assert_int_equal(lra_wav_read(good.s, good.n, "x", 16000, out, 4, &n, &total, &e), 0);
    assert_int_equal(n, 4);
    assert_int_equal(total, 6);
    assert_memory_equal(out, sample, sizeof out);
    /* A file that ends within its samples: the samples before its end are returned. */
    assert_int_equal(lra_wav_read(good.s, good.n - 8, "x", 16000, out, 4, &n, &total, &e), 0);
    assert_int_equal(n, 2);
    assert_int_equal(lra_wav_read(good.s, 44, "x", 16000, out, 4, &n, &total, &e), -1);
    assert_int_equal(lra_wav_read(good.s, 20, "x", 16000, out, 4, &n, &total, &e), -1);
    assert_non_null(strstr(e.msg, "cannot read 'x' as WAV"));
    assert_int_equal(lra_wav_read("", 0, "x", 16000, out, 4, &n, &total, &e), -1);
    make_wav(&other, 8000, 1, sample, 6);
    assert_int_equal(lra_wav_read(other.s, other.n, "x", 16000, out, 4, &n, &total, &e), -1);
    assert_non_null(strstr(e.msg, "1 channels of 16 bits, 8000 samples per second; expected 1 "));
    lra_text_free(&other);
    make_wav(&other, 16000, 2, sample, 6);
    assert_int_equal(lra_wav_read(other.s, other.n, "x", 16000, out, 4, &n, &total, &e), -1);
    lra_text_free(&other);
    lra_text_free(&good);
}

TEST(defects)
{
    lra_err e = {{0}};
    lra_text longer = {0};
    write_set("bad");
    write_file("bad", clips[0].name, "RIFFrubbish");
    write_file("bad", clips[1].name, "");
    add_clip(&longer, 2, SAMPLES + 5);
    char *path = lra_format("bad/%s", clips[2].name), *all = lra_format("%s/bad", folder);
    task_write(path, longer.s, longer.n);
    lra_clips c = {0};
    lra_sequences split[LRA_N_SPLITS] = {{0}};
    OK(lra_clips_read(&c, all, 0, split, &e));
    assert_int_equal(c.n_unread, 1);
    assert_non_null(strstr(c.first_unread.msg, "cannot read 'bed/a_nohash_0.wav' as WAV"));
    assert_int_equal(c.n_short, 1);
    assert_int_equal(c.n_long, 1);
    assert_int_equal(split[0].n, 6);
    static const int kept[6] = {2, 4, 5, 6, 8, 9};
    for (int i = 0; i < 6; i++) check_clip(&split[0], i, kept[i]);
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&split[s]);
    lra_clips_free(&c);
    lra_text_free(&longer);
    lra_free(path);
    lra_free(all);
    write_file("none", "yes.wav", "x");
    task_refuses(&lra_task_speech_commands, "none", "", "no clips WORD/FILE.wav in");
    task_refuses(&lra_task_speech_commands, "none", "", "speech_commands_v0.02.tar.gz");
    write_file("few", "yes/a.wav", "x");
    task_refuses(&lra_task_speech_commands, "few", "",
                 "1 clips WORD/FILE.wav, expected at least 10");
    task_refuses_change(&lra_task_speech_commands, NULL, "sc-norm=none", "expected step or global");
}

TEST(real_clips)
{
    char *path = real_file("speech_commands");
    if (!path) {
        print_message("no real Speech Commands: set LRA_SHARED_DATA\n");
        skip();
    }
    static const char *const words[10] = {"yes",   "no", "up",  "down", "left",
                                          "right", "on", "off", "stop", "go"};
    lra_err e = {{0}};
    lra_clips c = {0};
    lra_sequences split[LRA_N_SPLITS] = {{0}};
    OK(lra_clips_read(&c, path, 0, split, &e));
    assert_int_equal(c.n, 300);
    for (int k = 0; k < LRA_SPEECH_WORDS; k++) {
        bool there = false;
        for (int i = 0; i < 10; i++) there = there || strcmp(words[i], lra_speech_words[k]) == 0;
        assert_int_equal(c.n_words[k], there ? 30 : 0);
    }
    assert_int_equal(c.list[LRA_VAL_SPLIT].n, 9981);
    assert_int_equal(c.list[LRA_TEST_SPLIT].n, 11005);
    assert_int_equal(c.list[LRA_VAL_SPLIT].n_found + c.list[LRA_TEST_SPLIT].n_found, 0);
    assert_int_equal(c.n_unread + c.n_short + c.n_long + c.n_other, 0);
    assert_false(c.by_list);
    assert_int_equal(split[0].n, 240);
    assert_int_equal(split[1].n, 30);
    assert_int_equal(split[2].n, 30);
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&split[s]);
    lra_clips_free(&c);
    lra_free(path);
}

GROUP(make_folder, remove_folder);

int main(void)
{
    if (!lra_wav_readable()) {
        print_message("skipped: this build is without libsndfile\n");
        return 0;
    }
    return tests_run();
}
