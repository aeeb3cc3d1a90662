/* A model is defined by one function that builds the encoder, and one record. To add a model: add a
 * file with the name of the architecture, and one line in models.def. Embedding, positions, pooling
 * and heads are common to all models: network.h. */
#ifndef LRA_MODELS_MODEL_H
#define LRA_MODELS_MODEL_H

#include "kernels/base/core/key.h"
#include "kernels/graph/ops.h"

/* Arguments of an encoder. Arrays whose size depends on the longest input have T_max positions,
 * which is the same in every length bucket; they are sliced to T. */
typedef struct {
    lra_graph *graph;
    const lra_config *config;
    lra_tensor *length; /* (B) int32: length of each row in tokens. Nullable: no padding */
    /* (B,T) int32 position ids for position embeddings. NULL: 0, 1, .. */
    lra_tensor *position_ids;
    int64_t B, T, T_max;
    struct {
        int64_t rows, columns;
        /* height and width of an image in pixels, which is stored row by row; 0: not an image */
    } grid;
    bool causal; /* true if no output may depend on later positions, with these settings */
} lra_build;

typedef enum {
    LRA_POSITIONS_NONE,
    LRA_POSITIONS_SINUSOIDAL,
    LRA_POSITIONS_LEARNED,
    LRA_POSITIONS_ROTARY /* applied by the encoder's attention */
} lra_positions;

/* Initialisation of the input layer, which maps inputs to vectors of the model's width D. */
typedef struct {
    lra_param_spec table;        /* (V,D) embedding table of token ids */
    lra_param_spec weight, bias; /* linear layer for real inputs: (channels,D) and (D) */
    double scale;                /* factor by which the vectors are multiplied; 0: 1 */
} lra_embed_start;

/* Classifier between the pooled features and the logits. */
typedef struct {
    int64_t hidden; /* 0: one linear layer; else Linear(hidden), act, dropout, Linear */
    lra_act act;
    double dropout;
} lra_classifier;

/* A preset of a model: settings of the model and of training ("layers=3 width=32 rate=0.004"). They
 * are applied after the task's own settings for the preset. */
typedef struct {
    /* task names separated by blanks; NULL: every task that no other row names */
    const char *tasks;
    const char *preset; /* "quick", "small", "paper"; NULL ends a table */
    const char *paper;  /* source of the settings: locality, las, spt, lra, own. NULL: this suite */
    const char *settings;
    const char *rungs; /* values of `axis` for the rungs of a ladder, "1,3,5". NULL: none */
} lra_model_preset;
/* Key of models whose papers use attention dropout. The default is 0, so that older configurations
 * keep their meaning. */
#define LRA_ATTENTION_DROPOUT                                                                      \
    LRA_REAL_KEY("attention-dropout", "0", 0, 0.999, "dropout rate of the attention weights")
#define LRA_OWN_PRESET(tasks, settings)                                                            \
    {                                                                                              \
        tasks, "paper", "own", settings, NULL                                                      \
    }

/* Maps an array of the model to its name in published weights: path "encoder/layer%d/out/w", tensor
 * "layers.%d.attention.dense.weight". path NULL: the published array is not a parameter and is
 * skipped. tensor NULL ends a table. */
typedef struct {
    const char *path, *tensor;
} lra_published_name;

/* Sets of pooling kinds: one bit for each kind. LRA_POOLS_ROWS: all kinds except cls. */
#define LRA_POOL_BIT(kind) (1u << (kind))
#define LRA_POOLS_ROWS                                                                             \
    (LRA_POOL_BIT(LRA_POOL_MEAN) | LRA_POOL_BIT(LRA_POOL_LAST) | LRA_POOL_BIT(LRA_POOL_MAX))

