/* Provenance: where, when, how and by which program a file was made. It is written into results,
 * checkpoints and probe measurements as attributes of the group "/origin". The date and the command
 * differ between runs with identical bits; each of the other attributes can explain why two results
 * differ. NULL and 0: not recorded. */
#ifndef LRA_BASE_CORE_ORIGIN_H
#define LRA_BASE_CORE_ORIGIN_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "kernels/base/formats/h5.h"

typedef struct {
    char *device;      /* name of the device: "cpu", "cuda:0" */
    char *device_name; /* "AMD EPYC 9354", "NVIDIA H200, compute capability 9.0" */
    /* instruction level of the processor: "avx512bf16"; "avx512+avx2" after a resumption at another
     * level */
    char *level;
    int64_t threads; /* maximum number of threads */
    char *program;   /* name and version of the program: "lra-probe 0.1.0" */
    char *revision;  /* git revision of the sources */
    char *compiler;  /* compiler of the program: "GNU 12.2.0" */
    char *build;     /* build type: "Release" */
    char *libraries; /* "HDF5 1.10.8, GSL 2.7.1", for programs whose results depend on them */
    char *date;      /* time of writing: "2026-05-04T12:30:00Z" */
    char *command;   /* command line in a form that can be typed again */
} lra_origin;

/* Sets the fields that all programs have: program, revision, compiler, build, date, command. */
void lra_origin_here(lra_origin *o, const char *program);
void lra_origin_copy(lra_origin *to, const lra_origin *from);
void lra_origin_free(lra_origin *o);

/* The last level of a list such as "avx512+avx2". */
const char *lra_level_last(const char *level);
/* True if two instruction levels compute the same bits. Levels that differ only in bf16 matrix
 * instructions differ for bf16 only. */
bool lra_level_same(const char *a, const char *b, bool bf16);

int lra_origin_write(lra_h5 *f, const lra_origin *o, lra_err *e);
/* Reads the provenance of a file. Files of format 1 contain only a few fields, in other places. */
int lra_origin_read(lra_h5 *f, lra_origin *o, lra_err *e);

/* The i-th line for people: returns its name, and sets *text to its text (the caller frees it;
 * NULL: not recorded). Returns NULL after the last line. */
const char *lra_origin_line(const lra_origin *o, int i, char **text);
/* Name of this line in files and JSON, such as "level" for the line "instruction level". */
const char *lra_origin_key(int i);

/* Time as text: "2026-05-04T12:30:00Z". Returns buf. */
char *lra_date_text(char buf[32], time_t t);
/* Command line that a shell reads as these words; the caller frees it. */
char *lra_command_text(int argc, const char *const *argv);

#endif
