/* A run is parsed with the first layer group behind it, which is then left out of the sums. */
#include "engines/soma/long_schedule.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "costmodel/fused/fused_rule.h"
#include "engines/soma/machine/lower.h"
#include "engines/soma/machine/replay.h"
#include "engines/soma/search/search.h"

/* Comparisons for placing the tensors of a run. */
enum { PLACE_EFFORT = 30000 };

/* Groups first .. past-1 of the LFA are the run; past .. beside-1 the layer group behind it. */
struct run {
    uint32_t first, past, beside;
    uint32_t n_tile; /* without those beside */
    bool is_first, is_last;
    uint64_t key[2];
    struct fused_schedule fused;
    struct schedule_detail detail;
};

/* What a run adds to the whole. One of the same key adds the same: it is of another repetition of a block. */
struct run_sums {
    uint64_t key[2];
    uint64_t n_tensor, n_dram, byte[FUSED_N_WAY];
    uint64_t cycle;                   /* from its first tile to the next run's */
    uint64_t after_cycle, last_cycle; /* to there from its last tile's end, and from its start */
    double first_byte;                /* alive at its first tile */
    uint64_t compute_cycle, dram_cycle, buffer_max_byte, n_split;
    double core_energy_j, by_time, by_compute, compat; /* the last three in bytes x cycles */
    struct core_cost tiles;
    bool placed;
};

struct long_sums {
    const struct soma_context *context;
    const struct schedule_pricer *pricer;
    const struct soma_lfa *lfa;
    bool place;
    struct arena *arena, own;
    struct soma_long *out;
    struct run_sums *known; /* of runs that were evaluated */
    size_t n_known, room;
    uint32_t *word; /* (4 n_layer + 3) of a key */
    uint64_t n_tile;
    struct run_sums all;
};

/* ---- one run ---- */

/* The groups of a run and of what is beside it as an LFA of their own. */
static enum dse_status cut_out(const struct soma_lfa *lfa, const struct run *run, struct arena *arena,
                               struct soma_lfa *part, struct dse_error *err)
{
    const uint32_t begin = lfa->flc[run->first], n = run->beside - run->first;
    *part = (struct soma_lfa){
        .n_layer = soma_group_stop(lfa, run->beside - 1) - begin,
        .order = lfa->order + begin,
        .n_flc = n,
        .flc = arena_alloc(arena, n, sizeof *part->flc),
        .tiling = lfa->tiling + run->first,
        .dram_cut = lfa->dram_cut + run->first,
    };
    DSE_TRY(arena_check(arena, "a run of layer groups", err));
    for (uint32_t g = 0; g < n; g++)
        part->flc[g] = lfa->flc[run->first + g] - begin;
    return DSE_OK;
}

/* What layers outside make is there, as the network's inputs are. */
static void detach(const struct soma_context *context, const struct soma_lfa *part, bool *inside,
                   struct fused_schedule *fused)
{
    for (uint32_t i = 0; i < part->n_layer; i++)
        inside[part->order[i]] = true;
    for (uint32_t i = 0; i < fused->n_tensor; i++) {
        int32_t *source = &fused->tensor[i].source;
        if (fused->tensor[i].kind == FUSED_IFMAP && *source >= 0 &&
            ((uint32_t)*source >= context->network->n_layer || !inside[*source]))
            *source = -1;
    }
}

static enum dse_status make(struct long_sums *e, struct run *run, struct dse_error *err)
{
    struct soma_lfa part;
    bool *inside = arena_alloc(e->arena, e->context->network->n_layer, sizeof *inside);
    DSE_TRY(cut_out(e->lfa, run, e->arena, &part, err));
    DSE_TRY(soma_parse_part(e->context, &part, e->arena, &run->fused, &e->out->fault, err));
    if (e->out->fault.what != SOMA_OK)
        return DSE_OK;
    detach(e->context, &part, inside, &run->fused);
    return schedule_price_detail(e->pricer, &run->fused, e->arena, &run->detail, err);
}

/* ---- sums ---- */

/* Whether a tensor is of the run itself. */
static bool is_own(const struct fused_tensor *tensor, uint32_t n_tile)
{
    return (tensor->producer_tile >= 0 ? tensor->producer_tile : tensor->first_use) < (int32_t)n_tile;
}

