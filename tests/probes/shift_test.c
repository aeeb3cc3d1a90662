/* Position ids given to the model: the added position encodings are the corresponding rows of the
 * table, models whose blocks begin at the first token report it, and moving an input gives the same
 * outputs as moving the table. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/loader/buckets.h"
#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention.h"
#include "models/training/checkpoint.h"
#include "models/training/session.h"
#include "probes/influence/registry.h"
#include "probes/influence/perturbation.h"
#include "probes/influence/shift.h"
#include "tests/fixtures/subject.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/tiny_group.h"

/* ---- which models may be moved --------------------------------------------------------------- */

enum { T = 24 };

static bool has_blocks(const lra_graph *g)
{
    int n = lra_graph_nodes(g, &lra_op_attention, 0, NULL);
    lra_tensor **node = lra_alloc_array((size_t)n + 1, sizeof *node);
    bool found = false;
    lra_graph_nodes(g, &lra_op_attention, n, node);
    for (int i = 0; i < n; i++) {
        const attention_args *a = (const attention_args *)node[i]->args;
        found = found || a->chunk || a->stride > 1 || a->has >> ATTENTION_BLOCKS & 1u;
    }
    lra_free(node);
    return found;
}

/* Checks that models with blocks report it; the mixtures of linformer are not attention with
 * blocks. */
static void blocks_are_told(const lra_model *m, const char *variant)
{
    lra_err e = {{0}};
    lra_config *c = model_tiny(m, variant);
    lra_network_spec s = {
        .vocab = TRIAL_VOCAB, .outputs = 2, .T_max = T, .explicit_positions = true};
    bool counts = m->unmasked && m->unmasked(c), adds = lra_adds_positions(m, c);
    lra_network k = lra_network_build(LRA_F32, LRA_EVAL, m, c, &s, 2, T);
    assert_int_equal(lra_graph_check(k.graph, &e) == 0, !counts);
    if (counts) assert_non_null(strstr(e.msg, "position ids exist for tokens"));
    if (!counts) {
        bool position_dependent = m->position_dependent && m->position_dependent(c);
        if (position_dependent != (has_blocks(k.graph) || strcmp(m->name, "linformer") == 0))
            fail_msg("%s %s: rooted is %d", m->name, variant, position_dependent);
        assert_int_equal(k.position_ids != NULL, adds || m->reads_position_ids);
    }
    lra_graph_free(k.graph);
    lra_config_free(c);
}

TEST(every_model_tells_blocks)
{
    each_model(blocks_are_told);
}

/* ---- a model --------------------------------------------------------------------------------- */

/* The tiny task, and a transformer with a table of positions. */
static lra_config *settings;
static lra_train_spec spec;
static int64_t C;

static int set_up(void **state)
{
    if (tiny_set_up(state) != 0) return -1;
    settings = model_tiny(&lra_model_transformer, "positions=learned layers=1 dropout=0");
    spec = trained.run.spec;
    spec.model = &lra_model_transformer, spec.model_config = settings;
    C = TINY_CLASSES;
    return 0;
}

static int tear_down(void **state)
{
    lra_config_free(settings);
    return tiny_tear_down(state);
}

/* A graph without position ids, whose table of positions is moved by `by` rows instead. */
typedef struct {
    lra_loaded_model m;
    lra_length_graph *view;
    float *table, *moved;
    int64_t rows, width;
} by_hand;

static void open_by_hand(by_hand *h)
{
    lra_err e = {{0}};
    assert_int_equal(lra_load_model(&h->m, &spec, &trained.device, LRA_INITIAL_WEIGHTS, &e), 0);
    lra_loaded_buckets(&h->m);
    for (int i = 0; i < h->m.n_views; i++)
        lra_length_graph_output(h->m.view[i], h->m.view[i]->network.output);
    OK(lra_loaded_plan(&h->m, &e));
    h->rows = lra_buckets_end(spec.data), h->width = lra_config_int(settings, "width");
    h->table = lra_alloc_array((size_t)(h->rows * h->width), sizeof *h->table);
    h->moved = lra_alloc_array((size_t)(h->rows * h->width), sizeof *h->moved);
    assert_int_equal(lra_params_get(h->m.params, "positions/table", h->table, &e), 0);
}

static void close_by_hand(by_hand *h)
{
    lra_loaded_free(&h->m);
    lra_free(h->table);
    lra_free(h->moved);
}

static void move_table(by_hand *h, int64_t by)
{
    lra_err e = {{0}};
    int64_t n = (h->rows - by) * h->width;
    memset(h->moved, 0, (size_t)(h->rows * h->width) * sizeof *h->moved);
    memcpy(h->moved, h->table + by * h->width, (size_t)n * sizeof *h->moved);
    assert_int_equal(lra_params_set(h->m.params, "positions/table", h->moved, &e), 0);
}

/* Logits of the rows of the test split. */
typedef struct {
    float logits[TINY_ROWS][TINY_CLASSES];
    int32_t length[TINY_ROWS];
} answers;

static int keep_rows(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    answers *a = context;
    float output[64 * TINY_CLASSES];
    assert_int_equal(lra_get(v->plan, v->network.output, output, e), 0);
    for (int64_t i = 0; i < v->rows; i++) {
        if (b->row[i] < 0) continue;
        memcpy(a->logits[b->row[i]], output + i * C, sizeof a->logits[0]);
        a->length[b->row[i]] = b->length[i];
    }
    return 0;
}

static void ask(by_hand *h, int64_t by, answers *a)
{
    lra_err e = {{0}};
    move_table(h, by);
    OK(lra_loaded_run(&h->m, LRA_TEST_SPLIT, NULL, keep_rows, a, &e));
}

