/* Statistics of attention on a GPU. 64 rows of every head are processed at a time, with their maps
 * in scratch, so that memory is linear in the number of keys. The kernels for 64 rows are:
 *   scores, average, combine   a warp for each row: weights as they multiply v; moving average;
 *                              norms of all heads together
 *   numbers                    a warp for each row: entropy, keys, share of its own key; divides
 *                              the row by its sum
 *   totals, add                a thread for each number of the result, which sums rows in a fixed
 *                              order
 * At most two products of K FLOP per pair. Only probes use this op, and rarely, so it does not use
 * tensor cores. */
#include "kernels/ops/attention/attention_cuda.h"
#include "kernels/ops/attention/attention_statistics_body.h"

typedef struct {
    attention_job j;
    statistics_sizes z;
    const int32_t *without; /* (B,heads): key that gets no weight, per head. NULL: none */
    const real *gram;       /* (B,positions,H,H).  NULL: none */
    int64_t first;          /* index of the first of the 64 rows */
    real *scores, *map;     /* weights before and after the moving average: (B H, rows, Tk) */
    /* LRA_ATTENTION_NUMBERS statistics of each row: (B, residues, heads, rows, numbers) */
    real *row;
    real *own; /* (B, residues, heads, rows, 2): p_ii, 1 / (1 - p_ii), as in the result */
    real *out;
} statistics_job;

/* A row of a head of the node (scores), or of a head of the result. head: the head of the node, or
 * the first head of the node that the result's head combines. */
typedef struct {
    attention_place p;
    int64_t head, residue, i; /* i: row among the positions of this residue */
    bool real_row;
} statistics_row;

LRA_DEV statistics_row statistics_row_of(const statistics_job *e, int64_t row, bool of_result)
{
    statistics_row r;
    const statistics_sizes *z = &e->z;
    int64_t n = row / STATISTICS_ROWS, b = n / (z->stride * z->heads);
    int64_t within = n % (z->stride * z->heads);
    r.head = of_result ? b * e->j.s.H + within / z->heads * z->H + within % z->heads : n;
    r.p = attention_of(&e->j, r.head, false);
    r.residue = r.p.h / z->H;
    r.i = e->first + row % STATISTICS_ROWS;
    r.real_row = r.i < r.p.m.n_q;
    return r;
}

LRA_DEV int64_t hole_of(const statistics_job *e, const statistics_row *r)
{
    if (!e->without) return -1;
    return statistics_hole(&e->z, e->without + r->p.b * e->z.H + r->p.h % e->z.H, r->residue);
}

/* Computes the weights before the moving average. Those of a softmax are divided by their sum. */
static __global__ void statistics_scores_kernel(statistics_job e)
{
    for (EACH_ROW(row, e.j.s.B * e.j.s.H * STATISTICS_ROWS)) {
        statistics_row r = statistics_row_of(&e, row, false);
        attention_rows of_q = attention_side(&e.j, &r.p, false, false);
        attention_rows of_k = attention_side(&e.j, &r.p, true, false);
        attention_range keys = {0, 0};
        if (r.real_row) keys = attention_keys_of(&r.p.m, r.i);
        int64_t hole = e.j.a.smooth > 1 ? -1 : hole_of(&e, &r), Tk = e.j.s.Tk;
        real *to = e.scores + row * Tk, max = -INFINITY, sum = 0, slope;
        for (int64_t j = threadIdx.x; j < Tk; j += LRA_WARP) {
            bool seen = j >= keys.from && j < keys.to && j != hole &&
                        attention_listed(&r.p.listed, r.i, j);
            real product = 0;
            for (int c = 0; c < of_q.width && seen; c++)
                product += at_load(e.j.q, &of_q, (int)r.i, c) * at_load(e.j.k, &of_k, (int)j, c);
            to[j] = seen ? attention_score(&r.p, product, (int)r.i, (int)j) : -INFINITY;
            max = r_max(max, to[j]);
        }
        max = warp_max(max);
        for (int64_t j = threadIdx.x; j < Tk; j += LRA_WARP) {
            bool seen = to[j] > -INFINITY;
            real weight = r.p.laplace ? attention_laplace(seen ? to[j] : R(0.0), &slope)
                                      : r_exp(seen ? to[j] - max : R(0.0));
            to[j] = seen ? weight : R(0.0);
            sum += to[j];
        }
        real one = r.p.laplace ? R(1.0) : at_one(warp_sum(sum));
        for (int64_t j = threadIdx.x; j < Tk; j += LRA_WARP) to[j] *= one;
    }
}

