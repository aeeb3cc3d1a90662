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
/* (35) the words in the order of their labels, then NULL */
extern const char *const lra_speech_words[LRA_SPEECH_WORDS + 1];

typedef struct {
    char *name; /* name of a clip: "yes/0a7c2a8d_nohash_0.wav" */
    int label, split;
    int64_t row; /* row index in its split; -1: not used */
    bool there;  /* true after its samples were read */
    uint64_t hash;
} lra_clip;

/* A published list of clips: lines "WORD/FILE.wav", sorted. */
typedef struct {
    char **name;
    int64_t n, capacity;
    int64_t n_found; /* number of listed clips that exist */
} lra_clip_list;

typedef struct {
    lra_clip *clip; /* (n) sorted by name after lra_clips_divide() */
    int64_t n, capacity;
    /* validation list and test list; the training entry is empty */
    lra_clip_list list[LRA_N_SPLITS];
    bool by_list;               /* splits follow the lists; false: a random division */
    int64_t size[LRA_N_SPLITS]; /* number of clips of each split */
    int64_t n_words[LRA_SPEECH_WORDS];
    int64_t n_noise; /* number of .wav files in _background_noise_ */
    int64_t n_other; /* .wav files in folders that are neither words nor _background_noise_ */
    struct {
        char name[LRA_SPEECH_OTHER_NAME];
        int64_t n;
        /* (n_folders) the first folders that are not words, with their numbers of files */
    } other[LRA_SPEECH_OTHERS];
    int n_folders;
    int64_t n_short, n_long; /* clips padded with silence; clips truncated to one second */
    int64_t n_unread;        /* number of skipped clips that could not be decoded */
    lra_err first_unread;    /* error of the first invalid clip */
} lra_clips;

/* Adds the clip of a path FOLDER/WORD/FILE.wav; returns false for other paths. */
bool lra_clips_name(lra_clips *c, const char *path);
/* Adds the lines of the list of a split: of validation_list.txt or testing_list.txt. */
void lra_clips_list(lra_clips *c, int split, const char *bytes, size_t n);
/* Sorts clips and lists, and divides the clips: by the lists if all three splits then have a clip,
 * else 80, 10 and 10 % by torch's random_split with seed 42. rows: maximum number of rows of each
 * split, evenly spaced; 0: all. */
int lra_clips_divide(lra_clips *c, int64_t rows, lra_err *e);
/* Decodes a clip into token (LRA_SPEECH_SAMPLES): 16-bit levels + 2^15, padded with silence. */
int lra_clips_samples(lra_clips *c, const char *name, const void *bytes, size_t n, uint16_t *token,
                      lra_err *e);
void lra_clips_free(lra_clips *c);

#endif
