/* Prints a ListOps row as a tree. */
#ifndef LRA_DATASETS_LISTOPS_SHOW_H
#define LRA_DATASETS_LISTOPS_SHOW_H

#include <stdint.h>
#include <stdio.h>

/* Draws a valid row (with or without <eos>) as a tree, with the value after every node. */
void lra_listops_show(const uint16_t *token, int64_t n, FILE *out);

#endif
