/* The machines and problems of Mind Mappings for tests, and lines of tests/known/mindmappings. */
#ifndef TESTS_SUPPORT_MM_CASE_H
#define TESTS_SUPPORT_MM_CASE_H

#include <stddef.h>

#include "costmodel/model/architecture.h"
#include "engines/mindmappings/mm_price.h"

/* A shipped machine and a space on it. */
struct mm_case {
    struct architecture arch;
    struct mm_machine machine;
    struct arena arena;
    const struct mm_space *space;
};

/* Begin with the machine of an algorithm, with n overrides (path, value, path, value, ...). */
void mm_case_begin(struct mm_case *c, enum mm_algorithm_id id, const char *const *override, size_t n);

/* Make the space of a problem; those before stay until mm_case_end. */
const struct mm_space *mm_case_space(struct mm_case *c, const uint32_t *size, enum mm_mode mode);
void mm_case_end(struct mm_case *c);

enum { MM_FIELD_MAX = 80, MM_LINE_MAX = 1024 };

/* The lines of a table, without comments and header: mm_table_next sets the fields, and returns 0 behind the
 * last. */
struct mm_table {
    char *text;
    size_t length, at;
    int header; /* 1: it is still to come */
    char line[MM_LINE_MAX];
    const char *field[MM_FIELD_MAX]; /* (n) */
    size_t n;
};

void mm_table_open(struct mm_table *table, const char *name);
int mm_table_next(struct mm_table *table);
void mm_table_close(struct mm_table *table);

/* The problem of that name in problems.csv; the algorithm is returned. */
enum mm_algorithm_id mm_case_problem(const char *name, uint32_t *size);

#endif
