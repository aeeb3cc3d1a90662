/* Every op builder, with its formula.  Shapes: B batch, T length, D width, H heads, V vocabulary, C
 * classes; ".." means any leading dimensions. Builders take tensors of one graph; `length` is (B)
 * int32, the number of tokens without padding; Nullable everywhere.  Padding (t >= length) never
 * influences a result. */
#ifndef LRA_GRAPH_OPS_H
#define LRA_GRAPH_OPS_H

#include "kernels/graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { LRA_ACT_NONE, LRA_ACT_RELU, LRA_ACT_GELU, LRA_ACT_GELU_TANH, LRA_ACT_SILU } lra_act;
/* LRA_POOL_CLS is not an op: models/network.h prepends a learned token to the inputs of the
 * encoder. */
typedef enum { LRA_POOL_MEAN, LRA_POOL_LAST, LRA_POOL_MAX, LRA_POOL_CLS } lra_pool_kind;

/* ---- tables and products --------------------------------------------------------------------- */

/* y = table[index].  table: (V,D), index: (..) int32, y: (..,D).  An index outside [0,V) is a
 * bug. */
lra_tensor *lra_embedding(lra_tensor *table, lra_tensor *index);
/* y = act(x w + bias) + residual. x: (..,D), w: (D,H) in memory order in, out; bias: (H); residual
 * and y: (..,H). y has the type of the residual; in a bf16 graph a float32 residual is added in
 * float32. Nullable: bias, residual. */
lra_tensor *lra_linear(lra_tensor *x, lra_tensor *w, lra_tensor *bias, lra_act act,
                       lra_tensor *residual);
/* y = a b, each optionally transposed in its last two dimensions.  (..,M,K) (..,K,N) -> (..,M,N);
 * equal leading dimensions, or b without any (then it is shared). */
lra_tensor *lra_matmul_t(lra_tensor *a, bool a_transposed, lra_tensor *b, bool b_transposed);
lra_tensor *lra_matmul(lra_tensor *a, lra_tensor *b);
/* Convolution over time, "same": y[t] = act(bias + sum_k x[t + (k - (K-1)/2) dilation] w[k]), zero
 * outside [0,length).  x: (B,T,D), w: (K, D/G, H) in memory order tap, in, out; output channel h
 * belongs to group h / (H/G); y: (B,T,H), zero for t >= length.  K odd, dilation from 1.  Nullable:
 * bias, length. */
lra_tensor *lra_conv(lra_tensor *x, lra_tensor *w, lra_tensor *bias, lra_act act,
                     lra_tensor *length, int64_t groups, int64_t dilation);
/* Causal convolution: y[t] = act(bias + sum_k x[t + (k - (K-1)) dilation] w[k]), that is, only the
 * present and the past; K may be even. Padding after an example is never read, so there is no
 * length argument; outputs at padding are undefined. */
lra_tensor *lra_causal_conv(lra_tensor *x, lra_tensor *w, lra_tensor *bias, lra_act act,
                            int64_t groups, int64_t dilation);

/* Convolution with long kernels, channel by channel: y[t] = sum_(j>=0) k[j] x[t-j]; with a second
 * kernel k' for the future, + sum_(j>=0) k'[j] x[t+1+j]. x, y: (B,T,D); kernel: (D,L) or (2,D,L),
 * real. y is zero for t >= length. */
lra_tensor *lra_long_conv(lra_tensor *x, lra_tensor *kernel, lra_tensor *length);
/* Distance mask of a kernel: y[.., i, ..] = x[.., i, ..] if |i - zero| step <= limit, else 0, along
 * one axis.  limit: (1) int32 (lra_next_limit). */
lra_tensor *lra_distance_mask(lra_tensor *x, lra_tensor *limit, int axis, int64_t zero,
                              int64_t step);
/* lra_long_conv() restricted to distances <= limit.  For limit >= T-1 it is bit-identical to
 * lra_long_conv(). For smaller limits it sums over the lags directly, O(T limit): with a Fourier
 * transform, distant positions would change the last bits. */
