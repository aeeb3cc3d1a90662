/* Reads Speech Commands in two walks over the files. The first reads names and lists, which
 * determine the row of each clip. The second reads the samples directly into their rows. */
#include <stdlib.h>
#include <string.h>

#include "datasets/formats/speech_clips.h"
#include "datasets/formats/speech_file.h"
#include "datasets/formats/walk.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

enum { LEVELS = 4, MAX_FILE = 1 << 24 };

/* Returns the split that a list file defines; LRA_TRAIN_SPLIT if the file is not a list. */
static int list_of(const char *name)
{
    const char *base = lra_walk_base(name);
    return strcmp(base, "validation_list.txt") == 0 ? LRA_VAL_SPLIT
           : strcmp(base, "testing_list.txt") == 0  ? LRA_TEST_SPLIT
                                                    : LRA_TRAIN_SPLIT;
}

static bool is_archive(void *of, const char *name)
{
    (void)of;
    const char *base = lra_walk_base(name);
    return strncmp(base, "speech_commands", 15) == 0 && strstr(base, ".tar");
}

/* ---- first walk: names and lists ------------------------------------------------------------- */

static bool note_name(void *clips, const char *name)
{
    lra_clips_name(clips, name);
    return list_of(name) != LRA_TRAIN_SPLIT;
}

static int read_list(void *clips, const char *name, const char *bytes, size_t n, lra_err *e)
{
    (void)e;
    lra_clips_list(clips, list_of(name), bytes, n);
    return 0;
}

/* ---- second walk: samples -------------------------------------------------------------------- */

typedef struct {
    lra_clips *clips;
    lra_sequences *split;
} filling;

