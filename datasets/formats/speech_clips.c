/* Collects the names and lists of Speech Commands, divides the clips into splits, and decodes
 * samples. */
#include <stdlib.h>
#include <string.h>

#include "datasets/formats/bom.h"
#include "datasets/formats/speech_clips.h"
#include "datasets/formats/wav.h"
#include "datasets/loader/split.h"
#include "kernels/base/core/mem.h"

enum { SPLIT_SEED = 42, MIN_CLIPS = 10, SILENCE = 1 << 15 };

const char *const lra_speech_words[LRA_SPEECH_WORDS + 1] = {
    "bed",  "cat",   "down",  "five",   "forward", "go",    "house",  "left", "marvin",
    "no",   "on",    "right", "sheila", "tree",    "up",    "visual", "yes",  "backward",
    "bird", "dog",   "eight", "follow", "four",    "happy", "learn",  "nine", "off",
    "one",  "seven", "six",   "stop",   "three",   "two",   "wow",    "zero", NULL};

/* ---- names ----------------------------------------------------------------------------------- */

/* Returns "WORD/FILE.wav" at the end of a path, NULL if the path is not a .wav file in a folder.
 * *label: index of the word, -1 if the folder is not a word. */
static const char *clip_of(const char *path, int *label)
{
    const char *file = strrchr(path, '/');
    size_t n = strlen(path);
    if (!file || file[1] == '.' || n < 5 || strcmp(path + n - 4, ".wav") != 0) return NULL;
    const char *word = file;
    while (word > path && word[-1] != '/') word--;
    size_t length = (size_t)(file - word);
    for (*label = 0; *label < LRA_SPEECH_WORDS; ++*label)
        if (strlen(lra_speech_words[*label]) == length &&
            memcmp(lra_speech_words[*label], word, length) == 0)
            return word;
    *label = -1;
    return word;
}

/* Counts a clip "FOLDER/FILE.wav" whose folder is not one of the 35 words, and stores the folder's
 * name. */
static void note_other(lra_clips *c, const char *name)
{
    char folder[LRA_SPEECH_OTHER_NAME];
    size_t n = strcspn(name, "/");
    snprintf(folder, sizeof folder, "%.*s", (int)n, name);
    for (char *at = folder; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127) *at = '?';
    if (strcmp(folder, "_background_noise_") == 0) {
        c->n_noise++;
        return;
    }
    c->n_other++;
    int k = 0;
    while (k < c->n_folders && strcmp(c->other[k].name, folder) != 0) k++;
    if (k == LRA_SPEECH_OTHERS) return;
    if (k == c->n_folders) memcpy(c->other[c->n_folders++].name, folder, sizeof folder);
    c->other[k].n++;
}

bool lra_clips_name(lra_clips *c, const char *path)
{
    int label;
    const char *name = clip_of(path, &label);
    if (!name) return false;
    if (label < 0) {
        note_other(c, name);
        return false;
    }
    if (c->n == c->capacity) {
        c->capacity = 2 * c->capacity + 1024;
        c->clip = lra_resize(c->clip, (size_t)c->capacity * sizeof *c->clip);
    }
    c->clip[c->n++] = (lra_clip){.name = lra_copy_text(name), .label = label, .row = -1};
    return true;
}

void lra_clips_list(lra_clips *c, int split, const char *bytes, size_t n)
{
    lra_clip_list *list = &c->list[split];
    for (size_t at = lra_bom_size(bytes, n); at < n;) {
        const char *line = bytes + at, *end = memchr(line, '\n', n - at);
        size_t length = end ? (size_t)(end - line) : n - at;
        at += length + 1;
        while (length && (line[length - 1] == '\r' || line[length - 1] == ' ')) length--;
        if (length == 0 || memchr(line, 0, length)) continue;
        if (list->n == list->capacity) {
            list->capacity = 2 * list->capacity + 1024;
            list->name = lra_resize(list->name, (size_t)list->capacity * sizeof *list->name);
        }
        char *name = lra_alloc(length + 1);
        memcpy(name, line, length);
        list->name[list->n++] = name;
    }
}

void lra_clips_free(lra_clips *c)
{
    for (int64_t i = 0; i < c->n; i++) lra_free(c->clip[i].name);
    lra_free(c->clip);
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        for (int64_t i = 0; i < c->list[s].n; i++) lra_free(c->list[s].name[i]);
        lra_free(c->list[s].name);
    }
    *c = (lra_clips){0};
}

/* ---- splits ---------------------------------------------------------------------------------- */

