/* Timeloop's accounting: the numbers of Timeloop v3.0.3 for dense, perfectly factorised mappings
 * (docs/cost-model.md). */
#ifndef COSTMODEL_LOOPNEST_ACCOUNTING_TIMELOOP_H
#define COSTMODEL_LOOPNEST_ACCOUNTING_TIMELOOP_H

#include "costmodel/accounting/accounting.h"

extern const struct accounting accounting_timeloop;

#endif
