/* Latency of a mapping on the mesh. Too many steps are not simulated: a few iterations of each loop stand
 * for the others, and the times between steps are weighted by how many they stand for. */
#include <math.h>
#include <stdlib.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/noc/noc_plan.h"

enum {
    FLIT_BUDGET = 20000000,      /* sent in one simulation that is extrapolated: two seconds or so */
    FLIT_LIMIT = 60000000,       /* sent at most even if a loop then shows only its first iteration */
    DEPENDENCY_BUDGET = 8000000, /* 4 bytes each, twice */
    KEPT_STEADY = 4, /* iterations of an outer loop that show how double buffering repeats itself */
    AT_ONCE = 4      /* steps that double buffering lets run at the same time */
};

/* ---- loads ---- */

/* Flits that a walk makes the ports send and take, and the cycles of its busiest PE. */
struct load {
    double dram_out, dram_in, buffer_out, buffer_in, pe;
    double sent;       /* by all ports */
    double dependency; /* entries of the program, about */
};

static double product(const uint64_t *kept, uint32_t first, uint32_t last)
{
    double n = 1;
    for (uint32_t j = first; j < last; j++)
        n *= (double)kept[j];
    return n;
}

/* How often the nest [first, last) brings in a tile. */
static double n_enter(const struct noc_stream *stream, const uint64_t *kept, uint32_t first, uint32_t last)
{
    uint32_t innermost = noc_stream_innermost(stream, first, last);
    double n = product(kept, innermost, last), fresh = 1;
    if (!stream->is_output)
        return n;
    for (uint32_t j = innermost; j < last; j++)
        if (stream->related >> j & 1u)
            fresh *= (double)kept[j];
    return n - fresh;
}

static void add_stream(const struct noc_plan *plan, const struct noc_stream *stream, const uint64_t *kept,
                       struct load *load)
{
    uint32_t split = stream->split;
    double n_flit = plan->packet_flits, outer = product(kept, split, plan->n_loop);
    double tile = n_flit * stream->pe_packets * stream->n_group;
    double sent = outer * n_enter(stream, kept, 0, split) * tile;
    double fetched = n_enter(stream, kept, split, plan->n_loop) * n_flit * stream->buffer_packets;
    *(stream->buffered ? &load->buffer_out : &load->dram_out) += sent;
    if (stream->buffered) /* every send waits for all transfers into the buffer so far */
        load->dependency += outer * n_enter(stream, kept, 0, split) * stream->n_group *
                            n_enter(stream, kept, split, plan->n_loop) / 2;
    if (stream->buffered) {
        load->dram_out += fetched;
        load->buffer_in += fetched;
    }
    if (!stream->is_output)
        return;
    double n_store = outer * product(kept, noc_stream_innermost(stream, 0, split), split);
    *(stream->buffered ? &load->buffer_in : &load->dram_in) += n_store * tile;
    load->pe += n_store * n_flit * stream->pe_packets;
    load->dependency += n_store * stream->n_group * ((double)plan->n_pe + plan->n_link);
    load->sent += n_store * n_flit * stream->pe_packets * (stream->n_group + plan->n_link);
    if (stream->buffered) {
        uint32_t innermost = noc_stream_innermost(stream, split, plan->n_loop);
        double written = product(kept, innermost, plan->n_loop) * n_flit * stream->buffer_packets;
        load->buffer_out += written;
        load->dram_in += written;
    }
}

/* The same where the traffic is the cost model's. */
static void add_visits(const struct noc_plan *plan, const struct noc_stream *stream, const uint64_t *kept,
                       struct load *load)
{
    double flit = plan->packet_flits, group = flit * stream->n_group;
    double moved = noc_visit_packets(plan, stream->send, stream->pe_packets, kept), sent = moved;
    double through = noc_visit_packets(plan, stream->fetch, stream->buffer_packets, kept), fetched = through;
    if (stream->is_output) {
        sent -= noc_visit_fresh(plan, stream, stream->send, stream->pe_packets, kept);
        fetched -= noc_visit_fresh(plan, stream, stream->fetch, stream->buffer_packets, kept);
        *(stream->buffered ? &load->buffer_in : &load->dram_in) += moved * group;
        load->pe += moved * flit;
        load->sent += moved * flit * (stream->n_group + plan->n_link);
        load->dependency += moved / stream->pe_packets * (stream->n_group + 2.0 * plan->n_link);
    }
    *(stream->buffered ? &load->buffer_out : &load->dram_out) += sent * group;
    load->dependency += sent / stream->pe_packets * (plan->n_pe + 2.0 * stream->n_group);
    if (!stream->buffered)
        return;
    load->dram_out += fetched * flit;
    load->buffer_in += fetched * flit;
    if (stream->is_output) {
        load->buffer_out += through * flit;
        load->dram_in += through * flit;
    }
}

