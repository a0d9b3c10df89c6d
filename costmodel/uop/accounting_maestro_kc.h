/* The accounting of uops: MAESTRO's KC-partition on each accelerator of a mesh (kc_cost.h). */
#ifndef COSTMODEL_UOP_ACCOUNTING_MAESTRO_KC_H
#define COSTMODEL_UOP_ACCOUNTING_MAESTRO_KC_H

#include "costmodel/accounting/accounting.h"

extern const struct accounting accounting_maestro_kc;

#endif
