/* A network on the edge core of SoMa (512 MACs per PE, 4 x 4 PEs, 256 bytes per cycle), ready for
 * soma_parse. */
#ifndef TESTS_SUPPORT_SOMA_CASE_H
#define TESTS_SUPPORT_SOMA_CASE_H

#include "costmodel/fused/core_cache.h"
#include "engines/soma/search/search.h"
#include "tests/support/fused_oracle.h"

/* Tiles of a scheduler, on a core where tensors stream. */
struct soma_case_streams {
    struct core_scheduler inner;
    uint32_t roles;
};

struct soma_case {
    struct network network;
    struct soma_graph graph;
    struct core_array core;
    struct core_cache *cache; /* NULL: none */
    struct core_cached cached;
    struct soma_case_streams streams;
    struct soma_context context; /* batch 1, compat */
    struct soma_fault_info fault;
    struct fused_schedule schedule;
    struct arena arena;
    struct dse_error err;
};

/* Fails the test when something cannot be read. */
void soma_case_open(struct soma_case *c, const char *network_path, uint64_t buffer_byte);
void soma_case_close(struct soma_case *c);

/* Remember from now on what tiles cost. The case stays where it is. */
void soma_case_cache(struct soma_case *c);

/* Tensors of these roles (bits) go past the buffer from now on, by the default rules: by shape of the tile
 * some cross the border more than once, some leave room beside them, and weights of some come in pieces. The
 * case stays where it is. */
void soma_case_stream(struct soma_case *c, uint32_t roles);

/* Stores at another rate, and each way at another price. */
void soma_case_ways(struct fused_machine *machine);

/* The network on a machine with another buffer and so many bytes per cycle of DRAM (84 pJ each), at 1 GHz,
 * for energy times delay; loads and stores alike. */
struct soma_search soma_case_search(const struct soma_case *c, uint64_t buffer_byte,
                                    uint64_t dram_byte_per_cycle);

/* Parse; fails the test on an error. The schedule is of c->arena. Returns whether the LFA is valid. */
bool soma_case_parse(struct soma_case *c, const struct soma_lfa *lfa);

/* Parse the text of a scheme ("scheme.yaml") and read it: soma_read. */
enum dse_status soma_case_read(const char *text, size_t length, const struct network *network,
                               struct arena *arena, struct soma_lfa *lfa, struct soma_dlsa *dlsa,
                               bool *has_dlsa, struct dse_error *err);

/* One text per group, comma-separated: "cut", tiles, layer names ("cut 2 A B"). At most 64 layers. */
struct soma_lfa soma_case_lfa(struct soma_case *c, const char *groups);

/* The layer-fusion attributes of an oracle, and its DRAM order and living durations. Memory of c->arena. */
struct soma_lfa soma_case_oracle_lfa(struct soma_case *c, const struct fused_oracle *oracle);
struct soma_dlsa soma_case_oracle_dlsa(struct soma_case *c, const struct fused_oracle *oracle);

#endif
