/* The one-line notation and its reports as what `dse eval` takes from an accounting. */
#ifndef COSTMODEL_INTERSTELLAR_POINTS_REPORT_H
#define COSTMODEL_INTERSTELLAR_POINTS_REPORT_H

#include "costmodel/accounting/accounting.h"

extern const struct point_format interstellar_points;

#endif
