/* What a model is: one function that builds the encoder and one record.  To add one: a file named
 * after the architecture and one line in models.def.  Embedding, positions, pooling and heads are
 * shared: network.h. */
#ifndef LRA_MODELS_MODEL_H
#define LRA_MODELS_MODEL_H

#include "kernels/base/core/key.h"
#include "kernels/graph/ops.h"

/* What an encoder is built for.  Arrays whose size depends on the longest input are made for T_max
 * steps, which is the same in every length bucket, and sliced to T. */
typedef struct {
    lra_graph *graph;
    const lra_config *config;
    lra_tensor *length; /* (B) int32.  Nullable */
    lra_tensor *places; /* (B,T) int32: where rows stand, for added positions.  NULL: from 0 on */
    int64_t B, T, T_max;
    struct {
        int64_t rows, columns;
    } grid;      /* of an image, row by row; 0: none */
    bool causal; /* as the record says of these settings */
} lra_build;

typedef enum {
    LRA_POSITIONS_NONE,
    LRA_POSITIONS_SINUSOIDAL,
    LRA_POSITIONS_LEARNED,
    LRA_POSITIONS_ROTARY /* the encoder's own affair */
} lra_positions;

/* How inputs become vectors of the model's width. */
typedef struct {
    lra_param_spec table;        /* (V,D), of tokens */
    lra_param_spec weight, bias; /* (channels,D) and (D), of numbers */
    double scale;                /* of the vectors; 0: 1 */
} lra_embed_start;

/* What stands between the pooled features and the logits. */
typedef struct {
    int64_t hidden; /* 0: one linear layer; else Linear, act, dropout, Linear */
    lra_act act;
    double dropout;
} lra_classifier;

/* What a model is at a preset: its own settings, and those of training that go with them, which are
 * changed behind what the task says of the preset ("layers=3 width=32 rate=0.004"). */
typedef struct {
    const char *tasks;  /* names with blanks between; NULL: every task that no row names */
    const char *preset; /* "quick", "small", "paper"; NULL ends a table */
    const char
        *paper; /* whose published settings they are: locality, las, spt, lra, own.  NULL: ours */
    const char *settings;
    const char *rungs; /* values of `axis`, "1,3,5".  NULL: none */
} lra_model_preset;
/* A key of models whose papers drop weights of attention; 0, so that settings without it stay what
 * they are. */
#define LRA_ATTENTION_DROPOUT                                                                      \
    LRA_REAL_KEY("attention-dropout", "0", 0, 0.999, "share of attention's weights that is dropped")
#define LRA_OWN_PRESET(tasks, settings)                                                            \
    {                                                                                              \
        tasks, "paper", "own", settings, NULL                                                      \
    }

/* What published weights call an array: "encoder/layer%d/out/w",
 * "layers.%d.attention.dense.weight".  path NULL: nothing that is trained, and left out; tensor
 * NULL ends a table. */
typedef struct {
    const char *path, *tensor;
} lra_published_name;

/* What may become of the rows of the encoder before the head. */
#define LRA_POOL_BIT(kind) (1u << (kind))
#define LRA_POOLS_ROWS                                                                             \
    (LRA_POOL_BIT(LRA_POOL_MEAN) | LRA_POOL_BIT(LRA_POOL_LAST) | LRA_POOL_BIT(LRA_POOL_MAX))