static struct load load_of(const struct noc_plan *plan, const uint64_t *kept)
{
    struct load load = {.pe = product(kept, 0, plan->n_loop) * plan->pe_cycle};
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        if (plan->compat)
            add_stream(plan, &plan->stream[i], kept, &load);
        else
            add_visits(plan, &plan->stream[i], kept, &load);
    }
    if (!plan->compat)
        load.dependency += product(kept, 0, plan->n_loop) * plan->n_pe;
    load.sent += load.dram_out + load.buffer_out;
    return load;
}

/* Cycles that the DRAM's bandwidth takes for so many packets, less the rounding of the last digits. */
static double limit_cycle(struct noc_limit limit, double packet)
{
    return limit.access == 0 ? 0 : packet * ((double)limit.cycle / (double)limit.access) * (1 - 1e-12);
}

/* No simulation can end before its busiest port has moved its flits, one a cycle, its PEs have computed, and
 * the DRAM's bandwidth has been enough for all. */
static double load_bound(const struct noc_config *config, const struct noc_plan *plan,
                         const struct load *load)
{
    double dram = fmax(load->dram_in, load->dram_out), buffer = fmax(load->buffer_in, load->buffer_out);
    double read = load->dram_out / plan->packet_flits, written = load->dram_in / plan->packet_flits;
    const struct noc_limit *limit = config->dram.limit;
    double memory = fmax(limit_cycle(limit[NOC_ALL], read + written),
                         fmax(limit_cycle(limit[NOC_READS], read), limit_cycle(limit[NOC_WRITES], written)));
    return fmax(fmax(fmax(dram, buffer), load->pe), memory);
}

/* What the levels inside the memory take for their transfers by the cost model: the mesh has no bandwidths of
 * buffers. 0 where none is limited, or the mapping does not fit. */
static enum dse_status storage_bound(const struct problem *problem, const struct architecture *arch,
                                     const struct mapping *mapping, struct arena *arena, double *cycle,
                                     struct dse_error *err)
{
    struct evaluator *evaluator = NULL;
    bool limited = false;
    *cycle = 0;
    for (uint32_t l = 0; l + 1 < arch->n_level; l++)
        limited = limited || isfinite(arch->level[l].read_bandwidth_word_per_cycle) ||
                  isfinite(arch->level[l].write_bandwidth_word_per_cycle) ||
                  isfinite(arch->level[l].shared_bandwidth_word_per_cycle);
    if (!limited)
        return DSE_OK;
    struct evaluation_detail *detail = arena_alloc(arena, 1, sizeof *detail);
    DSE_TRY(arena_check(arena, "the transfers of a mapping", err));
    enum dse_status status = evaluator_new(&accounting_timeloop, problem, arch, &evaluator, err);
    if (status == DSE_OK)
        status = evaluator_detail(evaluator, mapping, arena, detail, err);
    for (uint32_t l = 0; status == DSE_OK && detail->total.fit.what == FITS && l + 1 < arch->n_level; l++)
        *cycle = fmax(*cycle, (double)detail->level[l].cycle);
    evaluator_delete(evaluator);
    return status;
}

/* ---- which steps are simulated ---- */

/* The fewest iterations that show what a loop does: the first, another one, and the last where the outputs
 * leave only then, that is, in a reduction inside the innermost loop over outputs. */
static uint64_t fewest(const struct noc_plan *plan, uint32_t j)
{
    const struct noc_stream *output = &plan->stream[0];
    if (!plan->compat) {
        uint32_t leaving = 0;
        while (leaving < plan->n_loop && output->send[leaving] == 0)
            leaving++;
        uint64_t n = j < leaving ? 3 : 2;
        return n < plan->bound[j] ? n : plan->bound[j];
    }
    uint32_t first = j < output->split ? 0 : output->split;
    uint32_t last = j < output->split ? output->split : plan->n_loop;
    uint64_t n = j < noc_stream_innermost(output, first, last) ? 3 : 2;
    return n < plan->bound[j] ? n : plan->bound[j];
}