lra_tensor *lra_long_conv_windowed(lra_tensor *x, lra_tensor *kernel, lra_tensor *limit,
                                   lra_tensor *length);

/* Kernels of diagonal state-space layers, by lag:
 *   k[r,l] = 2 Re sum_n c_rn dt phi(dt a) exp(dt a l),  phi(x) = (e^x - 1)/x
 * Row r of k uses dt[r mod H] and row r mod S of a. a: (2,S,N), c: (2,R,N) (real, imaginary), dt:
 * (H); k: (R,L); all real. Nullable: dt (then k[r,l] = Re sum_n c_rn exp(a l)). */
lra_tensor *lra_ssm_kernel(lra_tensor *a, lra_tensor *c, lra_tensor *dt, int64_t L);
/* lra_ssm_kernel() with bilinear discretisation: k[r,l] = 2 Re sum_n c_rn dt/(1 - z/2) ((1 +
 * z/2)/(1 - z/2))^l, z = dt a. */
lra_tensor *lra_ssm_kernel_bilinear(lra_tensor *a, lra_tensor *c, lra_tensor *dt, int64_t L);
/* lra_ssm_kernel() without dt, with modes normalised over T tokens (DSS-softmax): k[r,l] = Re sum_n
 * c_rn exp(a l) / sum_(m < T) exp(a m). */
lra_tensor *lra_ssm_kernel_shares(lra_tensor *a, lra_tensor *c, int64_t L, int64_t T);

/* Kernels of layers whose state matrix is diagonal plus low rank, A = diag(a) - p q^T. Each mode is
 * followed by its conjugate (a, conj a), so that the kernels are real. Bilinear discretisation,
 * with Ab = (1 - dt/2 A)^-1 (1 + dt/2 A) and Bb = (1 - dt/2 A)^-1 dt b:
 *   k[r,l] = c_r (1 - Ab^L)^-1 Ab^l Bb,  l < L,  with a, b, p, q and dt of channel r mod H
 * a, b, p, q: (2,H,N) (real, imaginary), c: (2,R,N), dt: (H), k: (R,L); all real. L: even, a
 * product of 2, 3 and 5. */
lra_tensor *lra_dplr_kernel(lra_tensor *a, lra_tensor *b, lra_tensor *p, lra_tensor *q,
                            lra_tensor *c, lra_tensor *dt, int64_t L);
int64_t lra_dplr_length(int64_t T); /* smallest supported L >= T */

/* Recurrence of a diagonal linear state. */
typedef struct {
    lra_tensor *decay; /* lambda, (2,N), real: real and imaginary parts; the same for all tokens */
    bool back;         /* runs from the last token of an example to the first */
} lra_scan_spec;
/* x[t] = lambda x[t-1] + u[t] (back: x[t] = lambda x[t+1] + u[t]), complex, with initial state 0;
 * zero for t >= length. u, x: (B,T,2N), N real parts, then N imaginary ones; x is real. */
lra_tensor *lra_scan(lra_tensor *u, lra_tensor *length, const lra_scan_spec *s);
typedef struct {
    lra_tensor *query, *key;    /* q, k: (B,T,H,K) */
    lra_tensor *value;          /* v: (B,T,H,V) */
    lra_tensor *decay;          /* w: (B,T,H,K), or (B,T,H,1) for all channels; NULL: 1 */
    lra_tensor *correct, *read; /* a, b: (B,T,H,K); both NULL: no correction */
    lra_tensor *length;         /* (B) int32; NULL: T */
    bool back;                  /* from the last token of an example to the first */
} lra_matrix_state_spec;
/* Linear recurrence of a matrix state (V,K) in each head,
 *   S_t = S_(t-1) (diag(w_t) - a_t b_t^T) + v_t k_t^T,  y_t = S_t q_t,
 * from initial state 0; y: (B,T,H,V), elem, zero for t >= length. Linear attention, RetNet, GLA and
 * Mamba-2 have no a and b; the delta rule has a = beta k, b = k. */
