/* mega-chunk: mega with attention inside chunks of 128 tokens (4,096 on Path-X). The moving average
 * crosses the borders of chunks. An input shorter than a chunk is one chunk; the last chunk may be
 * incomplete.
 * Source: Ma et al. 2022, Mega: Moving Average Equipped Gated Attention, section 3.5. */
#include "models/mega.h"

static const lra_key keys[] = {LRA_MEGA_KEYS("128"), LRA_KEYS_END};
static const lra_model_preset presets[] = {LRA_MEGA_PRESETS("chunk=4096"),
                                           {NULL, NULL, NULL, NULL, NULL}};
static const char *const variants[] = {"chunk=8 norm=pre attention=laplace", NULL};

const lra_model lra_model_mega_chunk = {
    .name = "mega-chunk",
    .paper = "arXiv:2209.10655",
    .summary = "mega with attention within chunks",
    LRA_MEGA_RECORD,
    .keys = keys,
    .presets = presets,
    .variants = variants,
};
