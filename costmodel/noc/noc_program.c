/* Writes the transactions of a plan, step by step: fetch, send, compute, reduce, store. Two passes over
 * the walk, one that counts and one that fills. */
#include <string.h>

#include "costmodel/noc/noc_writer.h"

enum { ENTRY_MAX = INT32_MAX };

/* ---- what moves when ---- */

/* Are the loops [first, last) at their first / last iteration? */
static bool at_first(const struct noc_writer *w, uint32_t first, uint32_t last)
{
    for (uint32_t j = first; j < last; j++)
        if (w->digit[j] != 0)
            return false;
    return true;
}

static bool at_last(const struct noc_writer *w, uint32_t first, uint32_t last)
{
    for (uint32_t j = first; j < last; j++)
        if (w->digit[j] + 1 != w->plan->bound[j])
            return false;
    return true;
}

/* Does the nest [first, last) bring in a new tile of the stream? Outputs only where they are partial sums. */
static bool enters(const struct noc_writer *w, const struct noc_stream *stream, uint32_t first, uint32_t last)
{
    uint32_t innermost = noc_stream_innermost(stream, first, last);
    if (!at_first(w, first, innermost))
        return false;
    if (!stream->is_output)
        return true;
    for (uint32_t j = innermost; j < last; j++)
        if (!(stream->related >> j & 1u) && w->digit[j] != 0)
            return true;
    return false;
}

/* Does the nest [first, last) finish a tile of the outputs? */
static bool leaves(const struct noc_writer *w, const struct noc_stream *stream, uint32_t first, uint32_t last)
{
    return at_last(w, first, noc_stream_innermost(stream, first, last));
}

/* ---- the parts of a step ---- */

static void after_counts(struct noc_writer *w, uint32_t first)
{
    for (uint32_t pe = 0; pe < w->plan->n_pe; pe++)
        noc_after(w, first + pe);
}

/* (A) memory to global buffer, at the start of an outer step. */
static void fetch(struct noc_writer *w)
{
    const struct noc_plan *plan = w->plan;
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        const struct noc_stream *stream = &plan->stream[i];
        if (!stream->buffered || !at_first(w, plan->n_noc_loop, stream->split) ||
            !enters(w, stream, stream->split, plan->n_loop))
            continue;
        noc_begin(w, NOC_UNICAST, plan->dram_port, stream->buffer_packets);
        noc_to(w, plan->buffer_port);
        if (w->outer_step >= 2)
            after_counts(w, w->last_counts[(w->outer_step - 2) % HISTORY]);
        w->fetched[i][w->n_fetched[i]++] = noc_end(w);
    }
}

/* (B) into the PEs that share a tile. */
static void send(struct noc_writer *w)
{
    const struct noc_plan *plan = w->plan;
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        const struct noc_stream *stream = &plan->stream[i];
        w->sent[i] = NOC_NONE;
        if (!enters(w, stream, 0, stream->split))
            continue;
        w->sent[i] = w->program->n_transaction;
        for (uint32_t g = 0; g < stream->n_group; g++) {
            uint32_t first = stream->first_member[g], last = stream->first_member[g + 1];
            noc_begin(w, last - first > 1 ? NOC_MULTICAST : NOC_UNICAST,
                      stream->buffered ? plan->buffer_port : plan->dram_port, stream->pe_packets);
            for (uint32_t k = first; k < last; k++)
                noc_to(w, stream->member[k]);
            if (w->inner_step >= 2)
                for (uint32_t k = first; k < last; k++)
                    noc_after(w, w->counts[(w->inner_step - 2) % HISTORY] + stream->member[k]);
            if (stream->buffered)
                for (uint32_t k = 0; k < w->n_fetched[i]; k++)
                    noc_after(w, w->fetched[i][k]);
            noc_end(w);
        }
    }
}

/* (C) the computation of every PE of the mesh, used or not. */
static void compute(struct noc_writer *w)
{
    const struct noc_plan *plan = w->plan;
    w->counts[w->inner_step % HISTORY] = w->program->n_transaction;
    for (uint32_t pe = 0; pe < plan->n_pe; pe++) {
        noc_begin(w, NOC_COUNT, pe, plan->pe_cycle);
        for (uint32_t i = plan->n_stream; i-- > 0;)
            if (w->sent[i] != NOC_NONE && plan->stream[i].group[pe] != NOC_NONE)
                noc_after(w, w->sent[i] + plan->stream[i].group[pe]);
        if (w->inner_step >= 2 && w->left[(w->inner_step - 2) % HISTORY][pe] != NOC_NONE)
            noc_after(w, w->left[(w->inner_step - 2) % HISTORY][pe]);
        noc_end(w);
    }
}

