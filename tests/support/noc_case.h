/* Small transaction programs by hand. */
#ifndef TESTS_SUPPORT_NOC_CASE_H
#define TESTS_SUPPORT_NOC_CASE_H

#include <stdint.h>

#include "costmodel/noc/noc.h"

enum { NOC_CASE_TRANSACTION_MAX = 256, NOC_CASE_ENTRY_MAX = 4096 };

/* Add by noc_case_send and noc_case_count, then noc_case_run. */
struct noc_case {
    struct noc_config config;
    struct noc_program program;
    struct noc_transaction transaction[NOC_CASE_TRANSACTION_MAX];
    uint32_t destination[NOC_CASE_ENTRY_MAX], dependency[NOC_CASE_ENTRY_MAX];
    uint64_t start[NOC_CASE_TRANSACTION_MAX], finish[NOC_CASE_TRANSACTION_MAX];
    struct noc_result result;
};

/* An empty program on the default mesh of `pe_columns` x `pe_rows` PEs. */
void noc_case_init(struct noc_case *c, uint32_t pe_columns, uint32_t pe_rows);

/* `packets` from port `actor` to the ports in `destinations` ("0 4 8"), after the transactions in
 * `dependencies`. Returns the id. A multicast when `multicast`. */
uint32_t noc_case_send(struct noc_case *c, bool multicast, uint32_t actor, uint32_t packets,
                       const char *destinations, const char *dependencies);
uint32_t noc_case_count(struct noc_case *c, uint32_t actor, uint32_t cycles, const char *dependencies);

/* Simulate; fills start, finish, result. */
enum dse_status noc_case_run(struct noc_case *c, uint64_t max_cycle, struct dse_error *err);

#endif
