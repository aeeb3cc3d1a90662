/* Offline exchange: requests are written to files, and their answers are read from files.
 *   FOLDER/plan.json                       settings of the audit, and the hash of each request
 *   FOLDER/request/000001.safetensors ..   requests: payloads of LRAX/1 frames (frame.h)
 *   FOLDER/result/000001.safetensors ..    answers, with the same id as the request
 * The first request is `hello`. A request is identified by its contents without the id, so that the
 * order of requests does not matter. While answers are missing, the caller continues with
 * placeholders; requests that depend on answers are written in a later round. Requests about
 * initial weights have the key `reset` (the seed) in their metadata; the ops reset and restore are
 * not written. Every request has the key `plan`, the hash of the settings. An answer may repeat it,
 * and may contain `weights`, the identification of the weights in `ready`; both are checked. */
#ifndef LRA_PROBES_AUDIT_OFFLINE_H
#define LRA_PROBES_AUDIT_OFFLINE_H

#include "probes/audit/model_process.h"

typedef enum {
    LRA_OFFLINE_COUNT, /* requests are counted */
    LRA_OFFLINE_WRITE, /* requests are written */
    LRA_OFFLINE_READ   /* a request without an answer is an error (LRA_ABSENT) */
} lra_offline_mode;

typedef struct {
    int64_t requests, missing; /* requests of this pass; those of them without an answer */
    int64_t added;             /* requests that the plan did not contain before this pass */
    double bytes;              /* size of the added requests */
    int64_t first;             /* number of the first request without an answer; 0: none */
    const char *broken;        /* message about the first invalid file; NULL: none */
} lra_offline_count;

typedef struct lra_offline lra_offline;

/* Opens a plan. Fails if FOLDER contains a plan with other settings, or if it contains none and
 * `create` is not set. */
lra_offline *lra_offline_open(const char *folder, const lra_config *settings, bool create,
                              lra_err *e);
/* Starts a pass: all requests of an audit, from `hello` to the last one. */
void lra_offline_begin(lra_offline *o, lra_offline_mode mode);
/* Fills in the answers of n requests; sets the id of x to the number of the request. Without an
 * answer, answer.op stays NULL. Fails if an answer is damaged, or belongs to another plan or to
 * other weights. */
int lra_offline_answer(lra_offline *o, lra_model_exchange *x, int n, lra_err *e);
/* Returns the numbers of the current pass. */
lra_offline_count lra_offline_counted(const lra_offline *o);
/* Writes plan.json. */
int lra_offline_save(const lra_offline *o, lra_err *e);
void lra_offline_close(lra_offline *o); /* Nullable: o */

/* Answers those requests of a plan that have no answer, by `copies` copies of a program, and prints
 * the progress. Fails if the program's weights differ from those in the stored answer to `hello`.
 * *answered: number of new answers. */
int lra_offline_answer_all(const char *folder, const lra_model_command *command, int copies,
                           int64_t *answered, lra_err *e);

/* Path of request or result number k; the caller frees it. */
char *lra_offline_path(const char *folder, const char *kind, int64_t k);
/* Reads and parses such a file. The caller frees m with lra_message_free(), also after a
 * failure. */
int lra_offline_read(const char *path, lra_message *m, lra_err *e);

#endif
