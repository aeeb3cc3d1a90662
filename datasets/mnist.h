/* How pMNIST is permuted. */
#ifndef LRA_DATASETS_MNIST_H
#define LRA_DATASETS_MNIST_H

#include <stdint.h>

/* order: (LRA_MNIST_PIXELS); step i of pMNIST is pixel order[i]: the numbers 0..1023 with their ten
 * bits reversed, without those that are not pixels: 0 512 256 768 128 640 384 64 ... */
void lra_mnist_reversed_bits(int64_t *order);

#endif
