/* Shared code of the tasks with a dependency distance: parameters, rows, baselines. */
#include "datasets/distance.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { MAX_LENGTH = 1 << 16, MAX_ROWS = 1 << 24, LEARNED_ROWS = 4096, LOOKED_AT = 32 };

/* ---- rows ------------------------------------------------------------------------------------ */

static lra_distance_shape shape_of(const lra_config *c)
{
    return (lra_distance_shape){lra_config_int(c, "distance"), lra_config_int(c, "length"),
                                (uint32_t)lra_config_int(c, "fillers"),
                                lra_config_int(c, "copies")};
}

static int64_t room_of(const lra_distance_kind *k, const lra_distance_shape *s)
{
    return s->length - 1 - k->span * s->distance - k->more;
}

/* Returns true if `copies` groups certainly fit into a row: the copies - 1 groups placed first
 * leave a start position for the last one. If the last group can move by less than meet * distance
 * tokens, at most `meet` of its parts can collide with a placed group, and each of these parts
 * excludes at most `taken` start positions. */
static bool has_room(const lra_distance_kind *k, const lra_distance_shape *s)
{
    int64_t room = room_of(k, s);
    for (int64_t meet = 1; meet <= k->zones; meet++) {
        int64_t moves = meet < k->zones && room >= meet * s->distance ? meet * s->distance - 1
                                                                      : room;
        if (moves >= k->taken * (s->copies - 1) * meet) return true;
    }
    return false;
}

int lra_distance_validate(const lra_distance_kind *k, const lra_config *c, lra_err *e)
{
    lra_distance_shape shape = shape_of(c);
    if (has_room(k, &shape)) return 0;
    while (!has_room(k, &shape)) shape.length++;
    return lra_fail_usage(e, "%lld cop%s at distance %lld need rows of %lld tokens; length is %lld",
                          (long long)shape.copies, shape.copies == 1 ? "y" : "ies",
                          (long long)shape.distance, (long long)shape.length,
                          (long long)lra_config_int(c, "length"));
}

static bool is_free(const lra_distance_kind *k, const uint16_t *token, const int64_t *at)
{
    for (int i = 0; i < k->n_marks; i++)
        if (token[at[i]] < k->filler) return false;
    return true;
}

static void draw(const lra_distance_kind *k, const lra_distance_shape *s, lra_rng *rng,
                 int32_t label, uint16_t *token)
{
    int64_t room = room_of(k, s), at[LRA_DISTANCE_MAX_MARKS];
    uint16_t mark[LRA_DISTANCE_MAX_MARKS];
    for (int64_t t = 0; t < s->length; t++)
        token[t] = (uint16_t)(k->filler + lra_rng_below(rng, s->fillers));
    for (int64_t g = 0; g < s->copies; g++) {
        do k->group(s, rng, room, label, at, mark);
        while (!is_free(k, token, at));
        for (int i = 0; i < k->n_marks; i++) token[at[i]] = mark[i];
    }
}

int lra_distance_make(const lra_distance_kind *k, const lra_config *c,
                      lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    if (lra_distance_validate(k, c, e) != 0) return LRA_USAGE;
    lra_distance_shape shape = shape_of(c);
    /* The distance is part of the seed, so that rows of different distances are independent. */
    uint64_t seed = (uint64_t)lra_config_int(c, "data-seed") ^ (uint64_t)shape.distance << 32,
             index = 0;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        int64_t n = lra_config_int(c, lra_split_names[s]);
        uint16_t *token = lra_sequences_extend(&split[s], n, shape.length, 1, e);
        if (!token) return LRA_FAILED;
        for (int64_t i = 0; i < n; i++) {
            lra_rng rng = lra_rng_new(seed, k->stream, index++);
            split[s].label[i] = (int32_t)(i % k->n_classes);
            draw(k, &shape, &rng, split[s].label[i], token + i * shape.length);
        }
    }
    return 0;
}

void lra_distance_redraw(const lra_distance_kind *k, const lra_dataset *d, lra_rng *rng,
                         lra_row *row)
{
    lra_distance_shape shape = shape_of(d->config);
    row->label = (int32_t)lra_rng_below(rng, (uint32_t)k->n_classes);
    draw(k, &shape, rng, row->label, row->token);
}

void lra_distance_starts(const lra_distance_shape *s, lra_rng *rng, int64_t room, int n,
                         int64_t stride, int64_t *at)
{
    /* Floyd's sampling: draws n different numbers below room + n, ascending; the spacing is added
     * below. */
    for (int i = 0; i < n; i++) {
        int64_t x = lra_rng_below(rng, (uint32_t)(room + i) + 1);
        int k = i;
        for (int j = 0; j < i; j++)
            if (at[j] == x) x = room + i;
        while (k > 0 && at[k - 1] > x) at[k] = at[k - 1], k--;
        at[k] = x;
    }
    for (int i = 0; i < n; i++) at[i] += s->distance + i * (stride - 1);
}

