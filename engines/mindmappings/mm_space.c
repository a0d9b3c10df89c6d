/* The space: all factorisations of each dimension, tiles, members, uniform draws. */
#include "engines/mindmappings/mm_space.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engines/mindmappings/mm_space_private.h"

/* Of one dimension; sizes up to MM_SIZE_MAX stay below. */
enum { FACTORS_MAX = 1 << 20 };

const char *const mm_mode_name[MM_MODE_COUNT] = {"autobypass", "mustfit"};

const struct mm_machine *mm_space_machine(const struct mm_space *space)
{
    return space->machine;
}

const struct problem *mm_space_problem(const struct mm_space *space)
{
    return &space->problem;
}

const uint32_t *mm_space_size(const struct mm_space *space)
{
    return space->size;
}

/* ---------------------------------------- factorisations */

static uint32_t list_divisors(uint32_t n, uint32_t *divisor)
{
    uint32_t n_low = 0, n_all;
    for (uint32_t i = 1; (uint64_t)i * i <= n && n_low < MM_DIVISOR_MAX / 2; i++)
        if (n % i == 0)
            divisor[n_low++] = i;
    n_all = n_low;
    for (uint32_t i = n_low; i-- > 0;)
        if (n / divisor[i] != divisor[i])
            divisor[n_all++] = n / divisor[i];
    return n_all;
}

/* The ordered factorisations of n, counted, and written to `out` where that is not NULL. */
static uint32_t factorise(uint32_t n, const uint32_t *divisor, uint32_t n_divisor,
                          uint32_t (*out)[MM_BLOCK_COUNT])
{
    uint32_t count = 0;
    for (uint32_t a = 0; a < n_divisor; a++)
        for (uint32_t b = 0; b < n_divisor && divisor[b] <= n / divisor[a]; b++) {
            const uint32_t rest = n / divisor[a] / divisor[b];
            if (n / divisor[a] % divisor[b] != 0)
                continue;
            for (uint32_t c = 0; c < n_divisor && divisor[c] <= rest && count < FACTORS_MAX; c++) {
                if (rest % divisor[c] != 0)
                    continue;
                if (out) {
                    const uint32_t factor[] = {divisor[a], divisor[b], divisor[c], rest / divisor[c]};
                    memcpy(out[count], factor, sizeof factor);
                }
                count++;
            }
        }
    return count;
}

static enum dse_status list_factors(struct mm_space *space, uint32_t d, struct arena *arena,
                                    struct dse_error *err)
{
    struct mm_factors *factors = &space->factors[d];
    const uint32_t n = space->size[d];
    uint32_t divisor[MM_DIVISOR_MAX];
    const uint32_t n_divisor = list_divisors(n, divisor);
    factors->n = factorise(n, divisor, n_divisor, NULL);
    if (factors->n == FACTORS_MAX)
        return dse_fail(err, DSE_LIMIT, "the size of %s, %" PRIu32 ", has more than %d factorisations",
                        space->machine->algorithm->dim[d], n, FACTORS_MAX);
    factors->factor = arena_alloc(arena, factors->n, sizeof *factors->factor);
    factors->log2 = arena_alloc(arena, factors->n, sizeof *factors->log2);
    DSE_TRY(arena_check(arena, "a map space", err));
    factorise(n, divisor, n_divisor, factors->factor);
    for (uint32_t i = 0; i < factors->n; i++)
        for (int b = 0; b < MM_BLOCK_COUNT; b++)
            factors->log2[i][b] = log2(factors->factor[i][b]);
    return DSE_OK;
}

enum dse_status mm_space_new(const struct mm_machine *machine, const uint32_t *size, enum mm_mode mode,
                             struct arena *arena, const struct mm_space **out, struct dse_error *err)
{
    const struct mm_algorithm *algorithm = machine->algorithm;
    struct mm_space *space = arena_alloc(arena, 1, sizeof *space);
    DSE_TRY(arena_check(arena, "a map space", err));
    *space = (struct mm_space){.machine = machine, .mode = mode};
    memcpy(space->size, size, algorithm->n_dim * sizeof *size);
    DSE_TRY(mm_problem(algorithm, size, &space->problem, err));
    for (uint32_t d = 0; d < algorithm->n_dim; d++) {
        space->dim[d] = (uint32_t)problem_find_dim(&space->problem, algorithm->dim[d]);
        DSE_TRY(list_factors(space, d, arena, err));
    }
    *out = space;
    return DSE_OK;
}

double mm_space_log10(const struct mm_space *space)
{
    const struct mm_algorithm *algorithm = space->machine->algorithm;
    double log10_size = MM_NEST_COUNT * gsl_sf_lnfact(algorithm->n_dim) / M_LN10;
    for (uint32_t d = 0; d < algorithm->n_dim; d++)
        log10_size += log10(space->factors[d].n);
    for (int m = 0; m < MM_MEMORY_COUNT; m++)
        log10_size += gsl_sf_lnchoose(space->machine->banks[m] - 1, algorithm->n_tensor - 1) / M_LN10;
    return log10_size;
}

