/* Lays the loops of a mapping on the axes of grid and block: each whole on one axis where that fits, else
 * prime by prime; then holds the launch against CUDA's limits. */
#include "costmodel/loopnest/gpu_schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/model/gpu_limits.h"

enum { WHOLE_MAX = 8 }; /* loops of which every arrangement is tried: 3^8 */

/* The largest grid of compute capability 3.0 and later (CUDA C programming guide, technical
 * specifications). */
static const uint64_t grid_limit[3] = {INT32_MAX, 65535, 65535};

/* Loops to arrange, the fastest varying first. */
struct loops {
    uint32_t n;
    struct gpu_part part[GPU_PART_MAX];
};

/* ---------------------------------------- the axes */

static void add_part(struct gpu_axes *axes, const struct gpu_part *loop, uint32_t axis, uint64_t factor,
                     uint64_t step)
{
    axes->part[axes->n_part++] = (struct gpu_part){
        .dim = loop->dim, .axis = axis, .factor = factor, .step = step, .stride = axes->size[axis]};
    axes->size[axis] *= factor;
}

static void clear(struct gpu_axes *axes)
{
    axes->n_part = 0;
    for (int axis = 0; axis < 3; axis++)
        axes->size[axis] = 1;
}

/* Each loop whole on one axis, as near as possible to the first on x, the second on y, the others on z. */
static bool arrange_whole(const struct loops *loops, const uint64_t *limit, struct gpu_axes *axes)
{
    uint32_t n_way = 1, best_way = 0, best = UINT32_MAX;
    if (loops->n > WHOLE_MAX)
        return false;
    for (uint32_t i = 0; i < loops->n; i++)
        n_way *= 3;
    for (uint32_t way = 0; way < n_way; way++) {
        uint64_t size[3] = {1, 1, 1};
        uint32_t distance = 0, rest = way;
        bool fits = true;
        for (uint32_t i = 0; i < loops->n && fits; i++, rest /= 3) {
            uint32_t axis = rest % 3, wanted = i < 2 ? i : 2;
            fits = loops->part[i].factor <= limit[axis] / size[axis];
            size[axis] *= loops->part[i].factor;
            distance += axis > wanted ? axis - wanted : wanted - axis;
        }
        if (!fits || distance >= best)
            continue;
        best = distance;
        best_way = way;
    }
    clear(axes);
    for (uint32_t i = 0; i < loops->n && best != UINT32_MAX; i++, best_way /= 3)
        add_part(axes, &loops->part[i], best_way % 3, loops->part[i].factor, loops->part[i].step);
    return best != UINT32_MAX;
}

/* Three sizes within the limits that multiply to `product`, x as large as possible; false when there are
 * none. */
static bool sizes_of(uint64_t product, const uint64_t *limit, uint64_t *size)
{
    for (size[0] = product < limit[0] ? product : limit[0]; size[0] > 0; size[0]--) {
        if (product % size[0] != 0)
            continue;
        for (size[2] = 1; size[2] <= limit[2]; size[2]++) {
            size[1] = product / size[0] / size[2];
            if (product / size[0] % size[2] == 0 && size[1] <= limit[1])
                return true;
        }
    }
    return false;
}

/* Hand every prime to an axis whose wanted size still has it: the sizes multiply to the product of all, so
 * there always is one. The primes of one loop on one axis stay together. */
static void arrange_primes(const struct loops *loops, const uint64_t *wanted, struct gpu_axes *axes)
{
    uint64_t left[3] = {wanted[0], wanted[1], wanted[2]};
    clear(axes);
    for (uint32_t i = 0; i < loops->n; i++) {
        uint64_t rest = loops->part[i].factor, step = loops->part[i].step;
        for (uint32_t axis = 0; axis < 3; axis++) {
            uint64_t factor = 1;
            for (uint64_t prime = 2; prime <= rest; prime += rest % prime != 0 || left[axis] % prime != 0) {
                if (rest % prime != 0 || left[axis] % prime != 0)
                    continue;
                rest /= prime;
                left[axis] /= prime;
                factor *= prime;
            }
            if (factor > 1)
                add_part(axes, &loops->part[i], axis, factor, step);
            step *= factor;
        }
    }
}

static void arrange(const struct loops *loops, const uint64_t *limit, struct gpu_axes *axes)
{
    uint64_t product = 1, size[3] = {1, 1, 1};
    if (arrange_whole(loops, limit, axes))
        return;
    for (uint32_t i = 0; i < loops->n; i++)
        product *= loops->part[i].factor;
    if (product <= limit[0] || limit[0] > UINT16_MAX || !sizes_of(product, limit, size)) {
        size[0] = product; /* what is too large is seen by the check */
        size[1] = size[2] = 1;
    }
    arrange_primes(loops, size, axes);
}

/* ---------------------------------------- the loops */

static uint32_t output_of(const struct problem *problem)
{
    uint32_t t = 0;
    while (t + 1 < problem->n_tensor && !problem->tensor[t].read_write)
        t++;
    return t;
}

