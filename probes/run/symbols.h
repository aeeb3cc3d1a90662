/* Data as symbols, for model-free statistics. Tokens are symbols as they are; if there are more
 * than 256, the 255 most frequent ones in training and one for the rest. Numbers and levels are put
 * into 16 bins of equal share in training (fewer where many are equal); of several numbers per
 * token, the first is used. */
#ifndef LRA_PROBES_RUN_SYMBOLS_H
#define LRA_PROBES_RUN_SYMBOLS_H

#include "analysis/pair_information.h"
#include "datasets/loader/dataset.h"

enum { LRA_BINS = 16, LRA_COUNT_STEPS = 16000000 };

/* Coding of a token: a symbol by its id, or by the bin of its number. */
typedef struct {
    bool numbers;
    int64_t vocab;
    uint8_t *symbol; /* (vocab) */
    int n_edges;
    double edge[LRA_BINS]; /* lower bounds of the bins, except the first */
} lra_coding;

void lra_coding_of(const lra_dataset *d, lra_coding *c);
void lra_coding_free(lra_coding *c);

/* Rows of a split. */
typedef struct {
    lra_symbols rows; /* of start and symbol */
    int64_t *start;
    uint8_t *symbol;
    int32_t *label;
} lra_coded;

/* Codes rows evenly spread over the split, of about `steps` steps in total; rows of a stream are
 * windows of it. first: of pairs, only the first document. */
void lra_code(const lra_dataset *d, const lra_coding *by, int split, int64_t steps, bool first,
              lra_coded *to);
void lra_coded_free(lra_coded *c);
/* Codes row i of a split completely; symbol: room for its steps. Returns the number of steps. */
int64_t lra_code_row(const lra_dataset *d, const lra_coding *by, int split, int64_t i,
                     uint8_t *symbol);

#endif