void lra_distance_order(lra_rng *rng, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        int j = (int)lra_rng_below(rng, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

/* ---- baselines ------------------------------------------------------------------------------- */

/* Naive Bayes on one feature: its counts in the rows of each class, then log-probabilities. */
typedef struct {
    int vocab, n_classes;
    int64_t from, to; /* offsets between the tokens of a pair, inclusive; 0 to 0: single tokens */
    bool bigram;      /* the feature includes the token after the first token of the pair */
    /* (features, classes) counts, from which log-probabilities are computed in place */
    double *score;
} bayes;

static int64_t n_features(const bayes *b)
{
    int64_t n = b->vocab;
    if (b->to > 0) n *= (b->to - b->from + 1) * b->vocab;
    return b->bigram ? n * b->vocab : n;
}

static int64_t feature(const bayes *b, const uint16_t *token, int64_t t, int64_t offset)
{
    if (b->to == 0) return token[t];
    int64_t pair = ((offset - b->from) * b->vocab + token[t]) * b->vocab + token[t + offset];
    return b->bigram ? pair * b->vocab + token[t + 1] : pair;
}

/* Adds `by` to the counts of the row's class for each feature of the row; adds the scores of these
 * features to total (n_classes). Nullable: total. */
static void walk(bayes *b, const uint16_t *token, int64_t n, int32_t label, double by,
                 double *total)
{
    for (int64_t offset = b->from; offset <= b->to; offset++)
        for (int64_t t = 0; t + offset < n && t + b->bigram < n; t++) {
            double *score = b->score + feature(b, token, t, offset) * b->n_classes;
            score[label] += by;
            for (int c = 0; c < b->n_classes && total; c++) total[c] += score[c];
        }
}

static void learn(bayes *b, const lra_sequences *train)
{
    int64_t size = n_features(b) * b->n_classes;
    int64_t n = train->n < LEARNED_ROWS ? train->n : LEARNED_ROWS;
    double *all = lra_alloc_array((size_t)b->n_classes, sizeof *all);
    for (int64_t i = 0; i < n; i++)
        walk(b, train->token + train->start[i], train->start[i + 1] - train->start[i],
             train->label[i], 1, NULL);
    for (int64_t i = 0; i < size; i++) all[i % b->n_classes] += b->score[i] + 1;
    for (int64_t i = 0; i < size; i++) b->score[i] = log((b->score[i] + 1) / all[i % b->n_classes]);
    lra_free(all);
}

static void predict(bayes *b, const lra_sequences *of, int32_t *predicted)
{
    double *total = lra_alloc_array((size_t)b->n_classes, sizeof *total);
    for (int64_t i = 0; i < of->n; i++) {
        memset(total, 0, (size_t)b->n_classes * sizeof *total);
        walk(b, of->token + of->start[i], of->start[i + 1] - of->start[i], 0, 0, total);
        predicted[i] = 0;
        for (int c = 1; c < b->n_classes; c++)
            if (total[c] > total[predicted[i]]) predicted[i] = c;
    }
    lra_free(total);
}

/* Returns true if every second element of a dependency has its first element `distance` tokens
 * earlier. If a dependency begins with a bigram, the token two positions before the first element
 * must be a first element, too. */
static bool fits(const lra_distance_kind *k, const uint16_t *token, int64_t n, int64_t distance)
{
    for (int64_t t = 0; t < n; t++) {
        if (token[t] < k->second || token[t] >= k->filler) continue;
        int64_t first = t - distance;
        if (first < 0 || token[first] >= k->first) return false;
        if (k->bigram && (first < 2 || token[first - 2] >= k->first)) return false;
    }
    return true;
}

static int64_t distance_of(const lra_distance_kind *k, const lra_sequences *rows)
{
    for (int64_t distance = 1;; distance++) {
        bool all = true;
        for (int64_t i = 0; i < rows->n && i < LOOKED_AT && all; i++)
            all = fits(k, rows->token + rows->start[i], rows->start[i + 1] - rows->start[i],
                       distance);
        if (all) return distance;
    }
}

const char *lra_distance_baseline(const lra_distance_kind *k, int b, const lra_sequences *train,
                                  const lra_sequences *of, int32_t *predicted)
{
    enum { BAG, BELOW, ORACLE, BASELINES };
    static const char *const names[BASELINES] = {"bag-of-tokens", "pairs-below", "oracle"};
    if (b < 0 || b >= BASELINES) return NULL;
    int64_t distance = distance_of(k, train);
    bayes model = {.vocab = k->filler + LRA_DISTANCE_MAX_FILLERS, .n_classes = k->n_classes};
    if (b == BELOW) model.from = 1, model.to = distance - 1;
    if (b == ORACLE) model.from = model.to = distance, model.bigram = k->bigram;
    model.score = lra_alloc_array((size_t)(n_features(&model) * k->n_classes), sizeof(double));
    learn(&model, train);
    predict(&model, of, predicted);
    lra_free(model.score);
    return names[b];
}

void lra_distance_marks(const lra_distance_kind *k, const lra_row *row, bool *marked)
{
    for (int64_t i = 0; i < row->n; i++) marked[i] = row->token[i] < k->filler;
}

void lra_distance_show(const lra_row *row, const char *const *names, FILE *out)
{
    for (int64_t t = 0; t < row->n; t++)
        fprintf(out, "%s%s", names[row->token[t]], t + 1 < row->n ? " " : "\n");
}
