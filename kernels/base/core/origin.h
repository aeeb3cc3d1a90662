/* Provenance: where, when, how and by which program a file was made.  Written into results,
 * checkpoints and probe measurements as attributes of the group "/origin".  The date and the
 * command differ between runs with identical bits; all other attributes can explain why two results
 * differ.  NULL and 0: not recorded. */
#ifndef LRA_BASE_CORE_ORIGIN_H
#define LRA_BASE_CORE_ORIGIN_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "kernels/base/formats/h5.h"

typedef struct {
    char *device;      /* "cpu", "cuda:0" */
    char *device_name; /* "AMD EPYC 9354", "NVIDIA H200, compute capability 9.0" */
    char *level;       /* of the processor's instructions: "avx512bf16"; "avx512+avx2": resumed */
    int64_t threads;   /* at most */
    char *program;     /* "lra-probe 0.1.0" */
    char *revision;    /* of the sources */
    char *compiler;    /* "GNU 12.2.0" */
    char *build;       /* "Release" */
    char *libraries;   /* "HDF5 1.10.8, GSL 2.7.1", of programs whose results depend on them */
    char *date;        /* "2026-05-04T12:30:00Z": of writing */
    char *command;     /* as it can be typed again */
} lra_origin;

/* Sets the fields that are common to all programs: program, revision, compiler, build, date,
 * command. */
void lra_origin_here(lra_origin *o, const char *program);
void lra_origin_copy(lra_origin *to, const lra_origin *from);
void lra_origin_free(lra_origin *o);

/* The last of the levels "avx512+avx2". */
const char *lra_level_last(const char *level);
/* True if two levels compute the same bits; the bf16 matrix instructions matter for bf16 only. */
bool lra_level_same(const char *a, const char *b, bool bf16);

int lra_origin_write(lra_h5 *f, const lra_origin *o, lra_err *e);
/* Files of format 1 have only a few of these, elsewhere. */
int lra_origin_read(lra_h5 *f, lra_origin *o, lra_err *e);

/* The i-th line for people: its name, and its text in *text (the caller frees it; NULL: not
 * recorded).  NULL after the last. */
const char *lra_origin_line(const lra_origin *o, int i, char **text);

/* "2026-05-04T12:30:00Z".  Returns buf. */
char *lra_date_text(char buf[32], time_t t);
/* A command line that a shell reads as these words; caller frees. */
char *lra_command_text(int argc, const char *const *argv);

#endif
