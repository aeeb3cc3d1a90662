/* Calls of an external model: requests in pieces, their answers, and placeholders of a plan. Used
 * by the files of the responder, process_responder.c and process_maps.c. */
#ifndef LRA_PROBES_AUDIT_PROCESS_CALL_H
#define LRA_PROBES_AUDIT_PROCESS_CALL_H

#include "probes/audit/model_process.h"
#include "probes/audit/offline.h"
#include "probes/audit/ready.h"
#include "probes/audit/recording.h"
#include "probes/audit/wire.h"

typedef struct {
    lra_responder base;
    lra_model_task task;
    lra_model_process *process[LRA_MODEL_MOST_PROCESSES];
    int n_processes;
    lra_recorder *recorder; /* recording that is written. Nullable */
    lra_replay *replay;     /* recording that answers instead of processes. Nullable */
    lra_offline *offline;   /* files that answer instead of processes. Not owned. Nullable */
    int64_t reset;          /* offline: seed of the initial weights in use; -1: trained weights */
    lra_ready ready;
    int64_t id, batch;
    int64_t *layer_width; /* (n_feature_layers) D of each layer; 0: not known yet */
    int64_t *heads;       /* (n_attention_layers) heads of each layer; 0: not known yet */
    char *
        broken; /* error message of a failed exchange; all later exchanges fail with it. Nullable */
} lra_external;

static inline lra_external *lra_external_of(lra_responder *r)
{
    return (lra_external *)r;
}

/* A request about rows, sent in messages of as many rows as the model accepts. */
typedef struct lra_call lra_call;
struct lra_call {
    const char *op, *layer; /* Nullable: layer */
    const lra_request *q;
    int64_t n, *row; /* number of rows of all messages; (n) their row indices in q */
    /* Adds arrays and metadata of rows [from, to) to a message that has the inputs. Nullable */
    void (*add)(const lra_call *c, int64_t from, int64_t to, lra_wire *w, lra_config *meta);
    /* Stores the answer for rows [from, to). */
    int (*take)(lra_call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e);
    /* Shape of the answer for n rows: writes dims, returns the rank. Nullable: it is not known */
    int (*shape)(const lra_call *c, int64_t n, int64_t dims[LRA_MAX_DIMS]);
    const char *name; /* name of the array in the answer */
    /* Members that only some ops use. */
    float *out;
    int64_t width; /* number of elements of the answer for one row */
    const int32_t *position, *draw, *target;
    const float *cotangent, *features;
    int64_t draws, from, to;
    int64_t D;     /* channels of `features` */
    int64_t heads; /* of attention matrices; 0: not known yet */
    const int64_t
        *window;  /* (2) window of the layer (lra_responder_facts.window). Nullable: none */
    bool guessed; /* set if the answer of a message is a placeholder */
    lra_answer *answer;
};

/* Sends a call. Halves the number of rows of a message when the model is out of memory. */
int lra_call_send(lra_external *m, lra_call *c, lra_err *e);
/* Checks that the model answers an op, and accepts the optional inputs of a request. Nullable: q */
int lra_call_check(const lra_external *m, const char *op, uint32_t answers, const lra_request *q,
                   lra_err *e);
/* Sets the rows of a call to those of its request that are not missing. The caller frees
 * c->row. */
void lra_call_rows(lra_call *c);
/* Sends a request without inputs to one copy or, if `all`, to every copy, so that all copies have
 * the same weights. Nullable: answer, which the caller frees */
int lra_call_single(lra_external *m, const char *op, const lra_config *meta, bool all,
                    lra_message *answer, lra_err *e);

/* attention() and kernels() of the responder (process_maps.c). */
int lra_external_attention(lra_responder *r, const lra_request *q, const char *layer, int64_t from,
                           int64_t to, lra_answer *out, lra_err *e);
int lra_external_kernels(lra_responder *r, const char *layer, int64_t lags, lra_kernels_answer *out,
                         lra_err *e);

#endif
