/* Speech Commands: classifies which of 35 words is spoken in one second of sound. 16,000 samples,
 * each a token of one number.
 * The input of a model is (x - m) / (s + 1e-5), x = level / 2^15. sc-norm=step: m and s are mean
 * and unbiased standard deviation of each of the 16,000 positions over the training clips, as in
 * the public pipeline. sc-norm=global: m and s are those of all positions together.
 * Source: Warden 2018, arXiv:1804.03209; as a task of long sequences, Gu et al. 2022, which also
 * fixed the order of the classes. Splits are the published lists: 84,843 / 9,981 / 11,005.
 * Difference: the public pipeline divides decoded audio by 2^15 in addition to the decoder's own
 * division; here it is divided once.
 * Known: uniform chance is 2.86 %. */
#include "datasets/formats/speech_clips.h"

#include <math.h>
#include <string.h>

#include "datasets/formats/signal_show.h"
#include "datasets/formats/speech_file.h"
#include "datasets/loader/official.h"
#include "kernels/base/core/mem.h"

static int import(const lra_config *c, const char *folder, lra_dataset *d, lra_err *e)
{
    lra_clips clips = {0};
    int rc = lra_clips_read(&clips, folder, lra_config_int(c, "rows"), d->split, e);
    for (int64_t i = 0; i < clips.n && rc == 0; i++) {
        const lra_clip *clip = &clips.clip[i];
        /* counts the clips that were read, and those that were not requested (row < 0) */
        d->n_official[clip->split] += clip->row < 0 || clip->there;
    }
    lra_clips_free(&clips);
    return rc;
}

static int import_hash(const lra_config *c, const char *folder, lra_digest *to, lra_err *e)
{
    (void)c;
    return lra_clips_hash(folder, to, e);
}

static int inspect(const lra_config *c, const char *folder, lra_facts *found, lra_err *e)
{
    (void)c;
    lra_clips clips = {0};
    lra_sequences split[LRA_N_SPLITS] = {{0}};
    int rc = lra_clips_read(&clips, folder, 0, split, e);
    for (int k = 0; rc == 0 && k < LRA_SPEECH_WORDS; k++)
        lra_facts_add(found, (double)clips.n_words[k], "clips of '%s'", lra_speech_words[k]);
    for (int s = 0; rc == 0 && s < LRA_N_SPLITS; s++)
        lra_facts_add(found, (double)split[s].n, "%s, clips", lra_split_names[s]);
    for (int s = LRA_VAL_SPLIT; rc == 0 && s < LRA_N_SPLITS; s++) {
        lra_facts_add(found, (double)clips.list[s].n, "%s, listed", lra_split_names[s]);
        lra_facts_add(found, (double)clips.list[s].n_found, "%s, listed and found",
                      lra_split_names[s]);
    }
    if (rc == 0) {
        lra_facts_add(found, clips.by_list, "split by the lists");
        lra_facts_add(found, (double)clips.n_short, "clips shorter than a second");
        lra_facts_defect(found, clips.n_long, "clips longer than a second");
        lra_facts_defect(found, clips.n_unread, "clips that cannot be read");
        lra_facts_add(found, (double)clips.n_noise, "clips of background noise, excluded");
        lra_facts_defect(found, clips.n_other, "clips in folders that are not words");
        for (int k = 0; k < clips.n_folders; k++)
            lra_facts_add(found, (double)clips.other[k].n, "clips in '%s'", clips.other[k].name);
    }
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&split[s]);
    lra_clips_free(&clips);
    return rc;
}

/* ---- inputs of models ------------------------------------------------------------------------ */

/* Exact sums of n integers and of their squares. */
typedef struct {
    int64_t n, sum, squares;
} moments;

/* Computes scale and shift such that scale u + shift = (x - m) / (s + 1e-5) for a token u = 2^15 x
 * + 2^15. */
static void standardise(const moments *m, float *scale, float *shift)
{
    enum { HALF = 1 << 15 };
    double n = (double)m->n, sum = (double)m->sum;
    double mean = sum / n / HALF;
    double variance = n > 1 ? ((double)m->squares - sum * sum / n) / (n - 1) : 0;
    double divisor = sqrt(variance > 0 ? variance : 0) / HALF + 1e-5;
    *scale = (float)(1 / (HALF * divisor));
    *shift = (float)(-(1 + mean) / divisor);
}

static void levels(const lra_dataset *d, float *scale, float *shift)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    moments *step = lra_alloc_array(LRA_SPEECH_SAMPLES, sizeof *step), all = {0};
    for (int64_t i = 0; i < r->n; i++) {
        const uint16_t *token = r->token + r->start[i];
        for (int64_t t = 0; t < LRA_SPEECH_SAMPLES; t++) {
            int64_t x = (int64_t)token[t] - (1 << 15);
            step[t].n++, step[t].sum += x, step[t].squares += x * x;
        }
    }
    for (int64_t t = 0; t < LRA_SPEECH_SAMPLES; t++)
        all.n += step[t].n, all.sum += step[t].sum, all.squares += step[t].squares;
    bool global = strcmp(lra_config_text(d->config, "sc-norm"), "global") == 0;
    for (int64_t t = 0; t < LRA_SPEECH_SAMPLES; t++)
        standardise(global ? &all : &step[t], &scale[t], &shift[t]);
    lra_free(step);
}

/* Draws the waveform, with samples from -1 to 1. */
static void show(const lra_row *row, FILE *out)
{
    float *value = lra_alloc_array((size_t)row->n, sizeof *value);
    for (int64_t i = 0; i < row->n; i++) value[i] = (float)row->token[i] / 32768 - 1;
    const lra_row wave = {.n = row->n, .width = 1, .value = value};
    lra_signal_show(&wave, out);
    lra_free(value);
}

const lra_task lra_task_speech_commands = {
    .name = "speech-commands",
    .summary = "spoken word (one second of sound), 35 classes",
    .files.source = LRA_SPEECH_SOURCE,
    .files.published = {84843, 9981, 11005},
    .data.correlation = 0.93, /* measured on 300 clips */
    .n_classes = LRA_SPEECH_WORDS,
    .text.label_names = lra_speech_words,
    .data.steps = LRA_SPEECH_SAMPLES,
    .input.vocab = 65536,
    .input.channels = 1,
    .input.levels = levels,
    .keys =
        (const lra_key[]){
            LRA_CHOICE_KEY(
                "sc-norm", "step", "step|global",
                "normalisation: by mean and standard deviation of each position (step), or of all "
                "positions together (global)"),
            LRA_ROWS_KEY("maximum number of rows of each split (0 = all)"), LRA_KEYS_END},
    .quick = {"rows=250", "batch=8 epochs=8 warmup=0.05 final-share=0.34 final-rate=0.1", 2},
    .small = {"rows=10000", "batch=16 epochs=10 warmup=0.02", 2},
    .paper = {NULL, "batch=16 epochs=40", 3}, /* settings of the state-space papers */
    .files.import_keys = "rows",
    .input.keys = "sc-norm",
    .files.import = import,
    .files.import_hash = import_hash,
    .baseline = lra_baseline_constant,
    .files.inspect = inspect,
    .text.show = show,
};
