/* Reads Speech Commands from a folder or an archive. */
#ifndef LRA_DATASETS_FORMATS_SPEECH_FILE_H
#define LRA_DATASETS_FORMATS_SPEECH_FILE_H

#include "datasets/formats/speech_clips.h"
#include "datasets/loader/digest.h"

/* Reads Speech Commands from a folder or an archive. Nullable: split (then only names and lists are
 * read and reported). */
int lra_clips_read(lra_clips *c, const char *path, int64_t rows, lra_sequences *split, lra_err *e);
int lra_clips_hash(const char *path, lra_digest *to, lra_err *e);

#endif
