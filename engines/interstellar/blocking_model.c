/* The compiled model of Interstellar's searches: energies per tensor and level, orders worth a look, and
 * memories. */
#include "engines/interstellar/blocking_model.h"

#include <math.h>
#include <string.h>

#include "costmodel/model/bank_group.h"

/* The dimensions inside first, then the others; of equal ones the lower. */
static void place_dims(struct blocking_order *order, uint32_t n_dim, const uint32_t *chain, uint32_t n)
{
    uint32_t done = 0, at = 0;
    for (uint32_t i = n + 1; i-- > 0;) {
        uint32_t wanted = i > 0 ? chain[i - 1] : UINT32_MAX;
        for (uint32_t d = 0; d < n_dim; d++)
            if (wanted >> d & 1 && !(done >> d & 1)) {
                order->place[at++] = (uint8_t)d;
                done |= 1u << d;
            }
    }
}

/* The order that serves the reuse chain[0], within it chain[1], ... (n) first, unless one is there that
 * leaves out as much. */
static void add_order(struct blocking_model *model, const uint32_t *chain, uint32_t n)
{
    struct blocking_order new = {{0}, {0}};
    if (model->n_order == BLOCKING_ORDER_MAX)
        return;
    for (uint32_t t = 0; t < model->n_tensor; t++)
        for (uint32_t i = 0; i < n; i++)
            if (!(chain[i] & ~model->reuse.tensor[t].reuse)) {
                new.exclusive[t] = chain[i];
                break;
            }
    for (uint32_t k = 0; k < model->n_order; k++) {
        bool covered = true;
        for (uint32_t t = 0; t < model->n_tensor; t++)
            covered = covered && !(new.exclusive[t] & ~model->order[k].exclusive[t]);
        if (covered)
            return;
    }
    place_dims(&new, model->n_dim, chain, n);
    model->order[model->n_order++] = new;
}

/* All chains of reuse that begin with the n given; `loops` are those longer than one iteration. */
static void add_chains(struct blocking_model *model, uint32_t loops, uint32_t *chain, uint32_t n)
{
    bool longer = false;
    for (uint32_t t = 0; t < model->n_tensor; t++) {
        uint32_t next = model->reuse.tensor[t].reuse & (n ? chain[n - 1] : loops);
        if (!next || (n && next == chain[n - 1]) || n == PROBLEM_TENSOR_MAX)
            continue;
        longer = true;
        chain[n] = next;
        add_chains(model, loops, chain, n + 1);
    }
    if (!longer)
        add_order(model, chain, n);
}

/* Does level v keep not all of the tensors (bit t)? */
static bool lacks(const struct architecture *arch, uint32_t v, uint32_t tensors,
                  const struct problem *problem)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (tensors >> t & 1 && !architecture_keeps(arch, v, &problem->tensor[t]))
            return true;
    return false;
}

/* Storages that share banks: each one further in has at least one. */
static void compile_group(struct blocking_model *model, const struct architecture *arch, uint32_t v)
{
    const uint32_t group = arch->level[v].bank_group;
    struct blocking_level *level = &model->level[v];
    if (group == 0)
        return;
    level->group = group;
    level->bank_word = arch->level[v].bank_word;
    level->most_bank = arch->group[group - 1].banks;
    for (uint32_t w = 0; w < v; w++) {
        level->most_bank -= arch->level[w].bank_group == group;
        level->open = level->open || arch->level[w].bank_group == group;
    }
}

static void compile_memories(struct blocking_level *level, const struct problem *problem,
                             const struct architecture *arch, uint32_t v, bool half_full)
{
    const struct storage_level *storage = &arch->level[v];
    for (uint32_t p = 0; p < (storage->n_part ? storage->n_part : 1); p++) {
        struct blocking_memory *memory = &level->memory[level->n_memory];
        *memory = (struct blocking_memory){.more_than_least = storage->n_part == 1};
        for (uint32_t t = 0; t < problem->n_tensor; t++) {
            enum tensor_role role = problem->tensor[t].role;
            if (architecture_keeps(arch, v, &problem->tensor[t]) &&
                (!storage->n_part || storage->part_of[role] == p))
                memory->tensors |= 1u << t;
        }
        const uint64_t words = storage->n_part ? storage->part[p].size_word : storage->size_word;
        memory->most_word =
            words == ARCH_UNLIMITED ? INFINITY : floor((double)words / storage->multiple_buffering);
        if (half_full && storage->n_part <= 1 && isfinite(memory->most_word) &&
            !(storage->n_part == 1 && lacks(arch, v + 1, memory->tensors, problem)))
            memory->least_word = storage->min_utilization * memory->most_word;
        level->n_memory += memory->tensors != 0 && isfinite(memory->most_word);
    }
}

