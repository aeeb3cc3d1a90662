/* Reads WAV clips from memory through libsndfile's virtual files. */
#include "datasets/formats/wav.h"

#if !LRA_SNDFILE
bool lra_wav_readable(void)
{
    return false;
}

int lra_wav_read(const void *bytes, size_t n_bytes, const char *name, int rate, int16_t *sample,
                 int64_t max, int64_t *n, int64_t *total, lra_err *e)
{
    (void)bytes, (void)n_bytes, (void)rate, (void)sample, (void)max;
    *n = *total = 0;
    return lra_fail(
        e, "cannot read '%s': this portable build has no libsndfile; use a build with it", name);
}
#else
#include <sndfile.h>
#include <stdio.h>
#include <string.h>

bool lra_wav_readable(void)
{
    return true;
}

typedef struct {
    const char *bytes;
    sf_count_t n, at;
} memory;

static sf_count_t length_of(void *of)
{
    return ((memory *)of)->n;
}

static sf_count_t seek_to(sf_count_t offset, int whence, void *of)
{
    memory *m = of;
    sf_count_t from = whence == SEEK_CUR ? m->at : whence == SEEK_END ? m->n : 0;
    if (offset < -from || offset > m->n - from) return -1;
    return m->at = from + offset;
}

static sf_count_t read_from(void *to, sf_count_t n, void *of)
{
    memory *m = of;
    if (n > m->n - m->at) n = m->n - m->at;
    if (n <= 0) return 0;
    memcpy(to, m->bytes + m->at, (size_t)n);
    m->at += n;
    return n;
}

static sf_count_t write_none(const void *from, sf_count_t n, void *of)
{
    (void)from, (void)n, (void)of;
    return 0;
}

static sf_count_t tell(void *of)
{
    return ((memory *)of)->at;
}

/* Fails with a description of the clip if it is not of the expected kind. */
static int check_kind(const SF_INFO *info, const char *name, int rate, lra_err *e)
{
    if ((info->format & SF_FORMAT_TYPEMASK) != SF_FORMAT_WAV &&
        (info->format & SF_FORMAT_TYPEMASK) != SF_FORMAT_WAVEX)
        return lra_fail(e, "'%s' is not a WAV file", name);
    if ((info->format & SF_FORMAT_SUBMASK) != SF_FORMAT_PCM_16 || info->channels != 1 ||
        info->samplerate != rate)
        return lra_fail(
            e,
            "'%s' has %d channels%s, %d samples per second; expected 1 channel of 16 bits, %d per "
            "second",
            name, info->channels,
            (info->format & SF_FORMAT_SUBMASK) == SF_FORMAT_PCM_16 ? " of 16 bits"
                                                                   : " of another encoding",
            info->samplerate, rate);
    return 0;
}

int lra_wav_read(const void *bytes, size_t n_bytes, const char *name, int rate, int16_t *sample,
                 int64_t max, int64_t *n, int64_t *total, lra_err *e)
{
    memory m = {bytes, (sf_count_t)n_bytes, 0};
    SF_VIRTUAL_IO io = {length_of, seek_to, read_from, write_none, tell};
    SF_INFO info = {0};
    SNDFILE *f = n_bytes ? sf_open_virtual(&io, SFM_READ, &info, &m) : NULL;
    *n = *total = 0;
    if (!f)
        return lra_fail(e, "cannot read '%s' as WAV%s%s", name, n_bytes ? ": " : "",
                        n_bytes ? sf_strerror(NULL) : "");
    int rc = check_kind(&info, name, rate, e);
    if (rc == 0) {
        *n = sf_read_short(f, sample, max);
        *total = info.frames > *n ? info.frames : *n;
        if (*n <= 0) rc = lra_fail(e, "'%s' contains no samples", name);
    }
    sf_close(f);
    return rc;
}
#endif
