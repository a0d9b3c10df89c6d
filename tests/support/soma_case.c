/* Opens network and machine, and makes schemes from short texts or from published tables. */
#include "tests/support/soma_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COST_MAX = 1 << 20 };

/* Benchmarks link this file too, and they have no test library to report to. */
static void give_up(const char *what, const char *name)
{
    (void)fprintf(stderr, "soma_case: %s%s\n", what, name);
    abort();
}

static void check_ok(const struct soma_case *c, enum dse_status status)
{
    if (status != DSE_OK)
        give_up(c->err.text, "");
}

static void *allocate(struct soma_case *c, size_t n, size_t size)
{
    void *memory = arena_alloc(&c->arena, n, size);
    if (!memory)
        give_up("out of memory", "");
    return memory;
}

static enum dse_status core_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                 struct dse_error *err)
{
    return core_array_cost(self, tile, true, cost, err);
}

void soma_case_open(struct soma_case *c, const char *network_path, uint64_t buffer_byte)
{
    const struct core_array_size size = {512, 4, 4, buffer_byte, {256, 1}};
    *c = (struct soma_case){0};
    arena_init(&c->arena);
    check_ok(c, network_read(network_path, &c->network, &c->err));
    check_ok(c, soma_graph_init(&c->network, &c->arena, &c->graph, &c->err));
    check_ok(c, core_array_init(&size, &c->core, &c->err));
    c->context = (struct soma_context){.network = &c->network,
                                       .graph = &c->graph,
                                       .batch = 1,
                                       .core = {&c->core, core_cost},
                                       .compat = true};
}

void soma_case_close(struct soma_case *c)
{
    core_cache_free(c->cache);
    network_free(&c->network);
    arena_free(&c->arena);
}

void soma_case_cache(struct soma_case *c)
{
    check_ok(c, core_cache_new(COST_MAX, &c->cache, &c->err));
    check_ok(c, core_cache_join(c->cache, c->context.core, "edge", 4, &c->cached, &c->err));
    c->context.core = core_cached_scheduler(&c->cached);
}

static enum dse_status stream_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                   struct dse_error *err)
{
    const struct soma_case_streams *streams = self;
    enum dse_status status = streams->inner.cost(streams->inner.self, tile, cost, err);
    uint32_t shape = tile->b + 3 * tile->h + 5 * tile->w + 7 * tile->k;
    for (uint32_t role = 0; role < TENSOR_ROLE_COUNT; role++)
        cost->stream_times[role] = streams->roles >> role & 1u ? 1 + 0.37 * ((shape + role) % 3 == 0) : 0;
    cost->stream_share = shape % 4 == 0 ? 2 : 0.25 * (shape % 4);
    if (cost->stream_share > 1 && streams->roles >> TENSOR_WEIGHT & 1u)
        cost->stream_pieces = shape / 4 % 6;
    return status;
}

void soma_case_stream(struct soma_case *c, uint32_t roles)
{
    c->streams = (struct soma_case_streams){c->context.core, roles};
    c->context.core = (struct core_scheduler){&c->streams, stream_cost};
    c->context.compat = false;
    c->graph.streams = roles;
}

void soma_case_ways(struct fused_machine *machine)
{
    machine->differs = true;
    machine->store_rate = (struct byte_rate){7, 2};
    for (int way = 0; way < FUSED_N_WAY; way++)
        machine->way_energy_j[way] = (60 + 8 * way) * 1e-12;
    machine->dram_energy_j = machine->way_energy_j[FUSED_LOADED];
}

struct soma_search soma_case_search(const struct soma_case *c, uint64_t buffer_byte,
                                    uint64_t dram_byte_per_cycle)
{
    return (struct soma_search){.context = c->context,
                                .machine = {.buffer_byte = buffer_byte,
                                            .dram_rate = {dram_byte_per_cycle, 1},
                                            .dram_energy_j = 84e-12},
                                .objective = {1, 1},
                                .clock_hz = 1e9,
                                .parallel = {c->core.lane_c, c->core.lane_k, 4, 4}};
}