static bool affordable(const struct noc_plan *plan, const uint64_t *kept, uint64_t max_steps,
                       double max_flits)
{
    struct load load = load_of(plan, kept);
    return product(kept, 0, plan->n_loop) <= (double)max_steps && load.sent <= max_flits &&
           load.dependency <= DEPENDENCY_BUDGET;
}

/* Raise kept[j] as far as can be paid for. */
static void keep_more(const struct noc_plan *plan, uint64_t *kept, uint32_t j, uint64_t limit,
                      uint64_t max_steps)
{
    uint64_t low = kept[j], high = limit < plan->bound[j] ? limit : plan->bound[j];
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        kept[j] = middle;
        if (affordable(plan, kept, max_steps, FLIT_BUDGET))
            low = middle;
        else
            high = middle - 1;
    }
    kept[j] = low;
}

static void choose(const struct noc_plan *plan, uint64_t max_steps, struct noc_walk *walk)
{
    noc_walk_init(walk, plan);
    if (max_steps == 0 || affordable(plan, walk->kept, max_steps, FLIT_BUDGET))
        return;
    for (uint32_t j = 0; j < plan->n_loop; j++)
        walk->kept[j] = fewest(plan, j);
    for (uint32_t j = plan->n_loop; j-- > 0 && !affordable(plan, walk->kept, max_steps, FLIT_LIMIT);)
        walk->kept[j] = 1;
    for (uint32_t j = 0; j < plan->n_noc_loop; j++)
        keep_more(plan, walk->kept, j, plan->bound[j], max_steps);
    for (uint32_t j = plan->n_noc_loop; j < plan->n_loop; j++)
        keep_more(plan, walk->kept, j, KEPT_STEADY, max_steps);
    for (uint32_t j = 0; j < plan->n_loop; j++)
        keep_more(plan, walk->kept, j, plan->bound[j], max_steps);
}

/* How many iterations of a loop the one at `position` of the kept ones stands for. */
static double weight_of(uint64_t bound, uint64_t kept, uint64_t position)
{
    if (kept == bound)
        return 1;
    if (kept == 1)
        return (double)bound;
    if (kept == 2)
        return position == 0 ? 1 : (double)bound - 1;
    if (kept == 3)
        return position == 1 ? (double)bound - 2 : 1;
    return position <= 1 || position + 1 == kept ? 1 : (double)(bound - 3) / (double)(kept - 3);
}

/* ---- the latency ---- */

/* A step of the walk: when its last PE had computed, and how many steps of the whole nest it stands for. */
struct step {
    uint64_t finish, number;
    double weight;
};

