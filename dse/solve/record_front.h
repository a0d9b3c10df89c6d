/* The columns of fronts, of a point whose layers each have one (the objective pareto). */
#ifndef DSE_SOLVE_RECORD_FRONT_H
#define DSE_SOLVE_RECORD_FRONT_H

#include "dse/solve/network_front.h"
#include "dse/solve/record.h"

/* Does each problem of the source have a front? */
bool record_has_fronts(const struct record_source *source);

/* Fill n_front and front of the point and the columns of its layers' fronts. Texts in `arena`; those of
 * mappings with source->texts. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status record_front(const struct record_source *source,
                                            const struct network_front *front, struct arena *arena,
                                            struct point_record *point, struct layer_record *layer,
                                            struct dse_error *err);

#endif
