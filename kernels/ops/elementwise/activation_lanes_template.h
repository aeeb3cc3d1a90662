/* Activations of SIMD vectors: lanes_gelu(v), lanes_gelu_slope(v), ...  Formulas:
 * activation_source_body.h. */
#ifndef LRA_OPS_ELEMENTWISE_ACTIVATION_LANES_TEMPLATE_H
#define LRA_OPS_ELEMENTWISE_ACTIVATION_LANES_TEMPLATE_H

#include "kernels/ops/elementwise/activation.h"
#include "kernels/ops/lanes_template.h"

#if LRA_TYPE_f64
#define lanes_normal act_normal
#endif
#define F            lanes
#define F_NAME(name) lanes_##name
#define F_MATH(name) lanes_##name
#define F_MAX(a, b)  lanes_max(lanes_of(a), b)
#define F_STEP(x)    lanes_step(x)
#include "kernels/ops/elementwise/activation_source_body.h"
#undef F
#undef F_NAME
#undef F_MATH
#undef F_MAX
#undef F_STEP

#endif