/* (D) sum up between the PEs, then store. */
static void reduce(struct noc_writer *w)
{
    const struct noc_plan *plan = w->plan;
    uint32_t counts = w->counts[w->inner_step % HISTORY];
    uint32_t *left = w->left[w->inner_step % HISTORY];
    w->first_link = w->program->n_transaction;
    for (uint32_t i = 0; i < plan->n_link; i++) {
        const struct noc_link *link = &plan->link[i];
        noc_begin(w, NOC_UNICAST, link->from, plan->stream[0].pe_packets);
        noc_to(w, link->to);
        noc_after(w, counts + link->from);
        if (link->row_before != NOC_NONE)
            noc_after(w, w->first_link + link->row_before);
        if (link->column_before != NOC_NONE)
            noc_after(w, w->first_link + link->column_before);
        left[link->from] = noc_end(w);
    }
}

static void store(struct noc_writer *w)
{
    const struct noc_plan *plan = w->plan;
    const struct noc_stream *output = &plan->stream[0];
    w->store = w->program->n_transaction;
    for (uint32_t g = 0; g < output->n_group; g++) {
        noc_begin(w, NOC_UNICAST, plan->sum_pe[g], output->pe_packets);
        noc_to(w, output->buffered ? plan->buffer_port : plan->dram_port);
        after_counts(w, w->counts[w->inner_step % HISTORY]);
        for (uint32_t i = 0; i < plan->n_link; i++)
            noc_after(w, w->first_link + i);
        if (w->old_store != NOC_NONE)
            noc_after(w, w->old_store + g);
        w->left[w->inner_step % HISTORY][plan->sum_pe[g]] = noc_end(w);
    }
    w->old_store = w->store;
}

/* (E) global buffer to memory, at the end of an outer step. */
static void write_back(struct noc_writer *w)
{
    const struct noc_plan *plan = w->plan;
    const struct noc_stream *output = &plan->stream[0];
    if (!output->buffered || !at_last(w, plan->n_noc_loop, output->split) ||
        !leaves(w, output, output->split, plan->n_loop))
        return;
    noc_begin(w, NOC_UNICAST, plan->buffer_port, output->buffer_packets);
    noc_to(w, plan->dram_port);
    if (w->old_store != NOC_NONE)
        for (uint32_t g = 0; g < output->n_group; g++)
            noc_after(w, w->old_store + g);
    noc_end(w);
}

static void step(struct noc_writer *w, bool last_inner)
{
    const struct noc_plan *plan = w->plan;
    if (w->inner_step == 0) {
        w->old_store = NOC_NONE;
        fetch(w);
    }
    memset(w->left[w->inner_step % HISTORY], 0xff, plan->n_pe * sizeof **w->left);
    send(w);
    compute(w);
    if (leaves(w, &plan->stream[0], 0, plan->stream[0].split)) {
        reduce(w);
        store(w);
    }
    if (last_inner) {
        w->last_counts[w->outer_step % HISTORY] = w->counts[w->inner_step % HISTORY];
        write_back(w);
    }
}

/* ---- the walk ---- */

void noc_walk_init(struct noc_walk *walk, const struct noc_plan *plan)
{
    *walk = (struct noc_walk){.max_step = 0};
    for (uint32_t j = 0; j < plan->n_loop; j++)
        walk->kept[j] = plan->bound[j];
}

uint64_t noc_walk_steps(const struct noc_walk *walk, const struct noc_plan *plan)
{
    uint64_t n = 1;
    for (uint32_t j = 0; j < plan->n_loop; j++)
        n *= walk->kept[j];
    return walk->max_step && walk->max_step < n ? walk->max_step : n;
}

/* The loop that goes on behind this step; n_loop: none. */
static uint32_t next_loop(const struct noc_writer *w)
{
    uint32_t j = 0;
    while (j < w->plan->n_loop && w->position[j] + 1 == w->walk->kept[j])
        j++;
    return j;
}

/* Go on to the next step; the number of loops that began anew. */
static uint32_t advance(struct noc_writer *w)
{
    const struct noc_walk *walk = w->walk;
    uint32_t j = 0;
    while (j < w->plan->n_loop && w->position[j] + 1 == walk->kept[j]) {
        w->position[j] = w->digit[j] = 0;
        j++;
    }
    if (j < w->plan->n_loop) {
        w->position[j]++;
        w->digit[j] = w->position[j] + 1 == walk->kept[j] ? w->plan->bound[j] - 1 : w->position[j];
    }
    return j;
}