static int earlier(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void read_steps(const struct noc_plan *plan, const struct noc_walk *walk, const uint32_t *first_count,
                       const uint64_t *finish, struct step *step, uint64_t n_step)
{
    uint64_t position[NOC_LOOP_MAX] = {0};
    for (uint64_t s = 0; s < n_step; s++) {
        step[s] = (struct step){0, s, 1};
        for (uint32_t pe = 0; pe < plan->n_pe; pe++)
            if (finish[first_count[s] + pe] > step[s].finish)
                step[s].finish = finish[first_count[s] + pe];
        for (uint32_t j = 0; j < plan->n_loop; j++)
            step[s].weight *= weight_of(plan->bound[j], walk->kept[j], position[j]);
        for (uint32_t j = 0; j < plan->n_loop && ++position[j] == walk->kept[j]; j++)
            position[j] = 0;
    }
}

/* The time between one step and the next to finish counts as often as the steps around it stand for others:
 * double buffering lets two inner steps of two outer ones run at the same time. */
static double weighted_cycles(struct step *step, uint64_t n_step)
{
    uint64_t first = 0, end = 0;
    double cycles, around = 0;
    qsort(step, n_step, sizeof *step, earlier);
    cycles = (double)step[0].finish;
    for (uint64_t s = 1; s < n_step; s++) {
        for (; end < n_step && end < s + AT_ONCE; end++)
            around += step[end].weight;
        for (; first + AT_ONCE < s; first++)
            around -= step[first].weight;
        cycles += around / (double)(end - first) * (double)(step[s].finish - step[s - 1].finish);
    }
    return cycles;
}

/* The same where a step does not wait for others of its kind: each time counts as its own step does. Of
 * weighted_cycles' order. */
static double own_cycles(const struct step *step, uint64_t n_step)
{
    double cycles = 0;
    for (uint64_t s = 0; s < n_step; s++)
        cycles += step[s].weight * (double)(step[s].finish - (s > 0 ? step[s - 1].finish : 0));
    return cycles;
}

static double middle(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* `bound_ratio`: what the busiest port needs over all steps, over what it needs in the walk. */
static enum dse_status simulate(const struct noc_config *config, const struct noc_plan *plan,
                                const struct noc_walk *walk, double bound_ratio, const atomic_int *cancel,
                                struct arena *arena, struct noc_latency *latency, struct dse_error *err)
{
    struct noc_program program;
    uint64_t n_step = noc_walk_steps(walk, plan);
    uint32_t *first_count = arena_alloc(arena, n_step, sizeof *first_count);
    DSE_TRY(arena_check(arena, "the steps of a simulation", err));
    DSE_TRY(noc_program_write(plan, walk, cancel, arena, &program, first_count, err));
    uint64_t *finish = arena_alloc_unset(arena, program.n_transaction, sizeof *finish);
    struct step *step = arena_alloc(arena, n_step, sizeof *step);
    DSE_TRY(arena_check(arena, "the times of steps", err));
    struct noc_trace trace = {NULL, finish};
    DSE_TRY(noc_simulate(config, &program, 0, cancel, arena, &trace, &latency->simulated, err));
    latency->n_step_simulated = n_step;
    latency->cycle = latency->simulated.cycle;
    if (n_step < latency->n_step) {
        read_steps(plan, walk, first_count, finish, step, n_step);
        double end = (double)(latency->simulated.cycle - step[n_step - 1].finish);
        double cycle = weighted_cycles(step, n_step) + end;
        if (!plan->compat)
            cycle =
                middle(cycle, own_cycles(step, n_step) + end, bound_ratio * (double)latency->simulated.cycle);
        latency->cycle = (uint64_t)(cycle + 0.5);
    }
    if ((double)latency->cycle < latency->bound_cycle)
        latency->cycle = (uint64_t)ceil(latency->bound_cycle);
    return DSE_OK;
}

double noc_latency_guess(const struct problem *problem, const struct architecture *arch,
                         const struct mapping *mapping, struct arena *arena)
{
    struct noc_config config;
    struct noc_plan plan;
    struct dse_error ignored;
    uint32_t noc_level;
    if (noc_config_of(arch, &config, &noc_level, &ignored) != DSE_OK ||
        noc_plan_init(&plan, problem, arch, mapping, noc_level, &config, arena, &ignored) != DSE_OK)
        return 0;
    const struct load load = load_of(&plan, plan.bound);
    const double each[] = {load.dram_out, load.dram_in, load.buffer_out, load.buffer_in, load.pe};
    double squares = 0;
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
        squares += each[i] * each[i];
    return fmax(sqrt(squares), load_bound(&config, &plan, &load));
}

enum dse_status noc_latency_of(const struct problem *problem, const struct architecture *arch,
                               const struct mapping *mapping, uint64_t max_steps, const atomic_int *cancel,
                               struct arena *arena, struct noc_latency *latency, struct dse_error *err)
{
    struct noc_config config;
    struct noc_plan plan;
    struct noc_walk walk;
    uint32_t noc_level;
    *latency = (struct noc_latency){.cycle = 0};
    DSE_TRY(noc_config_of(arch, &config, &noc_level, err));
    DSE_TRY(noc_plan_init(&plan, problem, arch, mapping, noc_level, &config, arena, err));
    struct load load = load_of(&plan, plan.bound);
    latency->bound_cycle = load_bound(&config, &plan, &load);
    choose(&plan, max_steps, &walk);
    load = load_of(&plan, walk.kept);
    double bound_ratio = latency->bound_cycle / load_bound(&config, &plan, &load);
    if (!config.compat) {
        double storage;
        DSE_TRY(storage_bound(problem, arch, mapping, arena, &storage, err));
        latency->bound_cycle = fmax(latency->bound_cycle, storage);
    }
    latency->n_step = (uint64_t)product(plan.bound, 0, plan.n_loop);
    return simulate(&config, &plan, &walk, bound_ratio, cancel, arena, latency, err);
}
