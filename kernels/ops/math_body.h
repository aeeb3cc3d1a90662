/* exp, tanh and the normal distribution in float32 without branches, tables or calls, so that loops
 * over them are vectorised for every instruction set (if the loop is marked `omp simd` and has no
 * other calls). lanes_template.h has the same functions on explicit vectors, independent of the
 * compiler's vectoriser. Formulas: math_source_body.h. Errors are in units of the last place (ulp,
 * 2^-24 relative), measured by tests/kernels/math_test.c:
 *   exp(x) = 2^n e^r, n = round(x / ln 2), |r| <= ln 2 / 2, e^r a polynomial of degree 6 (error
 *     3e-9 in exact arithmetic): 1 ulp with fused multiply-add, 2 without; 0 below -86.99, where a
 *     result would be below 2^-125.5; infinity from 88.73 on
 *   tanh(x) = m/(m + 2), m = exp(2x) - 1 without cancellation: 4 ulp
 *   P(x < z), z = -|x|: exp(-x^2/2) g((|x| - 3)/(|x| + 3)), g a polynomial of degree 9 (error 8e-9
 *     in exact arithmetic), so that the small tail has no cancellation; the large tail is 1 minus
 *     the small one: 4 ulp for x > -2, below 4 + x^2/2
 * NaN stays NaN. The polynomials are minimax fits. */
#ifndef LRA_OPS_MATH_BODY_H
#define LRA_OPS_MATH_BODY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define F            float
#define F_BITS       uint32_t
#define F_INT        int32_t
#define F_NAME(name) math_##name
#define F_MAX(a, b)  ((b) < (a) ? (a) : (b))
#define F_MIN(a, b)  ((b) > (a) ? (a) : (b))
#include "kernels/ops/math_source_body.h"
#undef F
#undef F_BITS
#undef F_INT
#undef F_NAME
#undef F_MAX
#undef F_MIN

#endif