/* ---------------------------------------- tiles */

void mm_space_tiles(const struct mm_space *space, uint32_t (*factor)[MM_DIM_MAX],
                    uint64_t (*word)[MM_TENSOR_MAX])
{
    const struct mm_machine *machine = space->machine;
    const struct mm_algorithm *algorithm = machine->algorithm;
    /* where the private loops are, outside the array, and outside the shared loops */
    uint32_t inner[PROBLEM_DIM_MAX], array[PROBLEM_DIM_MAX], outer[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < algorithm->n_dim; d++) {
        const uint32_t to = space->dim[d];
        inner[to] = factor[MM_PRIVATE][d];
        array[to] = inner[to] * factor[MM_SPATIAL][d];
        outer[to] = array[to] * factor[MM_SHARED][d];
    }
    for (uint32_t i = 0; i < algorithm->n_tensor; i++) {
        word[MM_MEMORY_SHARED][i] =
            problem_tile_words(&space->problem, machine->tensor[MM_MEMORY_SHARED][i], i == 0 ? outer : array);
        word[MM_MEMORY_PRIVATE][i] = 1;
        if (algorithm->loops_innermost || i == 0)
            word[MM_MEMORY_PRIVATE][i] =
                problem_tile_words(&space->problem, machine->tensor[MM_MEMORY_PRIVATE][i], inner);
    }
}

/* ---------------------------------------- members */

__attribute__((format(printf, 3, 4))) static bool refuse(char *reason, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (reason && size)
        (void)vsnprintf(reason, size, format, args);
    va_end(args);
    return false;
}

static bool check_factors(const struct mm_space *space, const struct mm_mapping *mapping, char *reason,
                          size_t size)
{
    const struct mm_algorithm *algorithm = space->machine->algorithm;
    double pes = 1;
    for (uint32_t d = 0; d < algorithm->n_dim; d++) {
        double product = 1;
        for (int b = 0; b < MM_BLOCK_COUNT; b++)
            product *= mapping->factor[b][d];
        if (product < space->size[d] || product > space->size[d])
            return refuse(reason, size, "the factors of %s multiply to %.0f, its size is %" PRIu32,
                          algorithm->dim[d], product, space->size[d]);
        pes *= mapping->factor[MM_SPATIAL][d];
    }
    return pes <= space->machine->n_pe ||
           refuse(reason, size, "the spatial factors need %.0f PEs, there are %" PRIu32, pes,
                  space->machine->n_pe);
}

static bool check_orders(const struct mm_space *space, const struct mm_mapping *mapping, char *reason,
                         size_t size)
{
    static const char *const block[MM_NEST_COUNT] = {"DRAM", "shared", "private"};
    const uint32_t n_dim = space->machine->algorithm->n_dim;
    for (int n = 0; n < MM_NEST_COUNT; n++) {
        uint32_t seen = 0;
        for (uint32_t d = 0; d < n_dim; d++)
            seen |= mapping->place[n][d] < n_dim ? 1u << mapping->place[n][d] : 0;
        if (seen != (1u << n_dim) - 1)
            return refuse(reason, size, "the order of the %s block is no permutation of 0 to %" PRIu32,
                          block[n], n_dim - 1);
    }
    return true;
}

static const char *group_name(const struct mm_machine *machine, int memory)
{
    const struct architecture *arch = machine->arch;
    return arch->group[arch->level[machine->level[memory][0]].bank_group - 1].name;
}

static bool check_banks(const struct mm_space *space, const struct mm_mapping *mapping, char *reason,
                        size_t size)
{
    const struct mm_machine *machine = space->machine;
    for (int m = 0; m < MM_MEMORY_COUNT; m++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < machine->algorithm->n_tensor; i++) {
            if (mapping->banks[m][i] < 1)
                return refuse(reason, size, "%s has no bank, must have one",
                              machine->arch->level[machine->level[m][i]].name);
            sum += mapping->banks[m][i];
        }
        if (sum != machine->banks[m])
            return refuse(reason, size, "%" PRIu64 " banks of %s are dealt out, it has %" PRIu32, sum,
                          group_name(machine, m), machine->banks[m]);
    }
    return true;
}

