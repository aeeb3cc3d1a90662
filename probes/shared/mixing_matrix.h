/* Rows of mixing matrices that are not computed by one attention op: products, mixtures, or
 * attention over sorted keys. The builder of the model declares them (kernels/graph/mixing.h). A
 * family requests arrays from the graph that grow linearly with the length (with its square only if
 * the model itself stores maps), and computes the matrix row by row from them, so that no map is
 * stored. To add a family: a kind in kernels/graph/mixing.h, one file, and one line in
 * mixing_matrix.c. */
#ifndef LRA_PROBES_SHARED_MIXING_MATRIX_H
#define LRA_PROBES_SHARED_MIXING_MATRIX_H

#include "analysis/profile.h"
#include "kernels/graph/mixing.h"
#include "models/training/loaded_model.h"

enum { LRA_MATRIX_ARRAYS = 3, LRA_MATRIX_PATHS = 32 };

typedef struct lra_matrix_family lra_matrix_family;

/* A matrix in a graph. */
typedef struct {
    const lra_matrix_family *family; /* NULL: an attention op (attention_statistics.h) */
    const lra_tensor *node;          /* that declares it */
    const lra_mixing *of;
    int64_t heads, T; /* T: positions, more than the graph's if the model pads */
    lra_tensor *array[LRA_MATRIX_ARRAYS]; /* NULL: after the last one */
    /* paths on which values of a key reach the output: the heads, unless the family sets another
     * number */
    int64_t paths;
    lra_tensor
        *gram; /* lra_matrix_values_of(), (B,T,paths,paths). NULL: not requested or not available */
    lra_tensor *by_path; /* real, requested together with gram, for paths(). NULL: none */
} lra_matrix;

/* Its arrays after a run. */
typedef struct {
    const lra_matrix *of;
    float *number[LRA_MATRIX_ARRAYS]; /* NULL: there are none, or int32 */
    int32_t *index[LRA_MATRIX_ARRAYS];
    float *by_path, *gram; /* NULL: values not requested or not available */
} lra_matrix_values;

struct lra_matrix_family {
    const char *name; /* of its weights, a word, for files */
    const char *what; /* the same in a sentence */
    /* Fills *w, with arrays that are real or int32; nodes may be appended for them. w->node
     * declares w->of in a graph of n sequences of w->T positions. */
    void (*open)(int64_t n, lra_matrix *w);
    /* Row i of a head, for sequence s of the batch, of T positions: the weights of the values, w
     * (T); NAN: masked. */
    void (*row)(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w);
    /* Values of the positions on each path, v (B,T,paths,V), and the weights that multiply them in
     * the linear layer `out` (heads V',D) after the heads, w (paths V,D); false: there are more
     * than LRA_MATRIX_PATHS paths. NULL: value of the declaration, and `out` */
    bool (*values)(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by);
    /* Row i of every path, (paths,T), 0 where masked. NULL: paths are heads */
    void (*paths)(const lra_matrix_values *v, int64_t s, int64_t i, int64_t T, double *w);
};

extern const lra_matrix_family lra_matrix_linear_attention, lra_matrix_linformer, lra_matrix_luna,
    lra_matrix_reformer, lra_matrix_masked_average;
/* sum of x[i] y[i] */
double lra_matrix_dot(const float *x, const float *y, int64_t n);
/* (B,n,H,n) of ones where both n agree. */
lra_tensor *lra_matrix_unit(lra_graph *g, int64_t B, int64_t n, int64_t H);

/* The matrix that a node declares, in a graph of n sequences of T positions; its family is NULL if
 * it is that of an attention op. */
lra_matrix lra_matrix_at(const lra_tensor *node, int64_t n, int64_t T);
void lra_matrix_ask(lra_length_graph *v, const lra_matrix *w);
/* Also requests the arrays for lra_matrix_value_profile(), if the heads are followed by a linear
 * layer. */
void lra_matrix_ask_values(lra_length_graph *v, lra_matrix *w);
/* Reads the arrays after a forward pass. Free it in every case. */
int lra_matrix_read(const lra_length_graph *v, const lra_matrix *w, lra_matrix_values *to,
                    lra_err *e);
void lra_matrix_free(lra_matrix_values *v);

/* Selects the evaluated rows of an example: at most `most`, one in each of `most` equal parts, at a
 * position in it that depends on the example, so that over examples every row is selected equally
 * often; 0: all. */
typedef struct {
    int64_t most, example;
} lra_matrix_rows;
enum { LRA_MATRIX_ROWS = 32 }; /* default number of rows */
int64_t lra_matrix_n_rows(const lra_matrix_rows *r, int64_t T);
int64_t lra_matrix_row_at(const lra_matrix_rows *r, int64_t p, int64_t T);

/* Mean weights of each key over rows, (T) each: a sink is chosen by `choice`; `mean` is its weight,
 * `equal` its uniform baseline. If only some rows are evaluated, every other row enters `choice`
 * and the rows between them enter `mean`; otherwise chance would make sinks: if each of 1,024
 * positions attends only to itself, no key has more than 1/1024, but 32 keys have 1/32 of 32
 * rows. */
typedef struct {
    double *choice, *mean, *equal;
} lra_matrix_columns;

/* Adds an example of T positions to the profiles. hole: a key that is left out, -1: none. Nullable:
 * tokens, pixels, columns */
void lra_matrix_profile(const lra_matrix_values *v, int64_t s, int64_t head, int64_t T,
                        const lra_matrix_rows *rows, int64_t hole, lra_profile *tokens,
                        lra_profile *pixels, const lra_matrix_columns *columns);
/* Value-weighted profile of all heads together, if values were requested: w_ij = || sum over paths
 * of a_pij v_pj W_p ||. If there are more paths than heads, only 1/2 of the sampled rows or fewer
 * are evaluated, according to cost. */
void lra_matrix_value_profile(const lra_matrix_values *v, int64_t s, int64_t T,
                              const lra_matrix_rows *rows, lra_profile *to);
/* Row number i of R = A'_L .. A'_1 (rollout.h), (n,T) for n rows at position[]; negative positions
 * are skipped. -1: no path leads to that position. */
void lra_matrix_roll(int n_layers, const lra_matrix_values *layer, int64_t s, int64_t T, int64_t n,
                     const int32_t *position, double *r);

#endif
