/* Weights between positions that no attention op has by itself: a matrix that stands in a graph as
 * a product, as a mixture or behind a sort.  A family knows it by its ops, asks the graph for
 * arrays that grow with the length (not with its square, but where the model itself holds maps),
 * and tells the matrix row by row from them, so that no map is stored.  To add one: a file, a line
 * in matrix.c. */
#ifndef LRA_PROBES_SHARED_MIXING_MATRIX_H
#define LRA_PROBES_SHARED_MIXING_MATRIX_H

#include "analysis/profile.h"
#include "models/training/loaded_model.h"

enum { LRA_MATRIX_ARRAYS = 3, LRA_MATRIX_PATHS = 32 };

typedef struct lra_matrix_family lra_matrix_family;

/* A matrix in a graph. */
typedef struct {
    const lra_matrix_family
        *family;            /* NULL: an attention op says it all (attention_statistics.h) */
    const lra_tensor *node; /* where it was found */
    const lra_tensor *part; /* a node that is told with it.  NULL: none */
    int64_t heads, T;       /* T: positions, more than the graph's where the model pads */
    lra_tensor *array[LRA_MATRIX_ARRAYS]; /* NULL: as many as there are */
    int64_t paths; /* on which values of a key reach the output: heads, where the family says
                      nothing else */
    lra_tensor
        *gram; /* lra_matrix_values_of(), (B,T,paths,paths).  NULL: not asked, there is none */
    lra_tensor *by_path; /* real, asked with it for paths().  NULL: nothing */
} lra_matrix;

/* Its arrays after a run. */
typedef struct {
    const lra_matrix *of;
    float *number[LRA_MATRIX_ARRAYS]; /* NULL: there are none, or int32 */
    int32_t *index[LRA_MATRIX_ARRAYS];
    float *by_path, *gram; /* NULL: values were not asked, or there is none */
} lra_matrix_values;

struct lra_matrix_family {
    const char *name; /* of its weights, a word, for files */
    const char *what; /* the same for people */
    /* false: not of this family.  Else node is the last op of such a matrix in a graph of n
     * sequences of T positions, and *w is filled, with arrays that are real or int32; nodes may be
     * appended for them. */
    bool (*find)(lra_tensor *node, int64_t n, int64_t T, lra_matrix *w);
    /* Row i of a head, for sequence s of the batch, of T positions: what values are multiplied
     * with, w (T); NAN: no weight may fall there. */
    void (*row)(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w);
    /* What positions have on each path, v (B,T,paths,V), and what it is multiplied with on its way
     * out, w (paths V,D), of the linear layer `out` (heads V',D) behind the heads; false: this is
     * not known. */
    bool (*values)(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by);
    /* Row i of every path, (paths,T), 0 where none may fall.  NULL: paths are heads */
    void (*paths)(const lra_matrix_values *v, int64_t s, int64_t i, int64_t T, double *w);
};

extern const lra_matrix_family lra_matrix_linear_attention, lra_matrix_linformer, lra_matrix_luna,
    lra_matrix_reformer, lra_matrix_masked_average;
/* The tensor behind shapes, casts, slices and linear layers, which keep rows apart. */
lra_tensor *lra_matrix_behind(const lra_tensor *x);
/* sum of x[i] y[i] */
double lra_matrix_dot(const float *x, const float *y, int64_t n);
/* (B,n,H,n) of ones where both n agree. */
lra_tensor *lra_matrix_unit(lra_graph *g, int64_t B, int64_t n, int64_t H);

/* The matrix whose last op this node is, in a graph of n sequences of T positions; else one without
 * a family. */
lra_matrix lra_matrix_find(lra_tensor *node, int64_t n, int64_t T);
void lra_matrix_ask(lra_length_graph *v, const lra_matrix *w);
/* Asks also for what lra_matrix_value_profile() needs, where a linear layer stands behind the
 * heads. */
void lra_matrix_ask_values(lra_length_graph *v, lra_matrix *w);
/* After a run.  Free it whatever happened. */
int lra_matrix_read(const lra_length_graph *v, const lra_matrix *w, lra_matrix_values *to,
                    lra_err *e);
void lra_matrix_free(lra_matrix_values *v);

/* Which rows of an example are told: at most `most`, one in each of as many parts of equal length,
 * at a place in it that depends on the example, so that over examples every row is told as often;
 * 0: all. */
typedef struct {
    int64_t most, example;
} lra_matrix_rows;
enum { LRA_MATRIX_ROWS = 32 }; /* what is usual */
int64_t lra_matrix_n_rows(const lra_matrix_rows *r, int64_t T);
int64_t lra_matrix_row_at(const lra_matrix_rows *r, int64_t p, int64_t T);

/* Mean weights of each key over rows, (T) each: a sink is chosen by `choice`; `mean` says how large
 * it is, `equal` what equal weights give there.  Where some rows are told, the choice is made by
 * every other one and the mean is over those between, or chance would make sinks: where each of
 * 1,024 positions looks at itself alone, no key has more than 1/1024, but 32 keys have 1/32 of 32
 * rows. */
typedef struct {
    double *choice, *mean, *equal;
} lra_matrix_columns;

/* An example of T positions, to profiles.  hole: a key that is left out, -1: none.  Nullable:
 * tokens, pixels, columns */
void lra_matrix_profile(const lra_matrix_values *v, int64_t s, int64_t head, int64_t T,
                        const lra_matrix_rows *rows, int64_t hole, lra_profile *tokens,
                        lra_profile *pixels, const lra_matrix_columns *columns);
/* The same of the heads together, where values were asked:  w_ij = || sum over paths of a_pij v_pj
 * W_p ||.  Of a sample of rows half as many where paths are more than heads, and cost
 * accordingly. */
void lra_matrix_value_profile(const lra_matrix_values *v, int64_t s, int64_t T,
                              const lra_matrix_rows *rows, lra_profile *to);
/* Row number i of R = A'_L .. A'_1 (rollout.h), (n,T) for n rows at position[]; those below 0 are
 * not asked.  -1: what no path leads to. */
void lra_matrix_roll(int n_layers, const lra_matrix_values *layer, int64_t s, int64_t T, int64_t n,
                     const int32_t *position, double *r);

#endif