/* What one visit of every word of a tensor costs at `storage`, and what the first costs less. */
static double visit_energy(const struct storage_level *storage, const struct reuse_tensor *tensor,
                           double *first_j)
{
    double read_j = storage->read_energy_j / storage->block_word;
    double write_j = storage->update_energy_j / storage->block_word;
    if (storage->n_part)
        read_j = write_j = storage->part[storage->part_of[tensor->role]].access_energy_j;
    read_j = (read_j + storage->address_energy_j) * tensor->size_word;
    write_j = (write_j + storage->address_energy_j) * tensor->size_word;
    *first_j = tensor->output ? read_j : 0;
    return tensor->output ? read_j + write_j : read_j;
}

/* The level that asks for what level v keeps of tensor t: the outermost one inside it next to one that keeps
 * it, or the innermost. By the authors' rule a level asks for itself. */
static uint32_t demand_level(const struct blocking_model *model, const struct architecture *arch, uint32_t v,
                             uint32_t t)
{
    while (model->rule == REUSE_SANE && v > 0 && !architecture_keeps(arch, v - 1, &model->problem->tensor[t]))
        v--;
    return v;
}

/* Is there an array inside level v and around level `demand`? */
static bool array_between(const struct blocking_model *model, uint32_t v, uint32_t demand)
{
    for (; v > demand; v--)
        if (blocking_has_array(model, v))
            return true;
    return false;
}

static void compile_bandwidth(const struct storage_level *storage, struct blocking_level *level)
{
    level->read_word_per_cycle = storage->read_bandwidth_word_per_cycle;
    level->write_word_per_cycle = storage->write_bandwidth_word_per_cycle;
    level->shared_word_per_cycle = storage->shared_bandwidth_word_per_cycle;
    level->limited = isfinite(level->read_word_per_cycle) || isfinite(level->write_word_per_cycle) ||
                     isfinite(level->shared_word_per_cycle);
}

static void compile_level(struct blocking_model *model, const struct architecture *arch, uint32_t v,
                          const struct blocking_rules *rules)
{
    const struct storage_level *storage = &arch->level[v];
    struct blocking_level *level = &model->level[v];
    uint64_t x, y;
    architecture_fanout(arch, v, &x, &y);
    level->only_y = x == 1;
    level->side[0] = (uint32_t)(level->only_y ? y : x);
    level->side[1] = (uint32_t)(level->only_y ? 1 : y);
    level->link = storage->link;
    compile_bandwidth(storage, level);
    for (uint32_t t = 0; t < model->n_tensor; t++) {
        const struct reuse_tensor *tensor = &model->reuse.tensor[t];
        const uint32_t demand = demand_level(model, arch, v, t);
        const bool kept = architecture_keeps(arch, v, &model->problem->tensor[t]);
        const bool late = kept && demand < v && level->limited;
        const bool shared = array_between(model, v, demand) || (rules->timed && late);
        level->passes |= (uint32_t)(demand < v) << t;
        level->keeps |= (uint32_t)kept << t;
        if (rules->timed && late) {
            model->times = model->times && (model->pending < 0 || model->pending == (int)v);
            model->pending = (int)v;
        }
        model->owes = model->owes || shared;
        if (blocking_has_array(model, v)) {
            *(shared ? &level->pass_hop_j[t] : &level->hop_j[t]) =
                (storage->hop_energy_j + storage->router_energy_j) * tensor->size_word;
            *(shared ? &level->pass_enter_j[t] : &level->enter_j[t]) =
                storage->ingress_energy_j * tensor->size_word;
        }
        if (kept)
            *(shared ? &level->lend_j[t] : &model->level[demand].visit_j[t]) =
                visit_energy(storage, tensor, &model->level[demand].first_j[t]);
    }
    compile_group(model, arch, v);
    if (v + 1 < arch->n_level)
        compile_memories(level, model->problem, arch, v, rules->half_full);
}