static lra_clip *find_clip(const lra_clips *c, const char *path)
{
    const char *file = strrchr(path, '/'), *word = file ? file : path;
    while (word > path && word[-1] != '/') word--;
    int64_t from = 0, to = c->n;
    while (from < to) {
        int64_t middle = (from + to) / 2;
        int order = strcmp(word, c->clip[middle].name);
        if (order == 0) return &c->clip[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

static bool is_row(void *of, const char *name)
{
    const filling *f = of;
    const lra_clip *clip = find_clip(f->clips, name);
    return clip && clip->row >= 0;
}

static int fill_row(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    filling *f = of;
    lra_clips *c = f->clips;
    lra_clip *clip = find_clip(c, name);
    uint64_t hash = lra_hash64(bytes, n);
    if (clip->there)
        return clip->hash == hash
                   ? 0
                   : lra_fail(e, "'%s' occurs twice with different bytes", clip->name);
    lra_sequences *to = &f->split[clip->split];
    lra_err why = {{0}};
    to->label[clip->row] = clip->label;
    clip->hash = hash;
    clip->there = lra_clips_samples(c, clip->name, bytes, n,
                                    to->token + clip->row * LRA_SPEECH_SAMPLES, &why) == 0;
    if (!clip->there && c->n_unread++ == 0) c->first_unread = why;
    return 0;
}

/* Removes the rows of clips that could not be read. */
static void remove_gaps(const lra_clips *c, lra_sequences split[LRA_N_SPLITS])
{
    int64_t kept[LRA_N_SPLITS] = {0};
    for (int64_t i = 0; i < c->n; i++) {
        const lra_clip *clip = &c->clip[i];
        if (clip->row < 0 || !clip->there) continue;
        lra_sequences *r = &split[clip->split];
        int64_t to = kept[clip->split]++;
        r->label[to] = r->label[clip->row];
        if (to != clip->row)
            memmove(r->token + to * LRA_SPEECH_SAMPLES, r->token + clip->row * LRA_SPEECH_SAMPLES,
                    LRA_SPEECH_SAMPLES * sizeof *r->token);
    }
    for (int s = 0; s < LRA_N_SPLITS; s++) split[s].n = kept[s];
}

/* ---- reports --------------------------------------------------------------------------------- */

static void report_split(const lra_clips *c, const char *path)
{
    int64_t listed = c->list[LRA_VAL_SPLIT].n + c->list[LRA_TEST_SPLIT].n;
    int64_t found = c->list[LRA_VAL_SPLIT].n_found + c->list[LRA_TEST_SPLIT].n_found;
    if (c->by_list && found < listed)
        lra_warn("'%s': %lld of the %lld clips in the lists are missing", path,
                 (long long)(listed - found), (long long)listed);
    if (c->by_list) return;
    lra_warn(
        "'%s': %s; clips are split 80, 10, 10 %% by torch's random_split over their sorted names, "
        "seed 42, which is not the published split",
        path,
        listed == 0  ? "no validation_list.txt and testing_list.txt"
        : found == 0 ? "the lists contain none of the clips"
                     : "the lists leave training, validation or test empty");
}

static void report_others(const lra_clips *c, const char *path)
{
    lra_text names = {0};
    for (int k = 0; k < c->n_folders; k++)
        lra_text_add(&names, "%s'%s'", k ? ", " : "", c->other[k].name);
    if (c->n_folders == LRA_SPEECH_OTHERS) lra_text_add(&names, " and possibly others");
    lra_warn("'%s': %lld clips are excluded, in folders that are none of the %d words: %s", path,
             (long long)c->n_other, (int)LRA_SPEECH_WORDS, names.s);
    lra_text_free(&names);
}

static void report(const lra_clips *c, const lra_walk *w, const char *path)
{
    int n_words = 0;
    for (int k = 0; k < LRA_SPEECH_WORDS; k++) n_words += c->n_words[k] > 0;
    lra_walk_report(w, path);
    report_split(c, path);
    if (c->n_unread)
        lra_warn("'%s': %lld clips are excluded, the first because %s", path,
                 (long long)c->n_unread, c->first_unread.msg);
    if (n_words < LRA_SPEECH_WORDS)
        lra_warn("'%s': %d of the %d words; chance level is that of %d classes", path, n_words,
                 (int)LRA_SPEECH_WORDS, n_words);
    if (c->n_noise)
        lra_detail("'%s': %lld clips of _background_noise_ are excluded", path,
                   (long long)c->n_noise);
    if (c->n_other) report_others(c, path);
    if (c->n_short)
        lra_detail("'%s': %lld clips shorter than a second, padded with silence", path,
                   (long long)c->n_short);
    if (c->n_long)
        lra_warn("'%s': %lld clips longer than a second, truncated", path, (long long)c->n_long);
}

/* ---- the import ------------------------------------------------------------------------------ */

static int read_samples(lra_clips *c, const char *path, lra_sequences split[LRA_N_SPLITS],
                        lra_walk *w, lra_err *e)
{
    filling f = {c, split};
    *w = (lra_walk){.wanted = is_row,
                    .inside = is_archive,
                    .visit = fill_row,
                    .of = &f,
                    .levels = LEVELS,
                    .max_file = MAX_FILE};
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (!lra_sequences_extend(&split[s], c->size[s], LRA_SPEECH_SAMPLES, 1, e))
            return LRA_FAILED;
    if (lra_walk_path(w, path, e) != 0) return LRA_FAILED;
    remove_gaps(c, split);
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (split[s].n == 0)
            return lra_fail(e, "'%s' has no readable clip for %s%s%s", path, lra_split_names[s],
                            c->n_unread ? "; " : "", c->first_unread.msg);
    return 0;
}

int lra_clips_read(lra_clips *c, const char *path, int64_t rows, lra_sequences *split, lra_err *e)
{
    lra_walk w = {.wanted = note_name,
                  .inside = is_archive,
                  .visit = read_list,
                  .of = c,
                  .levels = LEVELS,
                  .max_file = MAX_FILE};
    int rc = lra_walk_path(&w, path, e);
    if (rc == 0) rc = lra_clips_divide(c, rows, e);
    if (rc != 0 && c->n == 0)
        rc = lra_fail_absent(
            e, "no clips WORD/FILE.wav in '%s' or below; expected " LRA_SPEECH_SOURCE, path);
    if (rc == 0 && split) rc = read_samples(c, path, split, &w, e);
    if (rc == 0) report(c, &w, path);
    return rc;
}

static bool is_part(void *of, const char *name)
{
    (void)of;
    size_t n = strlen(name);
    return list_of(name) != LRA_TRAIN_SPLIT || (n > 4 && strcmp(name + n - 4, ".wav") == 0);
}

int lra_clips_hash(const char *path, lra_digest *to, lra_err *e)
{
    const lra_walk w = {.wanted = is_part, .inside = is_archive, .levels = LEVELS};
    return lra_walk_hash(&w, path, to, e);
}