/* Dimensions, that of the outputs' last (contiguous) rank first, those that do not index them last. Returns
 * how many do. */
static uint32_t order_dims(const struct problem *problem, uint8_t *order)
{
    const struct tensor *output = &problem->tensor[output_of(problem)];
    uint32_t seen = 0, n = 0, n_output = 0;
    for (uint32_t r = output->n_rank; r-- > 0;)
        for (uint32_t i = 0; i < output->rank[r].n_term; i++) {
            uint32_t d = output->rank[r].term[i].dim;
            if (!(seen >> d & 1u))
                order[n++] = (uint8_t)d;
            seen |= 1u << d;
        }
    n_output = n;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (!(seen >> d & 1u))
            order[n++] = (uint8_t)d;
    return n_output;
}

/* Iterations of d that one step of its spatial (or temporal) loop at level l moves: the factors inside. */
static uint64_t step_of(const struct mapping *mapping, uint32_t l, uint32_t d, bool temporal)
{
    uint64_t step = temporal ? mapping->level[l].spatial[d] : 1;
    for (uint32_t k = 0; k < l; k++)
        step *= (uint64_t)mapping->level[k].spatial[d] * mapping->level[k].temporal[d];
    return step;
}

static void add_loop(struct loops *loops, uint32_t dim, uint64_t factor, uint64_t step)
{
    if (factor > 1)
        loops->part[loops->n++] = (struct gpu_part){.dim = dim, .factor = factor, .step = step};
}

/* Words of the tiles of level l that the mapping keeps, by tensor; returns their sum. */
static uint64_t add_tiles(const struct problem *problem, const struct mapping *mapping, uint32_t l,
                          uint64_t *word)
{
    uint32_t extent[PROBLEM_DIM_MAX];
    uint64_t sum = 0;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        extent[d] = (uint32_t)step_of(mapping, l, d, true) * mapping->level[l].temporal[d];
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        if (!(mapping->level[l].keep >> t & 1u))
            continue;
        uint64_t words = problem_tile_words(problem, t, extent);
        word[t] += words;
        sum += words;
    }
    return sum;
}

static uint64_t bytes(uint64_t words, uint32_t word_bit)
{
    uint64_t bit = gpu_add_bits(0, words, word_bit);
    return bit / 8 + (bit % 8 != 0);
}

static void make_grid(const struct problem *problem, const struct architecture *arch,
                      const struct mapping *mapping, struct gpu_schedule *schedule)
{
    struct loops grid = {.n = 0};
    uint8_t order[PROBLEM_DIM_MAX];
    uint32_t n_output = order_dims(problem, order), outside = arch->gpu.level + 1;
    for (uint32_t i = 0; i < problem->n_dim; i++) {
        uint32_t d = order[i];
        uint64_t factor = 1;
        for (uint32_t l = outside; l < arch->n_level; l++) {
            const struct mapping_level *level = &mapping->level[l];
            if (i < n_output)
                factor *= (uint64_t)level->spatial[d] * level->temporal[d];
            else
                add_loop(&grid, d, level->spatial[d], step_of(mapping, l, d, false));
            schedule->shared_by_blocks |= (uint32_t)(i >= n_output && level->spatial[d] > 1) << d;
        }
        if (i < n_output)
            add_loop(&grid, d, factor, step_of(mapping, outside, d, false));
    }
    arrange(&grid, grid_limit, &schedule->grid);
}

static void make_block(const struct problem *problem, const struct architecture *arch,
                       const struct mapping *mapping, struct gpu_schedule *schedule)
{
    const struct gpu_limits *gpu = &arch->gpu;
    const uint64_t limit[3] = {gpu->thread_dim[0], gpu->thread_dim[1], gpu->thread_dim[2]};
    struct loops block = {.n = 0};
    uint8_t order[PROBLEM_DIM_MAX];
    uint32_t n_output = order_dims(problem, order);
    for (uint32_t i = 0; i < problem->n_dim; i++) {
        uint32_t factor = mapping->level[gpu->level].spatial[order[i]];
        add_loop(&block, order[i], factor, step_of(mapping, gpu->level, order[i], false));
        schedule->shared_by_threads |= (uint32_t)(i >= n_output && factor > 1) << order[i];
    }
    arrange(&block, limit, &schedule->block);
}

static uint64_t product_of(const struct gpu_axes *axes)
{
    return axes->size[0] * axes->size[1] * axes->size[2];
}

bool gpu_loop_is_serial(const struct problem *problem, const struct architecture *arch, uint32_t l,
                        uint32_t d)
{
    const struct tensor *output = &problem->tensor[output_of(problem)];
    if (l <= arch->gpu.level)
        return true;
    for (uint32_t r = 0; r < output->n_rank; r++)
        for (uint32_t i = 0; i < output->rank[r].n_term; i++)
            if (output->rank[r].term[i].dim == d)
                return false;
    return true;
}