uint64_t blocking_tile_words(const struct blocking_box *box, const uint32_t *extent, bool loose)
{
    uint64_t words = 1;
    for (uint32_t r = 0; r < box->n_rank; r++) {
        uint64_t length = 1;
        for (uint32_t i = box->begin[r]; i < box->begin[r + 1]; i++)
            length += (uint64_t)(loose ? 1 : box->coefficient[i]) * (extent[box->dim[i]] - 1);
        words *= length;
    }
    return words;
}

static void compile_box(const struct tensor *tensor, struct blocking_box *out)
{
    uint32_t n = 0;
    out->n_rank = tensor->n_rank;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        out->begin[r] = (uint8_t)n;
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++) {
            out->dim[n] = (uint8_t)tensor->rank[r].term[i].dim;
            out->coefficient[n++] = tensor->rank[r].term[i].coefficient;
        }
    }
    out->begin[tensor->n_rank] = (uint8_t)n;
}

void blocking_model_compile(const struct problem *problem, const struct architecture *arch,
                            const struct blocking_rules *rules, struct blocking_model *out)
{
    uint32_t chain[PROBLEM_TENSOR_MAX];
    memset(out, 0, sizeof *out);
    out->problem = problem;
    out->rule = rules->reuse;
    out->padded = rules->padded;
    out->pending = -1;
    out->times = true;
    out->n_dim = problem->n_dim;
    out->n_level = arch->n_level;
    out->n_tensor = problem->n_tensor;
    out->mac_holds = arch->mac.capacity > 0;
    out->mac_j = arch->mac.energy_j * (double)problem_macs(problem);
    interstellar_reuse_compile(problem, &out->reuse);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        out->loops |= (uint32_t)(problem->bound[d] > 1) << d;
    add_chains(out, out->loops, chain, 0);
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        compile_box(&problem->tensor[t], &out->box[t]);
    out->exact = true;
    for (uint32_t v = 0; v < arch->n_level; v++)
        compile_level(out, arch, v, rules);
    /* The authors' bank leaves out the loops of arrays further in, which the search does not know yet. */
    for (uint32_t v = 2; v < arch->n_level; v++)
        for (uint32_t w = 1; w < v && out->rule == REUSE_COMPAT; w++)
            out->exact = out->exact && !(blocking_has_array(out, v) && blocking_has_array(out, w));
}

bool blocking_fits(const struct blocking_model *model, uint32_t v, const uint32_t *extent, double instances,
                   bool least)
{
    const struct blocking_level *level = &model->level[v];
    const bool loose = instances > 1 && model->rule == REUSE_SANE;
    for (uint32_t m = 0; m < level->n_memory; m++) {
        const struct blocking_memory *memory = &level->memory[m];
        double words = 0;
        for (uint32_t t = 0; t < model->n_tensor; t++)
            if (memory->tensors >> t & 1)
                words += (double)blocking_tile_words(&model->box[t], extent, loose);
        if (words > memory->most_word * instances)
            return false;
        if (least && (words < memory->least_word ||
                      (memory->more_than_least && memory->least_word > 0 && words == memory->least_word)))
            return false;
    }
    return true;
}

bool blocking_take_banks(const struct blocking_model *model, uint32_t v, const uint32_t *extent,
                         uint32_t *taken)
{
    const struct blocking_level *level = &model->level[v];
    uint64_t words = 0;
    if (level->group == 0)
        return true;
    for (uint32_t t = 0; t < model->n_tensor; t++)
        if (level->keeps >> t & 1)
            words += blocking_tile_words(&model->box[t], extent, false);
    uint32_t *banks = &taken[level->group - 1];
    const uint64_t all = *banks + bank_group_need(words, level->bank_word);
    *banks = level->open ? (uint32_t)all : 0;
    return all <= level->most_bank;
}

void blocking_counts(const struct blocking_model *model, uint32_t v, uint32_t k, const double *outside,
                     const double *inside, double *count)
{
    double product[PROBLEM_DIM_MAX];
    for (uint32_t t = 0; t < model->n_tensor; t++) {
        blocking_product(model, v, k, t, outside, inside, product);
        count[t] = reuse_count(&model->reuse.tensor[t], model->rule, product);
    }
}