lra_tensor *lra_matrix_state(const lra_matrix_state_spec *m);
/* Hidden states of an LSTM: (i,f,g,o) = x_t + h_(t-1) w, c = sigmoid(f) c + sigmoid(i) tanh(g), h =
 * sigmoid(o) tanh(c), initial state zero; `back` runs from the last token to the first.  x:
 * (B,T,4H), input projections with biases; w: (H,4H), real; y: (B,T,H), zero for t >= length. */
lra_tensor *lra_lstm(lra_tensor *x, lra_tensor *w, lra_tensor *length, bool back);

/* ---- attention ------------------------------------------------------------------------------- */

enum { LRA_MAX_HEADS = 64 };

/* Channel pairs that the rotary position embedding leaves unrotated: none, the slower or the faster
 * 50 %. */
typedef enum { LRA_HALF_NONE, LRA_HALF_SLOW, LRA_HALF_FAST } lra_rotary_half;

/* Attention mask (which keys j a query i attends to) and terms of the score that depend on
 * distance:
 *   s_ij = scale exp(-decay |i-j|) q_i k_j - slope |i-j| + bias[clip(j-i)]
 * All but the scale are optional. */
typedef struct {
    bool causal; /* only j <= i */
    /* chunk: only keys of the query's block of `chunk` tokens; window: only |i-j| <= window; 0: no
     * restriction */
    int64_t chunk, window;
    /* with chunk: also the keys of this number of blocks on each side */
    int64_t neighbours;
    int64_t ahead;  /* with window: i - window <= j <= i + ahead instead; 0: ahead = window */
    int64_t stride; /* only keys for which i - j is a multiple of stride; 0: all */
    /* Block-sparse attention: the key blocks for each query block, (B,H,query blocks,most) int32,
     * ascending, terminated by -1, or -2 for all blocks; `block` tokens per block.
     * Nullable: all */
    lra_tensor *blocks;
    int64_t block;
    lra_tensor *limit;  /* only |i-j| <= limit: (1) or (H) int32, which may change between runs */
    double scale;       /* factor of q k; 0: 1/sqrt(K) */
    double rotary_base; /* base of the rotary position embedding; 0: none */
    lra_rotary_half rotary_half;
    const double *decay; /* (H): alpha of LaS.  Nullable: 0 */
    const double *slope; /* (H): slopes of ALiBi.  Nullable: 0 */
    lra_tensor
        *bias; /* (H,2R-1), real, learned: entry j-i+R-1, clipped at both ends.  Nullable: 0 */
    /* weights are averaged over this number of columns by a moving average (causal if `causal`,
     * unless `centred`); 0: no average */
    int smooth;
    /* Laplace attention: the weight of a key is f(s_ij) instead of a softmax, where f is the
     * distribution function of a normal with mean 0.707107 and standard deviation 0.282095; `scale`
     * (0 means 1) is divided by the number of keys that i attends to without the limit. */
    bool laplace;
    bool centred; /* the moving average is centred even with `causal` */
    /* averaged weights of a row are divided by their sum, which is below 1 at the ends of the
     * sequence */
    bool renorm;
    bool cross; /* cross-attention: keys are another sequence, with a separate length */
    /* Masked average: centred averages of causal weights, where columns after the query are masked
     * again and each row is divided by its sum. Computes full maps. Needs smooth, centred and
     * causal; the only other fields allowed are scale, decay, slope and chunk. */
    bool remask;
    lra_tensor *key_length; /* (B) int32, with cross.  Nullable: all keys */
    /* Dropout probability of the weights in training; the remaining weights are scaled by 1/(1 -
     * dropout). Not allowed with smooth. */
    double dropout;
} lra_attention_spec;
/* y_i = sum_j softmax_j(s_ij) v_j, or sum_j f(s_ij) v_j. q: (B,T,H,K), k: (B,T',H,K), v:
 * (B,T',H,V), y: (B,T,H,V); T' = T unless cross. y is zero for t >= length, and for queries that
 * see no key. A limit of T' or more changes no bit. */
lra_tensor *lra_attention(lra_tensor *q, lra_tensor *k, lra_tensor *v, lra_tensor *length,
                          const lra_attention_spec *s);
