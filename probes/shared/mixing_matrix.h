/* Rows of mixing matrices that are not computed by one attention op: products, mixtures, or
 * attention over sorted keys. The builder of the model declares them (kernels/graph/mixing.h). A
 * family requests arrays from the graph whose size grows linearly with the length (with its square
 * only if the model itself stores maps). It computes the matrix row by row from them, so that no
 * map is stored. To add a family: a kind in kernels/graph/mixing.h, one file, and one line in
 * mixing_matrix.c. */
#ifndef LRA_PROBES_SHARED_MIXING_MATRIX_H
#define LRA_PROBES_SHARED_MIXING_MATRIX_H

#include "analysis/profile.h"
#include "kernels/graph/mixing.h"
#include "models/training/loaded_model.h"

enum { LRA_MATRIX_ARRAYS = 5, LRA_MATRIX_PATHS = 32 };

typedef struct lra_matrix_family lra_matrix_family;

/* A mixing matrix of a graph. */
typedef struct {
    /* NULL: the matrix of an attention op (attention_statistics.h) */
    const lra_matrix_family *family;
    const lra_tensor *node; /* node that declares the matrix */
    const lra_mixing *of;
    int64_t heads, T; /* T: number of positions; larger than the graph's length if the model pads */
    /* arrays that the family requests; NULL after the last one */
    lra_tensor *array[LRA_MATRIX_ARRAYS];
    /* number of paths on which the value of a key reaches the output: the number of heads, unless
     * the family sets another number */
    int64_t paths;
    lra_tensor
        /* (B,T,paths,paths) Gram matrices by lra_values_gram(). NULL: not requested or not
         * available */
        *gram;
    /* real array for paths(), requested together with gram. NULL: the family has none */
    lra_tensor *by_path;
} lra_matrix;

/* The requested arrays of a matrix, read back after a forward pass. */
typedef struct {
    const lra_matrix *of;
    float *number[LRA_MATRIX_ARRAYS]; /* NULL if array k does not exist or is int32 */
    int32_t *index[LRA_MATRIX_ARRAYS];
    float *by_path, *gram;             /* NULL if values are not requested or not available */
    const struct lra_map_block *block; /* maps of a model that answers requests (map_block.h) */
    bool raw; /* rollout averages the weights over heads before their sum becomes 1 */
} lra_matrix_values;

struct lra_matrix_family {
    const char *name; /* one word for the kind of weights, used in files */
    const char *what; /* the kind of weights as a phrase, used in messages */
    /* Fills *w, with arrays that are real or int32; it may append nodes to the graph. w->node
     * declares w->of, in a graph of n sequences of w->T positions. */
    void (*open)(int64_t n, lra_matrix *w);
    /* Computes row i of a head for sequence s of the batch, which has T positions: w (T), the
     * weight of each value; NAN where masked. */
    void (*row)(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w);
    /* Builds v (B,T,paths,V), the values of all positions on each path, and by (paths V,D), the
     * weights that multiply them up to the output of the linear layer `out` (heads V',D) after the
     * heads. Returns false if there are more than LRA_MATRIX_PATHS paths. NULL: v is the declared
     * value, and by is `out` */
    bool (*values)(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by);
    /* Computes row i of every path: w (paths,T), 0 where masked. NULL: the paths are the heads */
    void (*paths)(const lra_matrix_values *v, int64_t s, int64_t i, int64_t T, double *w);
};

extern const lra_matrix_family lra_matrix_linear_attention, lra_matrix_linformer, lra_matrix_luna,
    lra_matrix_reformer, lra_matrix_masked_average, lra_matrix_of_state;
/* sum of x[i] y[i] */
double lra_matrix_dot(const float *x, const float *y, int64_t n);
/* Builds H copies of the identity matrix (n,n) for each sequence: (B,n,H,n). */
lra_tensor *lra_matrix_unit(lra_graph *g, int64_t B, int64_t n, int64_t H);

/* The matrix that a node declares, in a graph of n sequences of T positions. Its family is NULL if
 * it is the matrix of an attention op. */
