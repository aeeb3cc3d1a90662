/* Speech Commands: clips WORD/FILE.wav of one second, and the lists of clips for validation and
 * test. */
#ifndef LRA_DATASETS_FORMATS_SPEECH_CLIPS_H
#define LRA_DATASETS_FORMATS_SPEECH_CLIPS_H

#include "datasets/loader/dataset.h"

#define LRA_SPEECH_SOURCE                                                                          \
    "speech_commands_v0.02.tar.gz (Speech Commands, Warden 2018, "                                 \
    "download.tensorflow.org/data/speech_commands_v0.02.tar.gz), unpacked or not"

enum { LRA_SPEECH_OTHERS = 8, LRA_SPEECH_OTHER_NAME = 24 };
enum { LRA_SPEECH_WORDS = 35, LRA_SPEECH_SAMPLES = 16000, LRA_SPEECH_RATE = 16000 };
extern const char *const lra_speech_words[LRA_SPEECH_WORDS + 1]; /* by label, then NULL */

/* One clip. */
typedef struct {
    char *name; /* "yes/0a7c2a8d_nohash_0.wav" */
    int label, split;
    int64_t row; /* row index in its split; -1: not used */
    bool there;  /* its samples are loaded */
    uint64_t hash;
} lra_clip;

/* A list: lines "WORD/FILE.wav", sorted. */
typedef struct {
    char **name;
    int64_t n, capacity;
    int64_t n_found; /* clips that it names */
} lra_clip_list;

typedef struct {
    lra_clip *clip; /* sorted by name after lra_clips_divide() */
    int64_t n, capacity;
    lra_clip_list list[LRA_N_SPLITS]; /* validation and test */
    bool by_list;                     /* divided by the lists */
    int64_t size[LRA_N_SPLITS];       /* clips of each split */
    int64_t n_words[LRA_SPEECH_WORDS];
    int64_t n_noise; /* .wav files in _background_noise_ */
    int64_t n_other; /* .wav files in other folders, which are not words */
    struct {
        char name[LRA_SPEECH_OTHER_NAME];
        int64_t n;
    } other[LRA_SPEECH_OTHERS]; /* (n_folders) the first such folders */
    int n_folders;
    int64_t n_short, n_long; /* clips padded with silence, cut */
    int64_t n_unread;        /* invalid clips, skipped */
    lra_err first_unread;    /* error of the first of them */
} lra_clips;

/* Adds "FOLDER/WORD/FILE.wav" as a clip; returns false for other names. */
bool lra_clips_name(lra_clips *c, const char *path);
/* Adds the lines of validation_list.txt or testing_list.txt. */
void lra_clips_list(lra_clips *c, int split, const char *bytes, size_t n);
/* Sorts clips and lists, and divides the clips: by the lists if all three parts then have a clip;
 * else 80, 10, 10 % by torch's random_split with seed 42. rows: at most `rows` of each split,
 * evenly spaced; 0: all. */
int lra_clips_divide(lra_clips *c, int64_t rows, lra_err *e);
/* The samples of a clip: 16-bit levels + 2^15, padded with silence; token: (LRA_SPEECH_SAMPLES). */
int lra_clips_samples(lra_clips *c, const char *name, const void *bytes, size_t n, uint16_t *token,
                      lra_err *e);
void lra_clips_free(lra_clips *c);

#endif