static bool check_tiles(const struct mm_space *space, const struct mm_mapping *mapping, char *reason,
                        size_t size)
{
    const struct mm_machine *machine = space->machine;
    uint32_t factor[MM_BLOCK_COUNT][MM_DIM_MAX];
    uint64_t word[MM_MEMORY_COUNT][MM_TENSOR_MAX];
    memcpy(factor, mapping->factor, sizeof factor);
    mm_space_tiles(space, factor, word);
    for (int m = 0; m < MM_MEMORY_COUNT; m++)
        for (uint32_t i = 0; i < machine->algorithm->n_tensor; i++) {
            const uint64_t has = mapping->banks[m][i] * machine->bank_word[m][i];
            if (word[m][i] > has)
                return refuse(reason, size, "%s needs %" PRIu64 " words, its %" PRIu32 " banks have %" PRIu64,
                              machine->arch->level[machine->level[m][i]].name, word[m][i],
                              mapping->banks[m][i], has);
        }
    return true;
}

bool mm_space_contains(const struct mm_space *space, const struct mm_mapping *mapping, char *reason,
                       size_t size)
{
    if (reason && size)
        reason[0] = '\0';
    return check_factors(space, mapping, reason, size) && check_orders(space, mapping, reason, size) &&
           check_banks(space, mapping, reason, size) &&
           (space->mode == MM_AUTOBYPASS || check_tiles(space, mapping, reason, size));
}

/* ---------------------------------------- draws */

static void draw_factors(const struct mm_space *space, uint32_t d, struct random_stream *stream,
                         struct mm_mapping *mapping)
{
    const struct mm_factors *factors = &space->factors[d];
    const uint32_t *factor = factors->factor[random_below(stream, factors->n)];
    for (int b = 0; b < MM_BLOCK_COUNT; b++)
        mapping->factor[b][d] = factor[b];
}

static void draw_order(const struct mm_space *space, int nest, struct random_stream *stream,
                       struct mm_mapping *mapping)
{
    const uint32_t n_dim = space->machine->algorithm->n_dim;
    uint8_t *place = mapping->place[nest];
    for (uint32_t d = 0; d < n_dim; d++) { /* Fisher and Yates, from the inside out */
        uint32_t at = random_below(stream, d + 1);
        place[d] = place[at];
        place[at] = (uint8_t)d;
    }
}

/* n_tensor - 1 different cuts among the banks, all sets equally likely (Floyd's algorithm, CACM 30(9), 1987).
 */
static void draw_banks(const struct mm_space *space, int memory, struct random_stream *stream,
                       struct mm_mapping *mapping)
{
    const uint32_t n = space->machine->algorithm->n_tensor, all = space->machine->banks[memory];
    uint32_t cut[MM_TENSOR_MAX], n_cut = 0;
    for (uint32_t j = all - n + 1; j < all; j++) {
        uint32_t chosen = 1 + random_below(stream, j), at = n_cut;
        for (uint32_t i = 0; i < n_cut; i++)
            if (cut[i] == chosen)
                chosen = j;
        for (; at > 0 && cut[at - 1] > chosen; at--)
            cut[at] = cut[at - 1];
        cut[at] = chosen;
        n_cut++;
    }
    for (uint32_t i = 0, before = 0; i < n; i++) {
        const uint32_t end = i < n_cut ? cut[i] : all;
        mapping->banks[memory][i] = end - before;
        before = end;
    }
}

void mm_space_draw_attribute(const struct mm_space *space, uint32_t attribute, struct random_stream *stream,
                             struct mm_mapping *mapping)
{
    const uint32_t n_dim = space->machine->algorithm->n_dim;
    if (attribute < n_dim)
        draw_factors(space, attribute, stream, mapping);
    else if (attribute < n_dim + MM_NEST_COUNT)
        draw_order(space, (int)(attribute - n_dim), stream, mapping);
    else
        draw_banks(space, (int)(attribute - n_dim - MM_NEST_COUNT), stream, mapping);
}

static bool few_enough(const struct mm_space *space, const struct mm_mapping *mapping)
{
    double pes = 1;
    for (uint32_t d = 0; d < space->machine->algorithm->n_dim; d++)
        pes *= mapping->factor[MM_SPATIAL][d];
    return pes <= space->machine->n_pe;
}

void mm_space_draw(const struct mm_space *space, struct random_stream *stream, struct mm_mapping *mapping)
{
    const uint32_t n_dim = space->machine->algorithm->n_dim;
    bool fits = false;
    while (!fits) { /* with all loops at the DRAM it fits, so this ends */
        for (uint32_t d = 0; d < n_dim; d++)
            mm_space_draw_attribute(space, d, stream, mapping);
        if (!few_enough(space, mapping))
            continue;
        for (uint32_t m = 0; m < MM_MEMORY_COUNT; m++)
            mm_space_draw_attribute(space, n_dim + MM_NEST_COUNT + m, stream, mapping);
        fits = space->mode == MM_AUTOBYPASS || check_tiles(space, mapping, NULL, 0);
    }
    for (uint32_t n = 0; n < MM_NEST_COUNT; n++)
        mm_space_draw_attribute(space, n_dim + n, stream, mapping);
}