/* Linear attention with a distance limit: y_i = sum_j q_i . k_j v_j over the keys with |i-j| <=
 * limit, computed pair by pair. For limit >= T-1 the result is `whole`, bit for bit. All tensors
 * are (B,T,H,..); limit: (1) or (H). */
lra_tensor *lra_products_windowed(lra_tensor *whole, lra_tensor *q, lra_tensor *k, lra_tensor *v,
                                  lra_tensor *limit);
/* Distance profile: attention weight by distance |i-j|, mean over the queries of an example.
 * Returns (B,H,max(T,T')), real. */
lra_tensor *lra_attention_profile(lra_tensor *q, lra_tensor *k, lra_tensor *length,
                                  const lra_attention_spec *s);
/* Distance profile of an attention layer of a graph. attention: the result of lra_attention(), or
 * its node. */
lra_tensor *lra_attention_profile_of(const lra_tensor *attention);
/* Rotary position embedding: rotates channels (2i,2i+1) at position t by the angle t base^(-2i/K).
 * x: (B,T,H,K), K even. */
lra_tensor *lra_rotary(lra_tensor *x, double base, lra_rotary_half half);
/* Visible key blocks of every query block in BigBird, for lra_attention_spec.blocks. The first and
 * the last query block of an example see all blocks. The others see the first, the last, their own
 * block, its neighbours, and `random` more, drawn by (layer, head). length: (B), not NULL. */
lra_tensor *lra_bigbird_blocks(lra_tensor *length, int64_t T, int64_t heads, int64_t block,
                               int64_t random, int64_t layer);
/* Moving average over `width` positions: the past ones (causal), or centred ones (width odd).
 * Positions outside of the chunk (0: none) or the length count as zero. x: (B,T,..) */
lra_tensor *lra_moving_average(lra_tensor *x, lra_tensor *length, int64_t width, bool causal,
                               int64_t chunk);

/* ---- normalisation --------------------------------------------------------------------------- */

/* y = gain x / sqrt(mean x^2 + eps) over the last dimension; eps 1e-5 if 0.  gain: (D) for RMSNorm,
 * a scalar for ScaleNorm.  Nullable: gain. */
lra_tensor *lra_rms_norm(lra_tensor *x, lra_tensor *gain, double eps);
/* y = (x - mean)/sqrt(var + eps) gain + bias over the last dimension, biased variance; eps 1e-5 if
 * 0. */
lra_tensor *lra_layer_norm(lra_tensor *x, lra_tensor *gain, lra_tensor *bias, double eps);
/* Batch normalisation per channel, over all rows that are not padding.  x: (B,T,D) or (B,D); mean,
 * var: lra_state (D), updated in training as (1 - momentum) old + momentum new (the unbiased
 * variance), used in evaluation.  Nullable: length. */
lra_tensor *lra_batch_norm(lra_tensor *x, lra_tensor *length, lra_tensor *gain, lra_tensor *bias,
                           lra_tensor *mean, lra_tensor *var, double momentum, double eps);

/* ---- elementwise ----------------------------------------------------------------------------- */

lra_tensor *lra_relu(lra_tensor *x);      /* max(x, 0) */
lra_tensor *lra_elu_one(lra_tensor *x);   /* ELU(x) + 1: x + 1 for x > 0, else e^x */
lra_tensor *lra_gelu(lra_tensor *x);      /* x (1 + erf(x/sqrt 2))/2 */
lra_tensor *lra_gelu_tanh(lra_tensor *x); /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2 */
lra_tensor *lra_silu(lra_tensor *x);      /* x sigmoid(x) */
lra_tensor *lra_tanh(lra_tensor *x);
lra_tensor *lra_sigmoid(lra_tensor *x);
lra_tensor *lra_exp(lra_tensor *x);
lra_tensor *lra_softplus(lra_tensor *x); /* ln(1 + e^x) */
lra_tensor *lra_log(lra_tensor *x);      /* natural logarithm; x > 0 */
lra_tensor *lra_sqrt(lra_tensor *x);     /* x > 0: the slope at 0 is infinite */
lra_tensor *lra_sin(lra_tensor *x);
lra_tensor *lra_cos(lra_tensor *x);
lra_tensor *lra_activation(lra_tensor *x, lra_act act);
lra_tensor *lra_affine(lra_tensor *x, double scale, double shift); /* scale x + shift */
/* Shapes must be equal or broadcastable: (B,1,D) and (T,1) give (B,T,D).  Dimensions are equal, 1,
 * or missing in front. */
