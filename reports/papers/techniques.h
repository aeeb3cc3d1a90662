/* Training techniques of papers: augmentation, additional training sets, additional objectives. A
 * technique belongs to a paper and a task. */
#ifndef LRA_REPORTS_PAPERS_TECHNIQUES_H
#define LRA_REPORTS_PAPERS_TECHNIQUES_H

typedef struct {
    const char *paper, *tasks; /* tasks: names separated by blanks; NULL: all tasks */
    const char *name;          /* name in messages, for example "operand shuffling" */
    /* Settings that enable the technique, "augment=1"; a run uses the technique if it has the first
     * of them. NULL: no setting enables it (self-pretraining needs a separate run). */
    const char *settings;
    /* number of training sets: the epochs of a preset are divided by it, so that the number of
     * steps stays the same (three sets: 67 epochs in place of 200) */
    int sets;
} lra_technique;

/* The technique of a paper for a task, or NULL. Nullable: paper. */
const lra_technique *lra_technique_find(const char *paper, const char *task);

#endif