static int by_clip(const void *a, const void *b)
{
    return strcmp(((const lra_clip *)a)->name, ((const lra_clip *)b)->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the clips by name and removes repeated names. */
static void sort_clips(lra_clips *c)
{
    int64_t n = 0;
    if (c->n) qsort(c->clip, (size_t)c->n, sizeof *c->clip, by_clip);
    for (int64_t i = 0; i < c->n; i++) {
        if (n && strcmp(c->clip[n - 1].name, c->clip[i].name) == 0)
            lra_free(c->clip[i].name);
        else
            c->clip[n++] = c->clip[i];
    }
    c->n = n;
}

static bool is_listed(const lra_clip_list *l, const char *name)
{
    return l->n && bsearch(&name, l->name, (size_t)l->n, sizeof *l->name, by_name);
}

static void divide_by_list(lra_clips *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        lra_clip *clip = &c->clip[i];
        clip->split = is_listed(&c->list[LRA_TEST_SPLIT], clip->name)  ? LRA_TEST_SPLIT
                      : is_listed(&c->list[LRA_VAL_SPLIT], clip->name) ? LRA_VAL_SPLIT
                                                                       : LRA_TRAIN_SPLIT;
        c->size[clip->split]++;
    }
    for (int s = 0; s < LRA_N_SPLITS; s++) c->list[s].n_found = c->size[s];
}

/* Divides the shuffled clips: the last 10 % are the test split, the 10 % before them the validation
 * split. */
static void divide_at_random(lra_clips *c)
{
    int64_t tenth = c->n / 10, *order = lra_alloc_array((size_t)c->n + 1, sizeof *order);
    lra_split_torch(SPLIT_SEED, c->n, order);
    for (int64_t i = 0; i < c->n; i++)
        c->clip[order[i]].split = i < c->n - 2 * tenth ? LRA_TRAIN_SPLIT
                                  : i < c->n - tenth   ? LRA_VAL_SPLIT
                                                       : LRA_TEST_SPLIT;
    c->size[LRA_VAL_SPLIT] = c->size[LRA_TEST_SPLIT] = tenth;
    c->size[LRA_TRAIN_SPLIT] = c->n - 2 * tenth;
    lra_free(order);
}

/* Assigns row indices to clips in order of name, evenly spaced, at most `rows` in each split (0 =
 * all). */
static void number_rows(lra_clips *c, int64_t rows)
{
    int64_t seen[LRA_N_SPLITS] = {0}, next[LRA_N_SPLITS] = {0};
    for (int64_t i = 0; i < c->n; i++) {
        lra_clip *clip = &c->clip[i];
        int s = clip->split;
        int64_t taken = rows && rows < c->size[s] ? rows : c->size[s], k = seen[s]++;
        bool wanted = next[s] < taken && lra_split_spaced(next[s], c->size[s], taken) == k;
        clip->row = wanted ? next[s]++ : -1;
    }
    memcpy(c->size, next, sizeof next);
}

int lra_clips_divide(lra_clips *c, int64_t rows, lra_err *e)
{
    sort_clips(c);
    if (c->n < MIN_CLIPS)
        return lra_fail(e, "%lld clips WORD/FILE.wav, expected at least %d", (long long)c->n,
                        (int)MIN_CLIPS);
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (c->list[s].n)
            qsort(c->list[s].name, (size_t)c->list[s].n, sizeof *c->list[s].name, by_name);
    for (int64_t i = 0; i < c->n; i++) c->n_words[c->clip[i].label]++;
    divide_by_list(c);
    c->by_list = c->size[0] > 0 && c->size[1] > 0 && c->size[2] > 0;
    if (!c->by_list) divide_at_random(c);
    number_rows(c, rows);
    return 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

int lra_clips_samples(lra_clips *c, const char *name, const void *bytes, size_t n, uint16_t *token,
                      lra_err *e)
{
    int16_t sample[LRA_SPEECH_SAMPLES];
    int64_t found, total;
    if (lra_wav_read(bytes, n, name, LRA_SPEECH_RATE, sample, LRA_SPEECH_SAMPLES, &found, &total,
                     e) != 0)
        return LRA_FAILED;
    c->n_short += found < LRA_SPEECH_SAMPLES;
    c->n_long += total > LRA_SPEECH_SAMPLES;
    for (int64_t i = 0; i < LRA_SPEECH_SAMPLES; i++)
        token[i] = (uint16_t)(SILENCE + (i < found ? sample[i] : 0));
    return 0;
}