static void add_tensors(const struct long_sums *e, const struct run *run, struct run_sums *sums)
{
    for (uint32_t i = 0; i < run->fused.n_tensor; i++) {
        const struct fused_tensor *tensor = &run->fused.tensor[i];
        if (!is_own(tensor, run->n_tile))
            continue;
        sums->n_tensor++;
        if (tensor->kind == FUSED_LOCAL)
            continue;
        sums->n_dram++;
        sums->byte[fused_way(tensor)] += tensor->dram_byte;
        sums->dram_cycle += fused_transfer_cycle(tensor, &e->pricer->machine);
    }
}

/* Bytes x cycles as in fused_evaluate, but for the time before its first tile: what is alive then, the run
 * before does not know. */
static void add_living(const struct run *run, struct run_sums *sums)
{
    const struct fused_trace *t = &run->detail.trace;
    const uint64_t begin = run->is_first ? 0 : t->tile_start[0];
    uint64_t finished = begin, started = begin;
    for (uint32_t p = 0; p < run->n_tile; p++) {
        const double living = (double)t->living_byte[p + 1];
        sums->by_time += living * (double)(t->tile_finish[p] - finished);
        sums->by_compute += living * (double)run->fused.tile[p].cycle;
        sums->compat += living * (double)(t->tile_start[p] - started);
        finished = t->tile_finish[p];
        started = t->tile_start[p];
    }
    const uint64_t end = run->is_last ? run->detail.result.cycle : t->tile_start[run->n_tile];
    if (run->is_last)
        sums->by_time += (double)t->living_byte[run->n_tile] * (double)(end - finished);
    sums->first_byte = (double)t->living_byte[1];
    sums->cycle = end - begin;
    sums->after_cycle = end - finished;
    sums->last_cycle = end - started;
}

static enum dse_status sum_run(const struct long_sums *e, const struct run *run, struct run_sums *sums,
                               struct dse_error *err)
{
    struct fused_schedule alone = run->fused;
    alone.n_tile = run->n_tile;
    DSE_TRY(e->pricer->accounting->schedule->tiles(e->pricer, &alone, &sums->tiles, err));
    for (uint32_t p = 0; p < run->n_tile; p++) {
        sums->compute_cycle += run->fused.tile[p].cycle;
        sums->core_energy_j += run->fused.tile[p].energy_j;
    }
    sums->buffer_max_byte = run->detail.result.buffer_max_byte;
    add_tensors(e, run, sums);
    add_living(run, sums);
    return DSE_OK;
}

static void add(struct run_sums *all, const struct run_sums *one)
{
    struct core_cost *tiles = &all->tiles;
    all->n_tensor += one->n_tensor;
    all->n_dram += one->n_dram;
    for (int way = 0; way < FUSED_N_WAY; way++)
        all->byte[way] += one->byte[way];
    all->by_time += one->first_byte * (double)all->after_cycle + one->by_time;
    all->compat += one->first_byte * (double)all->last_cycle + one->compat;
    all->by_compute += one->by_compute;
    all->cycle += one->cycle;
    all->after_cycle = one->after_cycle;
    all->last_cycle = one->last_cycle;
    all->compute_cycle += one->compute_cycle;
    all->dram_cycle += one->dram_cycle;
    if (one->buffer_max_byte > all->buffer_max_byte)
        all->buffer_max_byte = one->buffer_max_byte;
    all->core_energy_j += one->core_energy_j;
    tiles->cycle += one->tiles.cycle;
    tiles->buffer_energy_j += one->tiles.buffer_energy_j;
    tiles->local_energy_j += one->tiles.local_energy_j;
    tiles->bus_energy_j += one->tiles.bus_energy_j;
    tiles->mac_energy_j += one->tiles.mac_energy_j;
    tiles->energy_j += one->tiles.energy_j;
    all->placed &= one->placed;
    all->n_split += one->n_split;
}

