/* A second accounting of loop nests, for tests: nothing is reused over time, every level reads its tile of
 * each tensor it keeps anew for every iteration of the temporal loops outside it, bandwidths are no limit,
 * and networks cost nothing. No bound is known. Machines with a GPU part are refused. */
#ifndef TESTS_SUPPORT_ACCOUNTING_REFETCH_H
#define TESTS_SUPPORT_ACCOUNTING_REFETCH_H

#include "costmodel/accounting/accounting.h"

extern const struct accounting accounting_refetch;

#endif