lra_tensor *lra_add(lra_tensor *a, lra_tensor *b);
lra_tensor *lra_mul(lra_tensor *a, lra_tensor *b);
lra_tensor *lra_sub(lra_tensor *a, lra_tensor *b);
lra_tensor *lra_div(lra_tensor *a, lra_tensor *b);
/* f(a) b in one pass; a and b must have the same shape and type. */
typedef enum { LRA_GATE_GELU, LRA_GATE_SILU, LRA_GATE_SIGMOID } lra_gate_act;
lra_tensor *lra_gate(lra_tensor *a, lra_gate_act f, lra_tensor *b);
/* x_1 + ... + x_n, summed in real and rounded once; shapes must be equal. */
lra_tensor *lra_add_n(int n, lra_tensor *const *x);
/* Inverted dropout: x mask/(1-rate); the mask is drawn by (seed, step, path of the node, element).
 * tied: one draw per pair of first and last index, shared along the dimensions between. Identity in
 * LRA_EVAL graphs. */
lra_tensor *lra_dropout(lra_tensor *x, double rate, bool tied);
/* Random orthogonal features: m rows of K values, orthogonal in blocks of K rows, with the lengths
 * of normal vectors. Drawn by (seed, step, path of the node). y: (m,K), real, without a
 * gradient. */
lra_tensor *lra_orthogonal(lra_graph *g, int64_t m, int64_t K);
/* conversion between real and elem of the graph */
lra_tensor *lra_cast(lra_tensor *x, lra_type type);

/* ---- shape ----------------------------------------------------------------------------------- */

lra_tensor *lra_reshape(lra_tensor *x, lra_shape s); /* y is an alias: it has the memory of x */
lra_tensor *lra_detach(lra_tensor *x); /* y = x, without a copy; no gradient flows back to x */
lra_tensor *lra_permute(lra_tensor *x, int n,
                        const int *axes); /* dimension i of y is dimension axes[i] of x; a copy */
lra_tensor *lra_concat(int n, lra_tensor *const *x, int axis);
lra_tensor *lra_slice(lra_tensor *x, int axis, int64_t from, int64_t n);
lra_tensor *lra_broadcast(lra_tensor *x, lra_shape s); /* repeats dimensions of size 1 */
/* sums over dimensions until the shape is s; adjoint of broadcast */
lra_tensor *lra_reduce_sum(lra_tensor *x, lra_shape s);
lra_tensor *lra_flip(lra_tensor *x, int axis); /* y[.., i, ..] = x[.., n-1-i, ..] */
/* y[.., i, ..] = sum of x[.., j, ..] over j <= i; back: over j >= i.  Summed in real, in that
 * order. */
lra_tensor *lra_cumsum(lra_tensor *x, int axis, bool back);
/* Linear interpolation of x (..,s) to `times` its length: y[.., j times + k] is at coordinate j +
 * (k + 1/2) / times - 1/2 of x, clipped at the ends. */
lra_tensor *lra_upsample(lra_tensor *x, int64_t times);
lra_tensor *lra_zeros(lra_graph *g, lra_type type, lra_shape s);
lra_tensor *lra_ones(lra_graph *g, lra_type type, lra_shape s);
/* y[b,m] = x[b, index[b,m]].  x: (B,T,D), index: (B,M) int32 in [0,T), y: (B,M,D). */
lra_tensor *lra_gather(lra_tensor *x, lra_tensor *index);

/* LSH buckets: index tables for attention in chunks of sorted tokens. order (N,T): the sorted
 * position ids, tokens before padding, N/B consecutive rows for each example. An example of n
 * tokens has chunks of ceil(n/J) tokens. Results are int32, C = ceil(T/J). Nullable: length, (B).
 *   KEY   (N,J 2C)  position ids of a chunk, then those of the previous chunk (of the first chunk:
 *         those of the last one), then zeros
 *   OWN   (N J)     number of tokens of a chunk
 *   SEEN  (N J)     number of tokens of a chunk and the previous one together
 *   SLOT  (N,T)     slot in (J,C) of each token, 0 for padding */
