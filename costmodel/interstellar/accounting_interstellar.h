/* The accountings of Interstellar (Yang et al., ASPLOS 2020): by saner rules, and by those of the authors'
 * program. Docs: docs/interstellar.md. */
#ifndef COSTMODEL_INTERSTELLAR_ACCOUNTING_INTERSTELLAR_H
#define COSTMODEL_INTERSTELLAR_ACCOUNTING_INTERSTELLAR_H

#include "costmodel/accounting/accounting.h"

extern const struct accounting accounting_interstellar;
extern const struct accounting accounting_interstellar_compat;

#endif