typedef struct {
    const char *name, *paper, *summary; /* "resconv", "arXiv:...", a summary in one line */
    const char *deviations;             /* differences from the paper in one line. Nullable: none */
    const lra_key *keys;                /* settings of the model; `width` is D */
    const lra_model_preset *presets;    /* Nullable: every preset has the default settings */
    const char *tiny;                   /* settings of a small test model that uses every feature */
    /* More settings for tests, of features that `tiny` does not cover. NULL-terminated. Nullable:
     * none. */
    const char *const *variants;
    const char *axis; /* key that determines the reach of a ladder's rungs. Nullable: none */
    /* key that changes only the model's number of parameters (for --match). Nullable */
    const char *match;
    /* Builds the encoder: x (B,T,D) -> (B,T,D), normalised and ready for pooling. Reports invalid
     * settings with lra_graph_fail(). */
    lra_tensor *(*encode)(const lra_build *b, lra_tensor *x);
    /* Supported pooling kinds; 0: LRA_POOLS_ROWS. Includes LRA_POOL_BIT(LRA_POOL_CLS) if one
     * position can attend to all others. */
    unsigned pools;
    /* True if padding counts as tokens with these settings: inputs are padded to T_max with token 0
     * or numbers 0, and the encoder has no lengths. Nullable: never. */
    bool (*unmasked)(const lra_config *c);
    /* Reach: maximum distance to one side, in tokens, that influences an output; -1: unbounded. */
    int64_t (*reach)(const lra_config *c);
    /* Reason why a distance limit (graph.h) is undefined for the model: "its memory is summed over
     * all positions". Nullable: the ops of the model apply distance limits. */
    const char *no_limit_reason;
    const char *(*no_limit_reason_with)(
        /* Reason why a distance limit is undefined with these settings; NULL: it is defined.
         * Nullable: `no_limit_reason` holds for all settings */
        const lra_config *c);
    /* True if no output depends on later positions; the reach is then to the past only. Nullable:
     * never. */
    bool (*causal)(const lra_config *c);
    /* True if the encoder is not shift-invariant even without position inputs (for example, fixed
     * block boundaries).  Nullable: never. */
    bool (*position_dependent)(const lra_config *c);
    /* Returns n > 0 if the encoder depends on the position only modulo n tokens, as with blocks of
     * equal size: an input that is truncated at a multiple of n keeps its blocks. 0: the encoder
     * does not depend on the position. T_max: see lra_build. Nullable: 0, or unknown if
     * `position_dependent`. */
    int64_t (*period)(const lra_config *c, int64_t T_max);
    /* True if the encoder itself reads lra_build.position_ids, in addition to the
     * positions added to the inputs. */
    bool reads_position_ids;
    /* Position embeddings added to the inputs. Nullable: none. */
    lra_positions (*positions)(const lra_config *c);
    /* Initialisation of the input layer. Nullable: tables N(0,1), linear layers uniform in
     * +-1/sqrt(channels). */
    lra_embed_start (*embedding)(const lra_config *c, int64_t channels);
    /* classifier after pooling. Nullable: one linear layer */
    lra_classifier (*classifier)(const lra_config *c);
    /* names of arrays in published weights (training/published.h). Nullable: only files of this
     * suite */
    const lra_published_name *published;
    /* True: the classifier is that of MEGA: Linear, dropout, act, Linear without bias; weights
     * Xavier uniform, biases 0. For pairs its input is only the second document and the first
     * document. */
    bool mega_head;
} lra_model;

#define LRA_MODEL(name, paper) extern const lra_model lra_model_##name;
#include "models/models.def"
#undef LRA_MODEL

/* Functions for lra_model.position_dependent: of encoders that always have blocks, and of encoders
 * that have blocks if the key `chunk` is set. */
bool lra_always_position_dependent(const lra_config *c);
bool lra_chunks_position_dependent(const lra_config *c);
/* Functions for lra_model.period: of encoders whose block size is the key `block`, or the key
 * `chunk`. */
int64_t lra_block_period(const lra_config *c, int64_t T_max);
int64_t lra_chunk_period(const lra_config *c, int64_t T_max);
/* Returns the period in tokens of the encoder's dependence on the position; 0: no dependence; -1:
 * not periodic, or unknown. */
int64_t lra_model_period(const lra_model *m, const lra_config *c, int64_t T_max);

/* Returns true if no output depends on later positions with these settings. */
bool lra_model_causal(const lra_model *m, const lra_config *c);

const lra_model *lra_model_at(int i); /* NULL after the last */
/* Returns the preset of a task. A row that names the task takes precedence over the row for all
 * tasks. "paper": the row whose source is `paper`; paper NULL: the row of the locality paper, else
 * of the model's own paper, else of any paper. Returns NULL if there is no such row. */
const lra_model_preset *lra_model_preset_find(const lra_model *m, const char *task,
                                              const char *preset, const char *paper);
/* Returns the reason why a distance limit is undefined with these settings; NULL: it is defined. */
const char *lra_model_no_limit_reason(const lra_model *m, const lra_config *c);
/* Returns the model with this name. If there is none, returns NULL and a message that suggests the
 * most similar name. */
const lra_model *lra_model_find(const char *name, lra_err *e);

#endif
