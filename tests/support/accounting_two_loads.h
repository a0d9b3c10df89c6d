/* A second accounting of schedules, for tests: what the DRAM moves costs twice the energy, tiles and times
 * are those of SoMa's sound rules, and no bound is known. */
#ifndef TESTS_SUPPORT_ACCOUNTING_TWO_LOADS_H
#define TESTS_SUPPORT_ACCOUNTING_TWO_LOADS_H

#include "costmodel/accounting/accounting.h"

extern const struct accounting accounting_two_loads;

#endif