/* Averages the weights over columns, as in lra_moving_average(). */
static __global__ void statistics_average_kernel(statistics_job e)
{
    for (EACH_ROW(row, e.j.s.B * e.j.s.H * STATISTICS_ROWS)) {
        statistics_row r = statistics_row_of(&e, row, false);
        const attention_args *a = &e.j.a;
        int64_t n = r.p.m.n_k, hole = hole_of(&e, &r), Tk = e.j.s.Tk;
        int64_t before = a->smooth_past ? 0 : (a->smooth - 1) / 2;
        const real *from = e.scores + row * Tk;
        real *to = e.map + row * Tk, all = 0;
        for (int64_t c = threadIdx.x; c < Tk; c += LRA_WARP) {
            int64_t low = c - before, high = low + a->smooth;
            int64_t chunk = a->chunk > 0 ? c / a->chunk * a->chunk : 0;
            if (low < chunk) low = chunk;
            if (a->chunk > 0 && high > chunk + a->chunk) high = chunk + a->chunk;
            if (high > n) high = n;
            real sum = 0;
            for (int64_t j = low; j < high && c < n && c != hole; j++) sum += from[j];
            to[c] = sum / (real)a->smooth;
            all += to[c];
        }
        real one = a->renorm ? at_one(warp_sum(all)) : R(1.0);
        for (int64_t c = threadIdx.x; c < Tk; c += LRA_WARP) to[c] *= one;
    }
}

/* Replaces the weights of the first head by the norms of the weighted sums over all heads. */
static __global__ void statistics_combine_kernel(statistics_job e)
{
    const statistics_sizes *z = &e.z;
    for (EACH_ROW(row, e.j.s.B * z->stride * STATISTICS_ROWS)) {
        statistics_row r = statistics_row_of(&e, row, true);
        int64_t H = z->H, Tk = e.j.s.Tk, next = STATISTICS_ROWS * Tk;
        real *map = e.map + (r.head * STATISTICS_ROWS + row % STATISTICS_ROWS) * Tk;
        for (int64_t j = threadIdx.x; j < r.p.m.n_k; j += LRA_WARP) {
            int64_t positions = z->stride > 1 ? z->D : Tk;
            const real *gram = e.gram + (r.p.b * positions + j * z->stride + r.residue) * H * H;
            real sum = 0;
            for (int64_t h = 0; h < H; h++)
                for (int64_t k = 0; k < H; k++)
                    sum += gram[h * H + k] * map[h * next + j] * map[k * next + j];
            map[j] = sum > 0 ? r_sqrt(sum) : R(0.0);
        }
    }
}

/* True if the block lists of any head make key j visible in this row. */
LRA_DEV bool statistics_listed(const statistics_job *e, const statistics_row *r, int64_t j)
{
    if (!r->p.listed.list) return true;
    for (int64_t h = 0; h < e->z.H / e->z.heads; h++) {
        attention_list own = attention_list_at(&e->j.a, &e->j.s, r->head + h, e->j.blocks);
        if (attention_listed(&own, r->i, j)) return true;
    }
    return false;
}

static __global__ void statistics_numbers_kernel(statistics_job e)
{
    const statistics_sizes *z = &e.z;
    for (EACH_ROW(row, e.j.s.B * z->stride * z->heads * STATISTICS_ROWS)) {
        statistics_row r = statistics_row_of(&e, row, true);
        int64_t Tk = e.j.s.Tk, hole = hole_of(&e, &r), count = 0;
        real *map = e.map + (r.head * STATISTICS_ROWS + row % STATISTICS_ROWS) * Tk;
        real sum = 0, dot = 0, square = 0, others = 0, self = 0;
        real *number = e.row + row * LRA_ATTENTION_NUMBERS, *own = e.own + row * STATISTICS_OWN;
        attention_range keys = {0, 0};
        if (r.real_row) keys = attention_keys_of(&r.p.m, r.i);
        keys = statistics_spread(&e.j.a, &r.p.m, r.i, keys);
        for (int64_t j = threadIdx.x; j < Tk; j += LRA_WARP) {
            real w = map[j];
            sum += w, square += w * w;
            if (j == r.i)
                self = w;
            else
                others += w;
            if (w > R(1e-30)) dot += w * r_log2(w);
            count += j >= keys.from && j < keys.to && j != hole && statistics_listed(&e, &r, j);
        }
        sum = warp_sum(sum), square = warp_sum(square), dot = warp_sum(dot);
        others = warp_sum(others), self = warp_sum(self);
        real n = warp_sum((real)count), one = at_one(sum);
        real entropy = sum > 0 ? R(0.69314718055994530942) * (r_log2(sum) - dot * one) : R(0.0);
        for (int64_t j = threadIdx.x; j < Tk; j += LRA_WARP) map[j] *= one;
        if (threadIdx.x != 0) continue;
        bool defined = sum > 0, lone = !(others >= STATISTICS_LONE * sum);
        real share = self * one, most = R(1.0) - STATISTICS_LONE;
        own[0] = !defined ? R(-1.0) : lone ? R(1.0) : r_min(share, most);
        own[1] = defined && !lone ? sum / others : R(0.0);
        number[LRA_ATTENTION_ENTROPY] = entropy;
        number[LRA_ATTENTION_ENTROPY_REL] = defined && n > 1 ? entropy / r_log(n) : R(0.0);
        number[LRA_ATTENTION_SUPPORT] = defined ? sum * sum / square : R(0.0);
        number[LRA_ATTENTION_UNDEFINED] = r.real_row && !defined ? R(1.0) : R(0.0);
        number[LRA_ATTENTION_SEVERAL] = defined && n > 1 ? R(1.0) : R(0.0);
    }
}

