/* The mesh simulator once more, as plainly as possible: every router, port and DRAM command in every cycle,
 * all decided from the state at the start of the cycle. Slow; at most 64 routers. What costmodel/noc/noc.h
 * must agree with. */
#ifndef TESTS_SUPPORT_NOC_PLAIN_H
#define TESTS_SUPPORT_NOC_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/noc/noc.h"

enum { NOC_PLAIN_ROUTER_MAX = 64 };

/* Start and finish (n_transaction) of each transaction, and the result. False: not done within `max_cycle`,
 * or no memory. */
bool noc_plain_simulate(const struct noc_config *config, const struct noc_program *program,
                        uint64_t max_cycle, uint64_t *start, uint64_t *finish, struct noc_result *result);

#endif
