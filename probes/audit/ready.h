/* The handshake: the task in `hello`, the model's declaration in `ready`. */
#ifndef LRA_PROBES_AUDIT_READY_H
#define LRA_PROBES_AUDIT_READY_H

#include "probes/audit/frame.h"
#include "probes/shared/responder.h"

/* The task of `hello`. */
typedef struct {
    const char *task;
    int64_t classes; /* outputs: of a regression the number of targets */
    int64_t vocab;   /* 0: inputs are `width` real numbers per position */
    int64_t width;
    int64_t length; /* longest input */
    int32_t pad;
    int towers;
} lra_model_task;

typedef struct {
    lra_responder_facts facts; /* texts below are its texts */
    bool mask;
    int64_t max_batch; /* 0: any */
    int inflight;      /* requests that the model accepts at a time */
    lra_config *meta;  /* all keys of `ready` */
    char **layer;
} lra_ready;

enum { LRA_PROTOCOL = 1 };

/* Keys of `hello`: protocol, task, kind, classes, vocab or width, length, pad, towers. */
void lra_hello_meta(const lra_model_task *t, lra_config *meta);
/* Reads the task from `hello`; texts are those of the message. */
int lra_hello_read(const lra_message *m, lra_model_task *t, lra_err *e);

/* Keys of `ready` for a responder. */
void lra_ready_meta(const lra_responder_facts *f, int64_t max_batch, lra_config *meta);
/* Reads `ready` and compares it with the task: protocol, classes, vocabulary, longest input.  Free
 * r after a failure too. */
int lra_ready_read(const lra_message *m, const lra_model_task *t, lra_ready *r, lra_err *e);
void lra_ready_free(lra_ready *r);

#endif