static enum dse_status pass(struct noc_writer *w, bool fill, struct dse_error *err)
{
    struct noc_program *p = w->program;
    uint64_t n_step = noc_walk_steps(w->walk, w->plan), n_inner = 1;
    for (uint32_t j = 0; j < w->plan->n_noc_loop; j++)
        n_inner *= w->walk->kept[j];
    w->fill = fill;
    w->outer_step = w->inner_step = 0;
    p->n_transaction = 0;
    p->n_destination = p->n_dependency = 0;
    memset(w->position, 0, sizeof w->position);
    memset(w->digit, 0, sizeof w->digit);
    memset(w->n_fetched, 0, sizeof w->n_fetched);
    noc_deliver_init(w);
    uint32_t advanced = w->plan->n_loop;
    for (uint64_t s = 0; s < n_step; s++) {
        DSE_TRY(noc_heed(s, w->cancel, err));
        if (w->plan->compat)
            step(w, w->inner_step + 1 == n_inner);
        else
            noc_deliver_step(w, advanced, next_loop(w));
        if (w->first_count)
            w->first_count[s] = w->plan->compat ? w->counts[w->inner_step % HISTORY] : w->delivery.counts;
        if (p->n_transaction > ENTRY_MAX || p->n_dependency > ENTRY_MAX || p->n_destination > ENTRY_MAX)
            return dse_fail(err, DSE_LIMIT,
                            "the mapping's %llu steps make more than 2^31 transactions, destinations or "
                            "dependencies; simulate fewer steps",
                            (unsigned long long)n_step);
        if (++w->inner_step == n_inner) {
            w->inner_step = 0;
            w->outer_step++;
        }
        advanced = advance(w);
    }
    return DSE_OK;
}

static enum dse_status allocate_state(struct noc_writer *w, struct arena *arena, struct dse_error *err)
{
    const struct noc_plan *plan = w->plan;
    uint64_t n_step = noc_walk_steps(w->walk, plan), n_inner = 1;
    for (uint32_t j = 0; j < plan->n_noc_loop; j++)
        n_inner *= w->walk->kept[j];
    if (n_step > ENTRY_MAX / plan->n_pe)
        return dse_fail(
            err, DSE_LIMIT,
            "the mapping's %llu steps with %u PEs make more than 2^31 transactions; simulate fewer steps",
            (unsigned long long)n_step, plan->n_pe);
    size_t n_outer = (size_t)((n_step + n_inner - 1) / n_inner);
    for (uint32_t i = 0; i < plan->n_stream; i++)
        w->fetched[i] = arena_alloc(arena, plan->stream[i].buffered ? n_outer : 1, sizeof *w->fetched[i]);
    for (uint32_t h = 0; h < HISTORY; h++)
        w->left[h] = arena_alloc(arena, plan->n_pe, sizeof *w->left[h]);
    return arena_check(arena, "transactions", err);
}

enum dse_status noc_program_write(const struct noc_plan *plan, const struct noc_walk *walk,
                                  const atomic_int *cancel, struct arena *arena, struct noc_program *program,
                                  uint32_t *first_count, struct dse_error *err)
{
    struct noc_writer w = {
        .plan = plan, .walk = walk, .program = program, .cancel = cancel, .first_count = first_count};
    *program = (struct noc_program){.n_transaction = 0};
    DSE_TRY(allocate_state(&w, arena, err));
    DSE_TRY(pass(&w, false, err));
    /* Gigabytes at times: the second pass, which hears `cancel`, is the first to touch them. */
    program->transaction = arena_alloc_unset(arena, program->n_transaction, sizeof *program->transaction);
    program->destination = arena_alloc_unset(arena, program->n_destination, sizeof *program->destination);
    program->dependency = arena_alloc_unset(arena, program->n_dependency, sizeof *program->dependency);
    DSE_TRY(arena_check(arena, "transactions", err));
    return pass(&w, true, err);
}

enum dse_status noc_program_of(const struct problem *problem, const struct architecture *arch,
                               const struct mapping *mapping, uint32_t noc_level,
                               const struct noc_config *config, uint64_t max_steps, struct arena *arena,
                               struct noc_program *program, uint64_t *n_step, struct dse_error *err)
{
    struct noc_plan plan;
    struct noc_walk walk;
    uint64_t n_inner = 1;
    DSE_TRY(noc_plan_init(&plan, problem, arch, mapping, noc_level, config, arena, err));
    noc_walk_init(&walk, &plan);
    if (n_step)
        *n_step = noc_walk_steps(&walk, &plan);
    for (uint32_t j = 0; j < plan.n_noc_loop; j++)
        n_inner *= plan.bound[j];
    walk.max_step = max_steps > n_inner ? max_steps - max_steps % n_inner : max_steps;
    return noc_program_write(&plan, &walk, NULL, arena, program, NULL, err);
}
