/* The pixel order of pMNIST. */
#ifndef LRA_DATASETS_MNIST_H
#define LRA_DATASETS_MNIST_H

#include <stdint.h>

/* Token i of pMNIST is pixel order[i]; order: (LRA_MNIST_PIXELS). The order is the numbers 0..1023
 * with their ten bits reversed, without those that are not pixels: 0 512 256 768 128 640 384 64
 * ... */
void lra_mnist_reversed_bits(int64_t *order);

#endif