/* Does a serial loop over outputs lie inside one of sums, both outside the storage that holds the sums? */
static bool leaves_sums(const struct problem *problem, const struct architecture *arch,
                        const struct mapping *mapping)
{
    uint32_t output = output_of(problem), holder = arch->gpu.level + 1;
    uint8_t order[PROBLEM_DIM_MAX];
    uint32_t n_output = order_dims(problem, order), outputs = 0;
    bool in_sum = false;
    for (uint32_t i = 0; i < n_output; i++)
        outputs |= 1u << order[i];
    while (holder > 0 && !(mapping->level[holder - 1].keep >> output & 1u))
        holder--;
    for (uint32_t l = arch->n_level; l-- > holder;)
        for (uint32_t i = problem->n_dim; i-- > 0;) {
            uint32_t d = mapping->level[l].temporal_order[i];
            if (mapping->level[l].temporal[d] == 1 || !gpu_loop_is_serial(problem, arch, l, d))
                continue;
            if (in_sum && (outputs >> d & 1u))
                return true;
            in_sum |= !(outputs >> d & 1u);
        }
    return false;
}

void gpu_schedule_of(const struct problem *problem, const struct architecture *arch,
                     const struct mapping *mapping, struct gpu_schedule *schedule)
{
    uint32_t threads = arch->gpu.level;
    uint64_t bit = 0;
    memset(schedule, 0, sizeof *schedule);
    make_grid(problem, arch, mapping, schedule);
    make_block(problem, arch, mapping, schedule);
    schedule->unfinished = leaves_sums(problem, arch, mapping);
    schedule->blocks = product_of(&schedule->grid);
    schedule->threads = product_of(&schedule->block);
    schedule->shared_byte =
        bytes(add_tiles(problem, mapping, threads, schedule->shared_word), arch->level[threads].word_bit);
    for (uint32_t l = 0; l < threads; l++) {
        uint64_t words = add_tiles(problem, mapping, l, schedule->register_word);
        schedule->register_words += words;
        bit = gpu_add_bits(bit, words, arch->level[l].word_bit);
    }
    bit = gpu_add_bits(0, bit, (uint32_t)schedule->threads);
    schedule->register_byte = bit / 8 + (bit % 8 != 0);
}

/* ---------------------------------------- the check */

static bool refuse(char *reason, size_t size, const char *what, uint64_t needed, uint64_t available,
                   const char *unit)
{
    char have[40], most[40];
    if (reason && size > 0)
        (void)snprintf(reason, size, "%s %s%s, at most %s", what, text_thousands(needed, have, sizeof have),
                       unit, text_thousands(available, most, sizeof most));
    return false;
}

static bool check_storages(const struct architecture *arch, const struct gpu_schedule *schedule, char *reason,
                           size_t size)
{
    const struct gpu_limits *gpu = &arch->gpu;
    const struct storage_level *shared = &arch->level[gpu->level];
    uint64_t most = architecture_usable_words(shared);
    if (most != ARCH_UNLIMITED && schedule->shared_byte > bytes(most, shared->word_bit))
        return refuse(reason, size, "the tiles in shared memory have", schedule->shared_byte,
                      bytes(most, shared->word_bit), " B");
    most = 0;
    for (uint32_t l = 0; l < gpu->level && most != ARCH_UNLIMITED; l++) {
        uint64_t words = architecture_usable_words(&arch->level[l]);
        most = words == ARCH_UNLIMITED ? words : most + words;
    }
    if (schedule->register_words > most)
        return refuse(reason, size, "a thread has", schedule->register_words, most, " words of registers");
    if (schedule->register_byte > gpu->register_bit / 8)
        return refuse(reason, size, "a block has", schedule->register_byte, gpu->register_bit / 8,
                      " B of registers");
    return true;
}

bool gpu_schedule_check(const struct architecture *arch, const struct gpu_schedule *schedule, char *reason,
                        size_t size)
{
    static const char *const axis_name[3] = {"x has", "y has", "z has"};
    static const char *const grid_name[3] = {"x of the grid has", "y of the grid has", "z of the grid has"};
    const struct gpu_limits *gpu = &arch->gpu;
    if (reason && size > 0)
        reason[0] = '\0';
    for (int axis = 0; axis < 3; axis++)
        if (schedule->block.size[axis] > gpu->thread_dim[axis])
            return refuse(reason, size, axis_name[axis], schedule->block.size[axis], gpu->thread_dim[axis],
                          " threads");
    if (schedule->threads > gpu->threads_per_block)
        return refuse(reason, size, "a block has", schedule->threads, gpu->threads_per_block, " threads");
    for (int axis = 0; axis < 3; axis++)
        if (schedule->grid.size[axis] > grid_limit[axis])
            return refuse(reason, size, grid_name[axis], schedule->grid.size[axis], grid_limit[axis],
                          " blocks");
    return check_storages(arch, schedule, reason, size);
}
