/* Collects facts about official files and counts of their defects. */
#include "datasets/loader/facts.h"

#include <stdarg.h>
#include <stdio.h>

static void add_fact(lra_facts *f, double value, bool defect, const char *name, va_list args)
{
    if (f->n == LRA_MAX_FACTS) LRA_BUG("more than %d facts", LRA_MAX_FACTS);
    vsnprintf(f->name[f->n], sizeof f->name[0], name, args);
    f->defect[f->n] = defect;
    f->value[f->n++] = value;
}

void lra_facts_add(lra_facts *f, double value, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    add_fact(f, value, false, name, args);
    va_end(args);
}

void lra_facts_defect(lra_facts *f, int64_t count, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    add_fact(f, (double)count, true, name, args);
    va_end(args);
}
