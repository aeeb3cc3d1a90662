/* Profiles by distance of the Jacobians of one set of weights (probes/shared/jacobian.h): of
 * J(i,j), of its square and, for images, with distances in pixels. */
#ifndef LRA_PROBES_INFLUENCE_JACOBIAN_PROFILES_H
#define LRA_PROBES_INFLUENCE_JACOBIAN_PROFILES_H

#include "analysis/profile.h"
#include "probes/influence/part.h"
#include "probes/shared/jacobian.h"

enum { LRA_JACOBIAN_POSITIONS = 32, LRA_JACOBIAN_DRAWS = 8 };
enum { LRA_JACOBIAN_PLAIN, LRA_JACOBIAN_SQUARES, LRA_JACOBIAN_PIXELS, LRA_JACOBIAN_PROFILES };

/* Rows of several examples of a batch arrive interleaved; they are kept until their example is
 * complete. */
typedef struct {
    lra_profile *profile[LRA_JACOBIAN_PROFILES]; /* NULL: not requested, or inputs are no images */
    int n_open;
    struct lra_open_example {
        int64_t example, T, n;
        int64_t i[LRA_JACOBIAN_POSITIONS], allowed[LRA_JACOBIAN_POSITIONS];
        double *size, *square; /* (positions, T) J(i,j) and J(i,j)^2 */
    } * open;
    lra_jacobian_report report;
} lra_jacobian_profiles;

/* Opens the profiles; all: also those of squares and of pixels. The caller closes them. */
void lra_jacobian_profiles_open(lra_jacobian_profiles *a, const lra_influence *p, bool all);
void lra_jacobian_profiles_close(lra_jacobian_profiles *a);
/* Adds the Jacobians of a sample, at `positions` positions of each example, at most
 * LRA_JACOBIAN_POSITIONS. Nullable: layer, the features before the pool */
int lra_jacobian_profiles_measure(lra_influence *p, int64_t examples, int64_t positions,
                                  const char *layer, lra_subject_weights weights,
                                  lra_jacobian_profiles *to, lra_err *e);
/* Cost of one such call, in passes. */
double lra_jacobian_profiles_passes(const lra_influence *p, int64_t examples, int64_t positions);

#endif
