/* What an OUT.h5 was built from, as one number: two files with the same one hold the same. */
#ifndef RESULTS_CUBE_CUBE_ORIGIN_H
#define RESULTS_CUBE_CUBE_ORIGIN_H

#include <stdint.h>

#include "results/record/provenance.h"
#include "results/record/schema.h"

/* The hash of all that the content of a cube follows from, but for who built it and when: the rows of its
 * journal (`digest` of journal_scan_place), specification, inputs, axes, columns, and the program with its
 * libraries. 0: not known, when `digest` is 0 or memory ran out. */
uint64_t cube_origin(const struct result_schema *schema, const struct provenance *provenance,
                     uint64_t digest);

#endif