typedef enum { LRA_CHUNK_KEY, LRA_CHUNK_OWN, LRA_CHUNK_SEEN, LRA_CHUNK_SLOT } lra_chunk_part;
lra_tensor *lra_lsh_buckets(lra_tensor *order, lra_tensor *length, int64_t J, lra_chunk_part part);

/* ---- rows, pooling, losses ------------------------------------------------------------------- */

lra_tensor *lra_softmax(lra_tensor *x); /* softmax over the last dimension */
/* Over the last dimension, (..,D) -> (..): lra_row_max() is the maximum (the gradient flows to the
 * first of equal values), lra_argmax() its index, int32. */
lra_tensor *lra_row_max(lra_tensor *x);
lra_tensor *lra_argmax(lra_tensor *x);
/* Indices that sort each row in ascending order, stable.  x: (..,D) real or int32 without NaN; y:
 * (..,D) int32, without a gradient. */
lra_tensor *lra_argsort(lra_tensor *x);
/* y[.., c] = 1 where c = index, else 0; an index outside [0,C) gives zeros.  index: (..) int32, y:
 * (..,C) elem. */
lra_tensor *lra_one_hot(lra_tensor *index, int64_t C);
/* Pooling (B,T,D) -> (B,D) over t < length: mean, last row (length-1), or maximum (the gradient
 * flows to the first of equal values). */
lra_tensor *lra_pool(lra_tensor *x, lra_tensor *length, lra_pool_kind kind);
/* Mean of -log softmax(logits)[label] over rows with label >= 0; logits: (..,C), label: (..) int32;
 * scalar, real; 0 when there is no such row. */
lra_tensor *lra_cross_entropy(lra_tensor *logits, lra_tensor *label);
/* Cross-entropy of each row, for evaluation: y = -log softmax(logits)[label], 0 where label < 0. y:
 * (..), real, without a gradient. */
lra_tensor *lra_cross_entropy_rows(lra_tensor *logits, lra_tensor *label);
lra_tensor *lra_mse(lra_tensor *x, lra_tensor *target); /* mean of (x - target)^2; scalar */
lra_tensor *lra_l1(lra_tensor *x, lra_tensor *target);  /* mean of |x - target|; scalar */

/* ---- optimiser ------------------------------------------------------------------------------- */

/* AdamW with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2) over n parameters,
 * including the computation of the gradient of `loss`. g is scaled to a global norm <= clip; m = b1
 * m + (1-b1) g; v = b2 v + (1-b2) g^2; p -= rate (mhat/(sqrt(vhat) + eps) + decay p). Rates and
 * decay of single parameters follow their specs. The rate comes from lra_step_input(); the number
 * of applied updates is the state "adam/count". An update whose loss or gradient norm is not finite
 * changes nothing. Returns real (4): loss, gradient norm before clipping, 1 if applied else 0,
 * number of consecutive skipped updates. */
typedef struct {
    double beta1, beta2, eps; /* typical values: 0.9, 0.999, 1e-8 */
    double decay;
    double clip; /* maximum global gradient norm; 0: no clipping */
    double rate; /* global learning rate, by which a parameter's own rate is divided; 0: none */
} lra_adamw_spec;
lra_tensor *lra_adamw(lra_tensor *loss, int n, lra_tensor *const *params,
                      const lra_adamw_spec *spec);
/* One update from n_parts micro-batches (gradient accumulation), each with its own graph; the loss
 * of the update is the mean of their losses. Parts before the last one add their gradients to the
 * states "adam/sum/<path>" (the first part overwrites them) and return the loss. The last part
 * updates. */
lra_tensor *lra_adamw_part(lra_tensor *loss, int n, lra_tensor *const *params,
                           const lra_adamw_spec *spec, int part, int n_parts);

#ifdef __cplusplus
}
#endif
#endif
