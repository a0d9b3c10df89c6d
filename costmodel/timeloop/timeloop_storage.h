/* From the attributes of one Timeloop component to a storage level or the MACs. */
#ifndef COSTMODEL_TIMELOOP_TIMELOOP_STORAGE_H
#define COSTMODEL_TIMELOOP_TIMELOOP_STORAGE_H

#include <stdbool.h>

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/timeloop/timeloop_attribute.h"

/* Fill `level` from a storage component of class `class_name` ("" in the flat format). `*fixed_energy`: the
 * file gives vector-access-energy, which an ERT does not change. */
DSE_MUST_CHECK enum dse_status timeloop_storage_build(const struct timeloop_component *component,
                                                      const char *class_name, struct storage_level *level,
                                                      bool *fixed_energy, struct dse_error *err);

/* Fill the MACs. `*fixed_energy`: an override gives the energy, which an ERT then does not change. */
DSE_MUST_CHECK enum dse_status timeloop_mac_build(const struct timeloop_component *component,
                                                  struct mac_array *mac, bool *fixed_energy,
                                                  struct dse_error *err);

#endif
