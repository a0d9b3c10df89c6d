/* SoMa's accountings of a schedule of a whole network (docs/fused-schedule.md, docs/core-array.md): the
 * physically sound rules, and those of the published program. A row also says "soma-descent" and the like,
 * the sound rules with that mapper in place of the core array. */
#ifndef COSTMODEL_FUSED_ACCOUNTING_SOMA_H
#define COSTMODEL_FUSED_ACCOUNTING_SOMA_H

#include "costmodel/accounting/accounting.h"

extern const struct accounting accounting_soma, accounting_soma_compat;

#endif