static double kl_of(const float *a, const float *b)
{
    double za = 0, zb = 0, sum = 0;
    for (int64_t c = 0; c < C; c++) za += exp((double)a[c]), zb += exp((double)b[c]);
    for (int64_t c = 0; c < C; c++) {
        double p = exp((double)a[c]) / za;
        sum += p * log(p / (exp((double)b[c]) / zb));
    }
    return sum;
}

TEST(moves_are_those_of_the_table)
{
    lra_err e = {{0}};
    lra_shifted s;
    by_hand h;
    answers whole, moved;
    int seen = 0;
    lra_subject subject = subject_of(&spec, &trained.device);
    OK(lra_shift_measure(&subject, LRA_RESET_WEIGHTS, 0, NULL, &s, &e));
    close_subject(&subject);
    assert_int_equal(s.requested, TINY_ROWS);
    open_by_hand(&h);
    ask(&h, 0, &whole);
    for (int k = 0; k < LRA_SHIFTS; k++) {
        double kl = 0;
        int64_t by = lra_shift_steps[k], n = 0;
        if (by < h.rows) ask(&h, by, &moved);
        for (int i = 0; i < TINY_ROWS; i++) {
            if (whole.length[i] + by > spec.data->max_length) continue;
            kl += kl_of(whole.logits[i], moved.logits[i]);
            n++;
        }
        assert_int_equal(s.by[k].n, n);
        assert_true(fabs(s.by[k].kl - kl) <= 1e-6 * (1 + kl));
        if (n) assert_true(s.by[k].kl > 0 && ++seen);
    }
    assert_true(seen >= 2);
    assert_int_equal(s.by[LRA_SHIFTS - 1].n, 0); /* no row has room for a shift by 64 */
    close_by_hand(&h);
    /* A model without position encodings does not depend on the shift. */
    subject = subject_of(&trained.run.spec, &trained.device);
    OK(lra_shift_measure(&subject, LRA_TRAINED_WEIGHTS, 0, NULL, &s, &e));
    close_subject(&subject);
    for (int k = 0; k < LRA_SHIFTS; k++) assert_true(s.by[k].kl == 0);
    assert_true(s.by[0].n > 0);
}

/* ---- masked windows -------------------------------------------------------------------------- */

/* One test row, and the sum of its losses over the 11 windows of 4 tokens at their original
 * positions. */
static int64_t the_row;
static double masked_loss;

static int ask_windows(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    by_hand *h = context;
    lra_batch own = *b;
    const lra_network *k = &v->network;
    float output[64 * TINY_CLASSES];
    int32_t *token = lra_alloc_array((size_t)(k->n * k->T), sizeof *token), length[64] = {0};
    for (int64_t i = 0; i < v->rows; i++) {
        if (b->row[i] != the_row) continue;
        for (int64_t draw = 0; draw < 11; draw++) {
            const lra_perturb c = {lra_part_mask.perturbation, 4,   draw, spec.seed,
                                   (uint64_t)the_row,          NULL};
            int64_t from = lra_perturb_start(&c, b->length[i]);
            memset(token, 0, (size_t)(k->n * k->T) * sizeof *token);
            memcpy(token + i * k->T, b->token + i * k->T + from, 4 * sizeof *token);
            for (int64_t r = 0; r < v->rows; r++) length[r] = 4;
            own.token = token, own.length = length;
            move_table(h, from);
            assert_int_equal(lra_session_set(&spec, k, v->plan, &own, e), 0);
            assert_int_equal(lra_run(v->plan, e), 0);
            assert_int_equal(lra_get(v->plan, k->output, output, e), 0);
            double z = 0;
            for (int64_t n = 0; n < C; n++) z += exp((double)output[i * C + n]);
            masked_loss += log(z) - (double)output[i * C + b->label[i]];
        }
    }
    lra_free(token);
    return 0;
}

static int64_t point_of(const lra_restricted *r, double w)
{
    int64_t p = 0;
    while (r->w[p] != w) p++;
    return p;
}

TEST(masked_windows_keep_their_places)
{
    lra_err e = {{0}};
    lra_restricted mask, keep;
    by_hand h;
    open_by_hand(&h); /* a run whose selected weights are its initial ones */
    assert_int_equal(lra_best_write(&spec, 1, 0, h.m.params, &e), 0);
    lra_subject subject = subject_of(&spec, &trained.device);
    OK(lra_restrict_measure(&subject, lra_part_mask.perturbation, 0, 0, NULL, &mask, &e));
    OK(lra_restrict_measure(&subject, lra_part_keep.perturbation, 0, 0, NULL, &keep, &e));
    close_subject(&subject);
    int64_t p = point_of(&mask, 4), differ = 0;
    for (int64_t i = 0; i < mask.n; i++) {
        const lra_sums *whole = &mask.row[(mask.n_points - 1) * mask.n + i];
        assert_true(whole->loss == mask.full[i].loss && mask.full[i].loss == keep.full[i].loss);
        differ += mask.row[p * mask.n + i].loss != keep.row[p * mask.n + i].loss;
        the_row = mask.index[i], masked_loss = 0;
        OK(lra_loaded_run(&h.m, LRA_TEST_SPLIT, NULL, ask_windows, &h, &e));
        assert_true(fabs(mask.row[p * mask.n + i].loss - masked_loss) < 1e-4);
    }
    assert_int_equal(differ, mask.n);
    lra_restricted_free(&mask);
    lra_restricted_free(&keep);
    close_by_hand(&h);
}

GROUP(set_up, tear_down);