/* Adds the numbers of the 64 rows to the totals of each head. */
static __global__ void statistics_totals_kernel(statistics_job e, int64_t n)
{
    const statistics_sizes *z = &e.z;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; at < n; at += (int64_t)gridDim.x * blockDim.x) {
        int64_t k = at % LRA_ATTENTION_NUMBERS, o = at / LRA_ATTENTION_NUMBERS;
        int64_t b = o / z->heads, head = o % z->heads;
        real sum = 0;
        for (int64_t r = 0; r < z->stride; r++)
            for (int64_t i = 0; i < STATISTICS_ROWS; i++) {
                int64_t row = ((b * z->stride + r) * z->heads + head) * STATISTICS_ROWS + i;
                sum += e.row[row * LRA_ATTENTION_NUMBERS + k];
            }
        real *to = e.out + o * z->all + 3 * z->D - 1 + k;
        *to = e.first ? *to + sum : sum;
    }
}

/* Share of the key at position j in a row; 0 if the row does not see it. */
LRA_DEV real share_at(const statistics_job *e, const real *map, int64_t row, int64_t residue,
                      int64_t j)
{
    int64_t S = e->z.stride;
    if (j < 0 || j >= e->z.D || j % S != residue || j / S >= e->j.s.Tk) return 0;
    return map[row * e->j.s.Tk + j / S];
}

/* Sum of the shares of the positions at distance d from position t in an image: max(|dy|,|dx|) =
 * d. */
LRA_DEV real ring_at(const statistics_job *e, const real *map, int64_t row, int64_t residue,
                     int64_t t, int64_t d)
{
    int64_t W = e->z.columns, y = t / W, x = t % W;
    real sum = 0;
    for (int64_t dy = -d; dy <= d; dy++) {
        int64_t step = dy == d || dy == -d || d == 0 ? 1 : 2 * d;
        if (y + dy < 0) continue;
        for (int64_t dx = -d; dx <= d; dx += step)
            if (x + dx >= 0 && x + dx < W)
                sum += share_at(e, map, row, residue, (y + dy) * W + x + dx);
    }
    return sum;
}

/* Contribution of the row at position t to entry k of the statistics that exclude the own key: sums
 * by distance, then p_ii of the row, then sums by distance in pixels. An entry for p_ii is
 * initialised to -1, so the row adds p_ii + 1. */
LRA_DEV real other_at(const statistics_job *e, const real *map, const real *own, int64_t row,
                      int64_t residue, int64_t t, int64_t k)
{
    int64_t D = e->z.D;
    if (k >= D && k < 2 * D) return k - D == t ? own[0] + R(1.0) : R(0.0);
    if (k == 0 || k == 2 * D) return 0;
    if (k < D)
        return own[1] *
               (share_at(e, map, row, residue, t - k) + share_at(e, map, row, residue, t + k));
    return own[1] * ring_at(e, map, row, residue, t, k - 2 * D);
}

