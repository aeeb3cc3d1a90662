/* The files that 'lra-probe fit' exchanges with a program that trains an external model by the
 * reference protocol: the batches and settings (batches.c), the inputs of an epoch (inputs.c), and
 * the result of the training (import.c). All are safetensors files (interchange.md). */
#ifndef LRA_PROBES_FIT_EXCHANGE_H
#define LRA_PROBES_FIT_EXCHANGE_H

#include "probes/run/job.h"

/* Identity of an external model. Its run is OUT/runs/TASK-user.NAME-HASH; the hash covers all of
 * these, the data, the seed, and the settings of task and training. */
typedef struct {
    const char *name;     /* characters a-z 0-9 and -_. */
    const char *source;   /* hash of the source text of the model, 16 hex digits. Nullable */
    const char *settings; /* hash of the settings of the model, 16 hex digits. Nullable */
    int64_t reach;        /* one-sided reach in tokens, declared by the user; -1: unbounded */
    bool rung;            /* the run is a rung of a ladder over the reach */
    uint64_t seed;
} lra_fit_model;

/* Configuration of the run as "key=value" lines, and its hash. The caller frees it. */
char *lra_fit_config(const lra_job *job, const lra_fit_model *m, char hash[17]);
/* Folder of the run. The caller frees it. */
char *lra_fit_folder(const lra_job *job, const lra_fit_model *m);
/* Returns true if the training inputs are augmented or drawn again in every epoch. */
bool lra_fit_inputs_change(const lra_job *job);
/* Fails if a setting of the job changes targets or updates in a way that the files do not express:
 * objectives other than classify, permuted labels, accumulated gradients, and tasks whose rows have
 * no single answer. */
int lra_fit_check(const lra_job *job, lra_err *e);

/* Writes the batches of all E epochs with S steps of B rows. Arrays:
 *   train/row     I32 (E,S,B)  indices of the training rows, in the order of training
 *   train/length  I32 (E,S)    length to which the sequences of a batch are padded
 *   val/row, test/row  I32 (nb,B)  the same for evaluation; -1: no row.  val/length, test/length (nb)
 *   sample        I32 (k)      the training rows that are evaluated after training, ascending
 *   rate          F64 (E,S)    learning rate of each step while no plateau has reduced it
 *   mean          F64 (targets)  goal value: means of the training targets, to which built-in models
 *                              initialise the bias of their head
 * Metadata: task, preset, goal (class, value), towers (2: pairs of documents), inputs (epoch: they
 * change, see lra_fit_write_inputs(); rows: they do not), classes, targets, fingerprint, metric,
 * lower-is-better, chance (validation split), seed, epochs, steps, batch, config, run, folder, plan
 * (a description), and the settings of training as "train.KEY". */
int lra_fit_write_batches(const lra_job *job, const lra_fit_model *m, const char *path, lra_err *e);

/* Writes the inputs of all training batches of an epoch, in the order of train/row, as the training
 * of a built-in model receives them after augmentation. Arrays, for R = S B rows:
 *   start         I64 (R+1)    index of the first token of each sequence. Pairs: (2 R+1); a batch has
 *                              the first documents of its B rows, then their second documents
 *   tokens I32 (N), or values F32 (N,channels)   inputs without padding
 *   label  I32 (R), or target F32 (R,targets)    NaN: no target */
int lra_fit_write_inputs(const lra_job *job, const lra_fit_model *m, int64_t epoch,
                         const char *path, lra_err *e);

/* Reads what was trained, and writes result.h5 of the run, sealed. Arrays:
 *   history       F64 (E,7)    step, train_loss, train_value, val_loss, val_value, rate, seconds
 *   test/output   F32 (n,C)    outputs of the selected weights, in the order of the split
 *   val/output    F32 (m,C)
 *   train/output  F32 (k,C)    for the rows of `sample`
 * Metadata: parameters, steps, skipped, best_epoch, seconds; optional: device, device_name,
 * libraries, threads. *path: the result file, which the caller frees. Does not replace an existing
 * result. */
int lra_fit_import(const lra_job *job, const lra_fit_model *m, const char *file, char **path,
                   lra_err *e);

#endif
