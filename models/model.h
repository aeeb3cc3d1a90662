/* A model is defined by one function that builds the encoder and one record.  To add a model: add a
 * file named after the architecture and one line in models.def.  Embedding, positions, pooling and
 * heads are shared: network.h. */
#ifndef LRA_MODELS_MODEL_H
#define LRA_MODELS_MODEL_H

#include "kernels/base/core/key.h"
#include "kernels/graph/ops.h"

/* Arguments of an encoder.  Arrays whose size depends on the longest input have T_max positions,
 * which is the same in every length bucket, and are sliced to T. */
typedef struct {
    lra_graph *graph;
    const lra_config *config;
    lra_tensor *length; /* (B) int32.  Nullable */
    /* (B,T) int32: position ids of the rows, for added positions.  NULL: 0, 1, .. */
    lra_tensor *places;
    int64_t B, T, T_max;
    struct {
        int64_t rows, columns;
    } grid;      /* of an image in row-major order; 0: none */
    bool causal; /* whether the model is causal with these settings */
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

/* Classifier between the pooled features and the logits. */
typedef struct {
    int64_t hidden; /* 0: one linear layer; else Linear, act, dropout, Linear */
    lra_act act;
    double dropout;
} lra_classifier;

/* A preset of a model: model settings and training settings, applied after the task's own settings
 * for the preset ("layers=3 width=32 rate=0.004"). */
typedef struct {
    const char *tasks;  /* names with blanks between; NULL: every task that no row names */
    const char *preset; /* "quick", "small", "paper"; NULL ends a table */
    const char *paper;  /* source of the settings: locality, las, spt, lra, own.  NULL: ours */
    const char *settings;
    const char *rungs; /* values of `axis`, "1,3,5".  NULL: none */
} lra_model_preset;
/* Key of models whose papers use attention dropout; default 0, so that older configurations keep
 * their meaning. */
#define LRA_ATTENTION_DROPOUT                                                                      \
    LRA_REAL_KEY("attention-dropout", "0", 0, 0.999, "dropout rate of the attention weights")
#define LRA_OWN_PRESET(tasks, settings)                                                            \
    {                                                                                              \
        tasks, "paper", "own", settings, NULL                                                      \
    }

/* Name of an array in published weights: "encoder/layer%d/out/w",
 * "layers.%d.attention.dense.weight". path NULL: not a trained array, skipped; tensor NULL ends a
 * table. */
typedef struct {
    const char *path, *tensor;
} lra_published_name;

/* Set of pooling kinds. */
#define LRA_POOL_BIT(kind) (1u << (kind))
#define LRA_POOLS_ROWS                                                                             \
    (LRA_POOL_BIT(LRA_POOL_MEAN) | LRA_POOL_BIT(LRA_POOL_LAST) | LRA_POOL_BIT(LRA_POOL_MAX))

typedef struct {
    const char *name, *paper, *summary; /* "resconv", "arXiv:...", one line */
    const char *deviations; /* where it differs from its paper, one line.  Nullable: nowhere */
    const lra_key *keys;    /* its settings; `width` is D */
    const lra_model_preset *presets; /* Nullable: the defaults at every preset */
    const char *tiny;                /* settings for a small test model with every part */
    /* Additional settings for tests of features that `tiny` does not cover, NULL-terminated.
     * Nullable: none. */
    const char *const *variants;
    const char *axis;  /* the key that bounds its reach.  Nullable: none */
    const char *match; /* the key that changes only the model's size (--match).  Nullable */
    /* x: (B,T,D); returns (B,T,D), normalised and ready for pooling.
     * Bad values are reported with lra_graph_fail(). */
    lra_tensor *(*encode)(const lra_build *b, lra_tensor *x);
    /* 0: LRA_POOLS_ROWS; includes LRA_POOL_BIT(LRA_POOL_CLS) if a row can attend to all others */
    unsigned pools;
    /* Padding counts like tokens: inputs are padded to T_max with token 0 or numbers 0, and the
     * encoder has no lengths. Nullable: never so. */
    bool (*unmasked)(const lra_config *c);
    /* Reach: maximum distance to one side, in tokens, that influences an output; -1: unbounded. */
    int64_t (*reach)(const lra_config *c);
    /* The reason why a distance limit (graph.h) is undefined for the model: "its memory is summed
     * over all positions".  Nullable: its ops apply limits. */
    const char *unlimited;
    const char *(*unlimited_with)(
        const lra_config *c); /* of some settings.  Nullable: `unlimited` */
    /* True if no output depends on later positions; reach is then to the past only.  Nullable:
     * never. */
    bool (*causal)(const lra_config *c);
    /* True if the encoder is not shift-invariant even without position inputs (for example, fixed
     * block boundaries).  Nullable: never. */
    bool (*rooted)(const lra_config *c);
    /* The encoder depends on the position only modulo this many tokens, as with blocks of equal
     * size: an input that is truncated at a multiple of it keeps its blocks.  0: it does not depend
     * on the position.  T_max: of lra_build.  Nullable: 0, or unknown if `rooted`. */
    int64_t (*period)(const lra_config *c, int64_t T_max);
    /* The encoder itself reads lra_build.places, in addition to the positions added to the
     * inputs. */
    bool reads_places;
    /* Positions added to the embedding.  Nullable: none. */
    lra_positions (*positions)(const lra_config *c);
    /* Nullable: tables N(0,1), linear layers uniform in +-1/sqrt(channels). */
    lra_embed_start (*embedding)(const lra_config *c, int64_t channels);
    lra_classifier (*classifier)(const lra_config *c); /* Nullable: one linear layer */
    const lra_published_name *published; /* training/published.h.  Nullable: only our names */
    /* Hidden layer of MEGA's head: Linear, dropout, act, Linear without bias, initialised Xavier
     * uniform and to 0; for pairs its input is the second document and the first only. */
    bool mega_head;
} lra_model;

#define LRA_MODEL(name, paper) extern const lra_model lra_model_##name;
#include "models/models.def"
#undef LRA_MODEL

/* rooted() of encoders with blocks, and of encoders with blocks if the key `chunk` is set. */
bool lra_always_rooted(const lra_config *c);
bool lra_chunks_position_dependent(const lra_config *c);
/* period() of encoders with the block size in key `block`, or `chunk`. */
int64_t lra_block_period(const lra_config *c, int64_t T_max);
int64_t lra_chunk_period(const lra_config *c, int64_t T_max);
/* The period of the encoder's dependence on the position; 0: no dependence; -1: not periodic, or
 * unknown. */
int64_t lra_model_period(const lra_model *m, const lra_config *c, int64_t T_max);

/* True if no position depends on later ones with these settings. */
bool lra_model_causal(const lra_model *m, const lra_config *c);

const lra_model *lra_model_at(int i); /* NULL after the last */
/* The preset of a task: a row that names the task takes precedence over the row for all tasks.  For
 * "paper", the row published by `paper`; NULL: by the locality paper if it has the model, else by
 * the model's own paper, else by any.  Returns NULL if there is no such row. */
const lra_model_preset *lra_model_preset_find(const lra_model *m, const char *task,
                                              const char *preset, const char *paper);
/* The reason why a distance limit is undefined with these settings; NULL: it is defined. */
const char *lra_model_unlimited(const lra_model *m, const lra_config *c);
/* Fails with a suggestion and LRA_USAGE's message. */
const lra_model *lra_model_find(const char *name, lra_err *e);

#endif
