/* Attributes of a file's root that are members of a struct: listed once, written, read and freed by
 * the list. */
#ifndef LRA_REPORTS_RESULTS_ATTRIBUTE_SCHEMA_H
#define LRA_REPORTS_RESULTS_ATTRIBUTE_SCHEMA_H

#include <stddef.h>

#include "kernels/base/formats/h5.h"

typedef struct {
    const char *name;
    size_t offset;
    enum {
        LRA_ATTRIBUTE_TEXT,
        LRA_ATTRIBUTE_INT,
        LRA_ATTRIBUTE_REAL
    } kind;        /* char *, int64_t, double */
    int64_t least; /* of an int64_t; most: 2^60 */
} lra_attribute;
/* {LRA_MEMBER(lra_result, seed), LRA_ATTRIBUTE_INT, 0} */
#define LRA_MEMBER(type, member) #member, offsetof(type, member)
/* The attribute `member` of a struct that is the member `record` of type. */
#define LRA_NESTED_MEMBER(type, record, member) #member, offsetof(type, record.member)

int lra_attributes_write(lra_h5 *f, const lra_attribute *field, int n, const void *record,
                         lra_err *e);
/* Reads the attributes into the record; fails if a number is out of range.  Texts are owned by the
 * record; after a failure, too, they are freed with lra_attributes_free(). */
int lra_attributes_read(lra_h5 *f, const lra_attribute *field, int n, void *record, lra_err *e);
void lra_attributes_free(const lra_attribute *field, int n, void *record);

#endif