static __global__ void statistics_add_kernel(statistics_job e, int64_t n)
{
    const statistics_sizes *z = &e.z;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, numbers = 3 * z->D - 1;
    for (; at < n; at += (int64_t)gridDim.x * blockDim.x) {
        int64_t k = at % z->all, b = at / z->all / z->heads, head = at / z->all % z->heads;
        if (k >= numbers && k < numbers + LRA_ATTENTION_NUMBERS) continue;
        int64_t others = k - z->other;
        real sum = !e.first && others >= z->D && others < 2 * z->D ? R(-1.0) : R(0.0);
        for (int64_t r = 0; r < z->stride; r++) {
            const real *of_rows = e.own + ((b * z->stride + r) * z->heads + head) *
                                              STATISTICS_ROWS * STATISTICS_OWN;
            int64_t own = b * e.j.s.H + r * z->H + head;
            const real *map = e.map + own * STATISTICS_ROWS * e.j.s.Tk;
            int64_t rows = attention_of(&e.j, own, false).m.n_q - e.first;
            for (int64_t i = 0; i < STATISTICS_ROWS && i < rows; i++) {
                int64_t t = (e.first + i) * z->stride + r;
                if (k < 2 * z->D - 1)
                    sum += share_at(&e, map, i, r, t - (k - (z->D - 1)));
                else if (k < numbers)
                    sum += share_at(&e, map, i, r, k - (2 * z->D - 1));
                else if (others < 0)
                    sum += ring_at(&e, map, i, r, t, k - numbers - LRA_ATTENTION_NUMBERS);
                else
                    sum += other_at(&e, map, of_rows + i * STATISTICS_OWN, i, r, t, others);
            }
        }
        e.out[at] = e.first ? e.out[at] + sum : sum;
    }
}

/* Divides the sums over rows by the number of rows that see a key. */
static __global__ void statistics_finish_kernel(statistics_job e, int64_t n)
{
    const statistics_sizes *z = &e.z;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, numbers = 3 * z->D - 1;
    for (; at < n; at += (int64_t)gridDim.x * blockDim.x) {
        int64_t k = at % z->all - numbers, b = at / z->all / z->heads;
        const real *number = e.out + at / z->all * z->all + numbers;
        real rows = (real)attention_of(&e.j, b * e.j.s.H, false).m.all -
                    number[LRA_ATTENTION_UNDEFINED];
        if (k == LRA_ATTENTION_UNDEFINED || k == LRA_ATTENTION_SEVERAL) continue;
        if (k + numbers >= z->other) continue;
        if (k == LRA_ATTENTION_ENTROPY_REL) rows = number[LRA_ATTENTION_SEVERAL];
        e.out[at] *= at_one(rows);
    }
}

/* Sources: q, k, optional sources. Scratch: maps, numbers of the rows. */
LRA_CUDA_BODY(attention_statistics)
{
    statistics_job e;
    e.j = attention_job_of(c, 0, 2);
    e.z = statistics_sizes_of(&e.j.a, &e.j.s);
    int without = attention_source(&e.j.a, ATTENTION_WITHOUT, 2);
    int gram = attention_source(&e.j.a, ATTENTION_GRAM, 2);
    int64_t heads = e.j.s.B * e.j.s.H, map = heads * STATISTICS_ROWS * e.j.s.Tk;
    int64_t groups = e.j.s.B * e.z.heads, n = groups * e.z.all;
    bool averaged = e.j.a.smooth > 1;
    e.j.q = (const elem *)c->in[0], e.j.k = (const elem *)c->in[1];
    e.without = without < 0 ? NULL : (const int32_t *)c->in[without];
    e.gram = gram < 0 ? NULL : (const real *)c->in[gram];
    e.scores = (real *)c->scratch, e.map = averaged ? e.scores + map : e.scores;
    e.row = e.map + map;
    e.own = e.row + groups * e.z.stride * STATISTICS_ROWS * LRA_ATTENTION_NUMBERS;
    e.out = (real *)c->out;
    for (e.first = 0; e.first < e.j.s.Tq; e.first += STATISTICS_ROWS) {
        int64_t rows = STATISTICS_ROWS, numbers = groups * LRA_ATTENTION_NUMBERS;
        LRA_LAUNCH(statistics_scores_kernel, lra_grid(heads * rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0,
                   stream, e);
        if (averaged)
            LRA_LAUNCH(statistics_average_kernel, lra_grid(heads * rows, LRA_BLOCK_WARPS),
                       ROW_BLOCK, 0, stream, e);
        if (e.gram)
            LRA_LAUNCH(statistics_combine_kernel,
                       lra_grid(e.j.s.B * e.z.stride * rows, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream,
                       e);
        LRA_LAUNCH(statistics_numbers_kernel, lra_grid(groups * e.z.stride * rows, LRA_BLOCK_WARPS),
                   ROW_BLOCK, 0, stream, e);
        LRA_LAUNCH(statistics_totals_kernel, lra_grid(numbers, LRA_BLOCK), LRA_BLOCK, 0, stream, e,
                   numbers);
        LRA_LAUNCH(statistics_add_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, e, n);
    }
    LRA_LAUNCH(statistics_finish_kernel, lra_grid(n, LRA_BLOCK), LRA_BLOCK, 0, stream, e, n);
}