lra_matrix lra_matrix_at(const lra_tensor *node, int64_t n, int64_t T);
void lra_matrix_add_outputs(lra_length_graph *v, const lra_matrix *w);
/* Also requests the arrays for lra_matrix_value_profile(), if a linear layer follows the heads. */
void lra_matrix_add_value_outputs(lra_length_graph *v, lra_matrix *w);
/* Reads the arrays after a forward pass. The caller calls lra_matrix_free() also after a
 * failure. */
int lra_matrix_read(const lra_length_graph *v, const lra_matrix *w, lra_matrix_values *to,
                    lra_err *e);
void lra_matrix_free(lra_matrix_values *v);

/* Selects the evaluated rows of an example: all if most is 0, else one in each of `most` equal
 * parts of the rows. The offset within the part depends on the index of the example, so that every
 * row is selected equally often over many examples. */
typedef struct {
    int64_t most, example;
} lra_matrix_rows;
enum { LRA_MATRIX_ROWS = 32 }; /* default value of `most` */
int64_t lra_matrix_n_rows(const lra_matrix_rows *r, int64_t T);
int64_t lra_matrix_row_at(const lra_matrix_rows *r, int64_t p, int64_t T);

/* Mean weight of each key over rows, (T) each. The sink is the key with the largest `choice`;
 * `mean` is then its weight, and `equal` its uniform baseline. If only a sample of rows is
 * evaluated, rows alternate between `choice` and `mean`, so that the reported weight does not
 * depend on the selection of the key. With one sample for both, sinks would occur by chance: if
 * each of 1,024 positions attends only to itself, every key has the mean weight 1/1024, but 1/32 in
 * the mean over 32 rows if its own row is among them. */
typedef struct {
    double *choice, *mean, *equal;
} lra_matrix_columns;

/* The profiles of a head, for one example of T positions. */
typedef struct {
    int64_t T;
    lra_matrix_rows rows;
    int64_t hole; /* key that is excluded, -1: none */
    /* profiles by distance in tokens and in pixels; either can be NULL */
    lra_profile *tokens, *pixels;
    const lra_matrix_columns *columns; /* mean weights of the keys; NULL: not computed */
    double n_rows[2];                  /* rows in columns->choice and in columns->mean */
} lra_matrix_profiles;

/* Add the rows of a head for an example of T positions to the profiles: begin(), rows() for
 * selected rows from .. to-1 (0 .. lra_matrix_n_rows()-1 in order, in any number of calls),
 * end(). */
void lra_matrix_profile_begin(lra_matrix_profiles *p);
void lra_matrix_profile_rows(lra_matrix_profiles *p, const lra_matrix_values *v, int64_t s,
                             int64_t head, int64_t from, int64_t to);
void lra_matrix_profile_end(lra_matrix_profiles *p);
/* Calls the three functions above, for all selected rows. */
void lra_matrix_profile(const lra_matrix_values *v, int64_t s, int64_t head,
                        lra_matrix_profiles *p);
/* Adds the value-weighted profile of all heads together, if values were requested: w_ij = || sum
 * over paths of a_pij v_pj W_p ||. If there are more paths than heads, only half of the sampled
 * rows are evaluated, to limit the cost. */
void lra_matrix_value_profile(const lra_matrix_values *v, int64_t s, int64_t T,
                              const lra_matrix_rows *rows, lra_profile *to);
/* Rollout R = A'_L .. A'_1 (rollout.h) of n rows of an example of T positions. */
typedef struct lra_roll lra_roll;
/* position: (n) rows of R; negative positions are skipped. */
lra_roll *lra_roll_new(int64_t T, int64_t n, const int32_t *position);
/* Multiply by the matrix of a layer, from the last layer to the first: begin(), rows() for rows
 * from .. to-1 of the matrix (0 .. T-1 in order, in any number of calls), end(). */
void lra_roll_begin(lra_roll *x);
void lra_roll_rows(lra_roll *x, const lra_matrix_values *layer, int64_t s, int64_t from,
                   int64_t to);
void lra_roll_end(lra_roll *x);
/* Returns the rows (n,T); an entry is -1 if no path leads to that position. Frees x; the caller
 * frees the rows. */
double *lra_roll_finish(lra_roll *x);

#endif