typedef struct {
    const char *name, *paper, *summary; /* "resconv", "arXiv:...", one line */
    const char *deviations; /* where it differs from its paper, one line.  Nullable: nowhere */
    const lra_key *keys;    /* its settings; `width` is D */
    const lra_model_preset *presets; /* Nullable: the defaults at every preset */
    const char *tiny; /* changes that make it as small as tests want it, with every part */
    /* Further changes that tests go through, for what `tiny` leaves out, then NULL.  Nullable:
     * none. */
    const char *const *variants;
    const char *axis;  /* the key that bounds its reach.  Nullable: none does */
    const char *match; /* the key that makes it larger or smaller alone (--match).  Nullable */
    /* x: (B,T,D); returns (B,T,D), normalised and ready for pooling.
     * Bad values are reported with lra_graph_fail(). */
    lra_tensor *(*encode)(const lra_build *b, lra_tensor *x);
    unsigned
        pools; /* 0: LRA_POOLS_ROWS; with LRA_POOL_BIT(LRA_POOL_CLS) where a row sees all others */
    /* Padding counts like tokens: inputs are padded to T_max with token 0 or numbers 0, and the
     * encoder has no lengths. Nullable: never so. */
    bool (*unmasked)(const lra_config *c);
    /* How far an output can see to one side, in tokens; -1: unbounded. */
    int64_t (*reach)(const lra_config *c);
    /* Why a limit of distance (graph.h) is undefined for it: "its memory is summed over all
     * positions".  Nullable: its ops obey one. */
    const char *unlimited;
    const char *(*unlimited_with)(
        const lra_config *c); /* of some settings.  Nullable: `unlimited` */
    /* An output sees nothing that follows it; then reach is to the past alone.  Nullable: never
     * so. */
    bool (*causal)(const lra_config *c);
    /* What it does with a row depends on where that stands, whatever is added to the inputs: blocks
     * begin at the first step. Nullable: never so. */
    bool (*rooted)(const lra_config *c);
    /* It depends on the position modulo this many tokens alone, as blocks of equal size do: an
     * input that is cut at a multiple of it keeps its blocks.  0: it does not depend on the
     * position.  T_max: of lra_build.  Nullable: 0, or unknown where `rooted`. */
    int64_t (*period)(const lra_config *c, int64_t T_max);
    /* The encoder itself reads lra_build.places, beyond what is added to the inputs. */
    bool reads_places;
    /* What is added to the embedding.  Nullable: nothing. */
    lra_positions (*positions)(const lra_config *c);
    /* Nullable: tables N(0,1), linear layers uniform in +-1/sqrt(channels). */
    lra_embed_start (*embedding)(const lra_config *c, int64_t channels);
    lra_classifier (*classifier)(const lra_config *c); /* Nullable: one linear layer */
    const lra_published_name *published; /* training/published.h.  Nullable: our names alone */
    /* Of a hidden layer, MEGA's head: Linear, dropout, act, Linear without bias, which start Xavier
     * uniform and at 0; of a pair it is told the second document and the first, nothing else. */
    bool mega_head;
} lra_model;

#define LRA_MODEL(name) extern const lra_model lra_model_##name;
#include "models/models.def"
#undef LRA_MODEL

/* rooted() of encoders with blocks, and of those whose key `chunk` asks for them. */
bool lra_always_rooted(const lra_config *c);
bool lra_chunks_position_dependent(const lra_config *c);
/* period() of encoders whose blocks have the size of key `block`, or `chunk`. */
int64_t lra_block_period(const lra_config *c, int64_t T_max);
int64_t lra_chunk_period(const lra_config *c, int64_t T_max);
/* The period of the position on which the encoder depends; 0: on no position; -1: on the position
 * itself, or unknown. */
int64_t lra_model_period(const lra_model *m, const lra_config *c, int64_t T_max);

/* Whether no position sees those that follow, with these settings. */
bool lra_model_causal(const lra_model *m, const lra_config *c);

const lra_model *lra_model_at(int i); /* NULL after the last */
/* The row of a task and a preset: the one that names the task before the one for all.  Of "paper",
 * published by `paper`; NULL: by the locality paper where it has the model, else by the model's
 * own, else by any.  NULL: there is no such row. */
const lra_model_preset *lra_model_preset_find(const lra_model *m, const char *task,
                                              const char *preset, const char *paper);
/* Why a limit of distance is undefined with these settings; NULL: it is not. */
const char *lra_model_unlimited(const lra_model *m, const lra_config *c);
/* Fails with a suggestion and LRA_USAGE's message. */
const lra_model *lra_model_find(const char *name, lra_err *e);

#endif