bool soma_case_parse(struct soma_case *c, const struct soma_lfa *lfa)
{
    check_ok(c, soma_parse(&c->context, lfa, &c->arena, &c->schedule, &c->fault, &c->err));
    return c->fault.what == SOMA_OK;
}

enum dse_status soma_case_read(const char *text, size_t length, const struct network *network,
                               struct arena *arena, struct soma_lfa *lfa, struct soma_dlsa *dlsa,
                               bool *has_dlsa, struct dse_error *err)
{
    struct yaml_doc doc;
    DSE_TRY(yaml_parse(&doc, "scheme.yaml", text, length, err));
    const enum dse_status status = soma_read(&doc, network, arena, lfa, dlsa, has_dlsa, err);
    yaml_doc_free(&doc);
    return status;
}

static struct soma_lfa empty_lfa(struct soma_case *c, uint32_t n_layer, uint32_t n_flc)
{
    struct soma_lfa lfa = {.n_layer = n_layer, .n_flc = n_flc};
    lfa.order = allocate(c, n_layer, sizeof(*lfa.order));
    lfa.flc = allocate(c, n_flc, sizeof(*lfa.flc));
    lfa.tiling = allocate(c, n_flc, sizeof(*lfa.tiling));
    lfa.dram_cut = allocate(c, n_flc, sizeof(*lfa.dram_cut));
    return lfa;
}

struct soma_lfa soma_case_lfa(struct soma_case *c, const char *groups)
{
    enum { MAX = 64 };
    struct soma_lfa lfa = empty_lfa(c, MAX, MAX);
    char *rest = arena_copy_text(&c->arena, groups, strlen(groups)), *group;
    lfa.n_layer = lfa.n_flc = 0;
    while ((group = strsep(&rest, ",")) != NULL) {
        uint32_t g = lfa.n_flc++;
        lfa.flc[g] = lfa.n_layer;
        for (char *word; (word = strsep(&group, " ")) != NULL;) {
            if (word[0] == '\0')
                continue;
            if (strcmp(word, "cut") == 0) {
                lfa.dram_cut[g] = true;
            } else if (lfa.tiling[g] == 0 && word[0] >= '0' && word[0] <= '9') {
                lfa.tiling[g] = (uint32_t)strtoul(word, NULL, 10);
            } else {
                int layer = network_find_layer(&c->network, word);
                if (layer < 0 || lfa.n_layer == MAX)
                    give_up("no layer ", word);
                lfa.order[lfa.n_layer++] = (uint32_t)layer;
            }
        }
    }
    return lfa;
}

struct soma_lfa soma_case_oracle_lfa(struct soma_case *c, const struct fused_oracle *oracle)
{
    struct soma_lfa lfa = empty_lfa(c, oracle->n_layer, oracle->n_fine);
    memcpy(lfa.order, oracle->order, oracle->n_layer * sizeof(*lfa.order));
    for (uint32_t g = 0, i = 0; g < oracle->n_fine; g++) {
        lfa.flc[g] = oracle->fine[g];
        lfa.tiling[g] = oracle->tiling[g];
        lfa.dram_cut[g] = i < oracle->n_group && oracle->group[i] == oracle->fine[g];
        i += lfa.dram_cut[g];
    }
    return lfa;
}

struct soma_dlsa soma_case_oracle_dlsa(struct soma_case *c, const struct fused_oracle *oracle)
{
    const struct fused_schedule *s = &oracle->schedule;
    struct soma_dlsa dlsa = {.n_tensor = s->n_tensor, .n_dram = s->n_dram, .order = s->dram_order};
    dlsa.start = allocate(c, s->n_tensor, sizeof(*dlsa.start));
    dlsa.end = allocate(c, s->n_tensor, sizeof(*dlsa.end));
    for (uint32_t i = 0; i < s->n_tensor; i++) {
        dlsa.start[i] = s->tensor[i].start;
        dlsa.end[i] = s->tensor[i].end;
    }
    return dlsa;
}
