/* One entry of a list of constraints while it is read. */
#ifndef ENGINES_MAPSPACE_CONSTRAINTS_ENTRY_H
#define ENGINES_MAPSPACE_CONSTRAINTS_ENTRY_H

#include "engines/mapspace/constraints_said.h"

/* What one entry is read with. */
struct constraint_entry {
    const struct yaml_doc *doc;
    const char *machine_path; /* of the file whose constraints are LIST_MACHINE */
    const struct ynode *node;
    const struct problem *problem;
    const struct architecture *arch;
    struct level_constraints *level;
    const char *level_name;
    struct level_said *said; /* where the lists said what stands in `level` */
    int list;                /* which list the entry is of */
    struct dse_error *err;
};

/* What was said holds for the entry's list: it was said there, or by the machine. Else it is replaced. */
static inline bool constraint_holds(const struct constraint_entry *e, const struct said *said)
{
    return said->line && (said->list == e->list || said->list == LIST_MACHINE);
}

/* "unknown WHAT "word" ...; did you mean ...?; accepted: a, b, c" */
enum dse_status constraint_unknown(const struct constraint_entry *e, const struct ynode *node,
                                   const char *what, const char *word, const char *const *known, size_t n);

/* A list of tensors under `key`, if there is one, added to `mask`. */
DSE_MUST_CHECK enum dse_status constraint_read_tensors(const struct constraint_entry *e, const char *key,
                                                       uint32_t *mask);

/* What a temporal entry says of the loops: `factors`, `factors_only`, `no_iteration_over_dataspaces`,
 * `permutation`. */
DSE_MUST_CHECK enum dse_status constraint_read_temporal(const struct constraint_entry *e);

/* A spatial one: also `split`, `dims_x`, `dims_y`. */
DSE_MUST_CHECK enum dse_status constraint_read_spatial(const struct constraint_entry *e);

#endif
