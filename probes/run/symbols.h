/* Data as symbols, for model-free statistics. A token id is its own symbol; if there are more than
 * 256 ids, the 255 most frequent ones in the training split have a symbol each, and all others
 * share one. Numbers and pixel levels are put into 16 bins of equal frequency in the training split
 * (fewer if many values are equal). If a token has several numbers, the first is used. */
#ifndef LRA_PROBES_RUN_SYMBOLS_H
#define LRA_PROBES_RUN_SYMBOLS_H

#include "analysis/pair_information.h"
#include "datasets/loader/dataset.h"

enum { LRA_BINS = 16, LRA_COUNT_STEPS = 16000000 };

/* Maps a token to a symbol: by its id, or by the bin of its number. */
typedef struct {
    bool numbers;
    int64_t vocab;
    uint8_t *symbol; /* (vocab) symbol of each id */
    int n_edges;
    double edge[LRA_BINS]; /* lower bounds of the bins, except the first */
} lra_coding;

void lra_coding_of(const lra_dataset *d, lra_coding *c);
void lra_coding_free(lra_coding *c);

/* Coded rows of a split. */
typedef struct {
    lra_symbols rows; /* view of start and symbol */
    int64_t *start;
    uint8_t *symbol;
    int32_t *label;
} lra_coded;

/* Codes rows that are evenly spread over the split, about `steps` tokens in total. Rows of a stream
 * are windows. first: codes only the first document of a pair. */
void lra_code(const lra_dataset *d, const lra_coding *by, int split, int64_t steps, bool first,
              lra_coded *to);
void lra_coded_free(lra_coded *c);
/* Codes row i of a split completely: symbol has room for its tokens. Returns the number of
 * tokens. */
int64_t lra_code_row(const lra_dataset *d, const lra_coding *by, int split, int64_t i,
                     uint8_t *symbol);

#endif
