/* The row of a cell that takes the schedule of another one. */
#ifndef DSE_EXCHANGE_EXCHANGE_ROW_H
#define DSE_EXCHANGE_EXCHANGE_ROW_H

#include "dse/solve/solve.h"
#include "dse/spec/sweep.h"
#include "results/record/schema.h"

/* What a cell takes; all borrowed. */
struct exchange_answer {
    const struct engine_schedule *schedule; /* priced on the cell's machine, with its area */
    const char *mapping;                    /* its text, as the layer table has it */
    const char *from;                       /* sweep_exchange_place of the cell whose search found it */
};

/* Put the answer into the rows of the cell's own search: `point`, which is ok, infeasible or timed out, and
 * its one `layer`. What these say of the search (stop, evaluations, trace, ...) and what only a search knows
 * of a schedule stays. */
void exchange_row(const struct result_schema *schema, const struct solve_settings *settings,
                  const struct workload *workload, const struct exchange_answer *answer,
                  struct point_record *point, struct layer_record *layer);

#endif