static enum dse_status sum_up(const struct long_sums *e, struct dse_error *err)
{
    const struct run_sums *all = &e->all;
    const struct fused_machine *machine = &e->pricer->machine;
    if (all->n_tensor > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT,
                        "a SoMa schedule of 2^32 tensors or more; use smaller tiling numbers");
    struct fused_result sum = {
        .cycle = all->cycle,
        .compute_cycle = all->compute_cycle,
        .dram_cycle = all->dram_cycle,
        .stall_cycle = all->cycle - all->after_cycle - all->compute_cycle,
        .dram_byte = fused_all_byte(all->byte),
        .core_energy_j = all->core_energy_j,
        .dram_energy_j = fused_dram_energy_j(all->byte, machine),
        .buffer_max_byte = all->buffer_max_byte,
    };
    if (machine->differs)
        sum.stream_byte = all->byte[FUSED_STREAMED_IN] + all->byte[FUSED_STREAMED_OUT];
    sum.energy_j = sum.core_energy_j + sum.dram_energy_j;
    if (sum.cycle > 0) {
        sum.buffer_average_byte = all->by_time / (double)sum.cycle;
        sum.buffer_average_compat_byte = all->compat / (double)sum.cycle;
    }
    if (sum.compute_cycle > 0)
        sum.buffer_average_compute_byte = all->by_compute / (double)sum.compute_cycle;
    e->out->detail = (struct schedule_detail){.result = sum, .tiles = all->tiles};
    e->out->fused = (struct fused_schedule){
        .n_tile = (uint32_t)e->n_tile, .n_tensor = (uint32_t)all->n_tensor, .n_dram = (uint32_t)all->n_dram};
    e->out->placed = e->place && all->placed;
    e->out->n_split = all->n_split;
    return schedule_bound(e->pricer, &sum, &e->out->detail.bound_cycle, err);
}

/* ---- places ---- */

static enum dse_status place_and_replay(const struct long_sums *e, const struct run *run,
                                        struct run_sums *sums, struct dse_error *err)
{
    enum { FAULT_MAX = 512 };
    const struct buffer_allocate_options options = {.alignment = 1, .effort = PLACE_EFFORT};
    struct lowered lowered;
    struct replay_result result;
    char fault[FAULT_MAX];
    DSE_TRY(instruction_lower(&run->fused, e->context->graph, &e->pricer->machine, &options, e->arena,
                              &lowered, err));
    sums->placed = lowered.fault == LOWER_OK;
    if (lowered.fault != LOWER_OK)
        return DSE_OK;
    sums->n_split = lowered.split.fits ? lowered.split.n_split : 0;
    DSE_TRY(instruction_replay(&lowered.program, e->arena, NULL, &result, err));
    if (result.fault == REPLAY_OK && result.cycle == run->detail.result.cycle)
        return DSE_OK;
    return dse_fail(err, DSE_INTERNAL, "the instructions of a run of layer groups cannot run: %s",
                    replay_fault_text(&lowered.program, &result, fault, sizeof fault));
}

/* ---- all of them ---- */

/* The repetition of a block that layer l is of, and the same layer of the first one. */
static uint32_t repetition_of(const struct network *network, uint32_t l, uint32_t *first)
{
    *first = l;
    for (uint32_t r = 0; r < network->n_repeat; r++) {
        const struct network_repeat *repeat = &network->repeat[r];
        if (l < repeat->first_layer || l - repeat->first_layer >= repeat->n_layer * repeat->times)
            continue;
        *first = repeat->first_layer + (l - repeat->first_layer) % repeat->n_layer;
        return (l - repeat->first_layer) / repeat->n_layer + 1;
    }
    return 0;
}

static uint32_t repetition_of_group(const struct long_sums *e, uint32_t g)
{
    uint32_t first;
    return repetition_of(e->context->network, e->lfa->order[e->lfa->flc[g]], &first);
}

static uint32_t layer_group_end(const struct soma_lfa *lfa, uint32_t g)
{
    do
        g++;
    while (g < lfa->n_flc && !lfa->dram_cut[g]);
    return g;
}

/* From group `first` on: layer groups of `least` tiles at least, or as many as begin in the same repetition
 * of a block; of more than one tile, since weights are loaded so much ahead. */
static struct run next_run(const struct long_sums *e, uint32_t first, uint64_t least)
{
    const struct soma_lfa *lfa = e->lfa;
    struct run run = {.first = first, .past = first, .is_first = first == 0};
    const uint32_t repetition = repetition_of_group(e, first);
    uint64_t n = 0;
    while (run.past < lfa->n_flc &&
           (n < 2 || (n < least && repetition_of_group(e, run.past) == repetition))) {
        const uint32_t end = layer_group_end(lfa, run.past);
        for (; run.past < end; run.past++)
            n += (uint64_t)lfa->tiling[run.past] * (soma_group_stop(lfa, run.past) - lfa->flc[run.past]);
    }
    run.n_tile = (uint32_t)n;
    run.is_last = run.past == lfa->n_flc;
    run.beside = run.is_last ? run.past : layer_group_end(lfa, run.past);
    return run;
}

