/* Series in .ts files, WAV clips, and names and lists of clips, from arbitrary bytes. Accepted
 * series have the announced number of values, all of them finite; names are sorted and distinct,
 * and every clip is in exactly one split. */
#include <math.h>

#include "datasets/formats/speech_clips.h"
#include "datasets/formats/ts.h"
#include "datasets/formats/wav.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fixtures/make_wav.h"

enum { MAX_SAMPLES = 64 };

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const texts[] = {
        "@timeStamps false\n@data\n1,2.5:-3,4e-1:5\n?,1:2,3:4\n",
        "# x\n@targetlabel true\r\n@data\r\n1:2:3:4\r\n1,1\r\n",
        ("yes/a.wav\nno/b.wav\r\nup/c.wav\nbed/d.wav\nbed/e.wav\nbed/f.wav\ngo/i.wav\ngo/j.wav\ngo/k.wav\n"
         "x/no_word.wav\ncat/l.wav")};
    static const int16_t sample[8] = {1, -1, 300, -300, 32767, -32768, 0, 7};
    if (i < 3) lra_text_bytes(to, texts[i], strlen(texts[i]));
    if (i == 3) make_wav(to, LRA_SPEECH_RATE, 1, sample, 8);
    return i < 4;
}

static void read_series(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_ts t = {0};
    if (lra_ts_parse(data, n, "x", &t, &e) != 0) lra_fuzz_check_message(&e);
    if (t.n_missing + t.n_damaged) lra_fuzz_check_message(&t.first);
    for (int64_t i = 0; i < t.n * t.length * t.dimensions; i++)
        if (!isfinite(t.value[i])) LRA_BUG("a value that is not finite");
    for (int64_t i = 0; i < t.n; i++)
        if (!isfinite(t.target[i])) LRA_BUG("a target that is not finite");
    lra_ts_free(&t);
}

static void read_clip(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    int16_t sample[2][MAX_SAMPLES] = {{0}};
    int64_t found[2], total;
    for (int k = 0; k < 2; k++)
        if (lra_wav_read(data, n, "x", LRA_SPEECH_RATE, sample[k], MAX_SAMPLES, &found[k], &total,
                         &e) != 0) {
            lra_fuzz_check_message(&e);
            return;
        } else if (found[k] < 1 || found[k] > MAX_SAMPLES || total < found[k]) {
            LRA_BUG("%lld samples of %lld", (long long)found[k], (long long)total);
        }
    if (found[0] != found[1] || memcmp(sample[0], sample[1], sizeof sample[0]) != 0)
        LRA_BUG("the second reading differs");
}

/* Reads the bytes as a list file with one clip name per line, and then parses each of these
 * names. */
static void read_names(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_clips c = {0};
    lra_clips_list(&c, LRA_TEST_SPLIT, (const char *)data, n);
    for (int64_t i = 0; i < c.list[LRA_TEST_SPLIT].n; i++)
        lra_clips_name(&c, c.list[LRA_TEST_SPLIT].name[i]);
    int rc = lra_clips_divide(&c, (int64_t)(n % 3), &e);
    if (rc != 0) lra_fuzz_check_message(&e);
    int64_t rows[LRA_N_SPLITS] = {0};
    for (int64_t i = 0; i < c.n && rc == 0; i++) {
        const lra_clip *clip = &c.clip[i];
        if (i && strcmp(clip[-1].name, clip->name) >= 0) LRA_BUG("names out of order");
        if (clip->row >= 0 && clip->row != rows[clip->split]++) LRA_BUG("a row is missing");
    }
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++)
        if (rows[s] != c.size[s]) LRA_BUG("%lld rows", (long long)rows[s]);
    lra_clips_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    read_series(data, n);
    read_clip(data, n);
    read_names(data, n);
    return 0;
}