/* The hash of its groups, with layers as those of the first repetition and by how many repetitions they are
 * behind the run's first layer, twice: 128 bits. */
static void make_key(const struct long_sums *e, struct run *run)
{
    const struct soma_lfa *lfa = e->lfa;
    const uint32_t repetition = repetition_of_group(e, run->first);
    size_t n = 1;
    e->word[n++] = (uint32_t)run->is_first | (uint32_t)run->is_last << 1;
    e->word[n++] = run->past - run->first;
    for (uint32_t g = run->first; g < run->beside; g++) {
        e->word[n++] = lfa->tiling[g] << 1 | lfa->dram_cut[g];
        e->word[n++] = soma_group_stop(lfa, g) - lfa->flc[g];
        for (uint32_t i = lfa->flc[g]; i < soma_group_stop(lfa, g); i++, n += 2)
            e->word[n] = repetition_of(e->context->network, lfa->order[i], &e->word[n + 1]) - repetition;
    }
    for (uint32_t i = 0; i < 2; i++) {
        e->word[0] = i;
        run->key[i] = hash_of_bytes(e->word, n * sizeof *e->word);
    }
}

static const struct run_sums *find_known(const struct long_sums *e, const struct run *run)
{
    for (size_t i = 0; i < e->n_known; i++)
        if (e->known[i].key[0] == run->key[0] && e->known[i].key[1] == run->key[1])
            return &e->known[i];
    return NULL;
}

/* Its sums, behind those that are known; with a fault, none. */
static enum dse_status evaluate(struct long_sums *e, struct run *run, struct dse_error *err)
{
    struct soma_long *out = e->out;
    struct run_sums sums = {.key = {run->key[0], run->key[1]}};
    arena_reset(e->arena);
    DSE_TRY(make(e, run, err));
    out->has_fault = out->fault.what != SOMA_OK || run->detail.result.fault != FUSED_OK;
    if (out->has_fault) {
        out->fused = run->fused;
        out->detail = run->detail;
        out->first = e->n_tile;
        return DSE_OK;
    }
    DSE_TRY(sum_run(e, run, &sums, err));
    if (e->place)
        DSE_TRY(place_and_replay(e, run, &sums, err));
    struct run_sums *known = array_grow(e->known, e->n_known + 1, &e->room, sizeof *known);
    if (!known)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the runs of a long schedule");
    e->known = known;
    e->known[e->n_known++] = sums;
    return DSE_OK;
}

static enum dse_status add_runs(struct long_sums *e, uint64_t run_tile, struct dse_error *err)
{
    e->word = arena_alloc(&e->own, 4 * (size_t)e->lfa->n_layer + 3, sizeof *e->word);
    DSE_TRY(arena_check(&e->own, "a long schedule", err));
    for (uint32_t g = 0; g < e->lfa->n_flc;) {
        struct run run = next_run(e, g, run_tile);
        make_key(e, &run);
        const struct run_sums *sums = find_known(e, &run);
        if (!sums) {
            DSE_TRY(evaluate(e, &run, err));
            if (e->out->has_fault)
                return DSE_OK;
            sums = &e->known[e->n_known - 1];
        }
        add(&e->all, sums);
        e->out->n_run++;
        e->n_tile += run.n_tile;
        g = run.past;
    }
    e->out->n_evaluated = e->n_known;
    return sum_up(e, err);
}

enum dse_status soma_long_evaluate(const struct soma_context *context, const struct schedule_pricer *pricer,
                                   const struct soma_lfa *lfa, uint64_t run_tile, bool place,
                                   struct arena *arena, struct soma_long *out, struct dse_error *err)
{
    struct long_sums e = {.context = context,
                          .pricer = pricer,
                          .lfa = lfa,
                          .place = place,
                          .arena = arena,
                          .out = out,
                          .all = {.placed = true}};
    *out = (struct soma_long){.placed = false};
    if (soma_lfa_tiles(lfa) > SOMA_LONG_TILE_MAX)
        return dse_fail(err, DSE_LIMIT, "a SoMa schedule of more than %d tiles; use smaller tiling numbers",
                        SOMA_LONG_TILE_MAX);
    arena_init(&e.own);
    const enum dse_status status = add_runs(&e, run_tile, err);
    arena_free(&e.own);
    free(e.known);
    return status;
}
