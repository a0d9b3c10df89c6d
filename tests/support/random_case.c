/* Draws problems (convolutions, GEMMs, odd projections), machines with and without limits, and mappings
 * that fit them. */
#include "tests/support/random_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool chance(struct random_stream *stream, uint32_t percent)
{
    return random_below(stream, 100) < percent;
}

/* ---------------------------------------- problems */

void random_case_dims(struct problem *problem, const char *name, const char *letters, const uint32_t *bound)
{
    memset(problem, 0, sizeof *problem);
    (void)snprintf(problem->name, sizeof problem->name, "%s", name);
    for (; letters[problem->n_dim]; problem->n_dim++) {
        problem->dim_name[problem->n_dim][0] = letters[problem->n_dim];
        problem->bound[problem->n_dim] = bound[problem->n_dim];
    }
}

void random_case_tensor(struct problem *problem, const char *name, enum tensor_role role, const char *ranks)
{
    struct tensor *tensor = &problem->tensor[problem->n_tensor++];
    (void)snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->role = role;
    tensor->read_write = role == TENSOR_OUTPUT;
    tensor->n_rank = 1;
    for (const char *c = ranks; *c; c++) {
        struct tensor_rank *rank = &tensor->rank[tensor->n_rank - 1];
        if (*c == ' ')
            tensor->n_rank++;
        if (*c == ' ' || *c == '+')
            continue;
        char letter[2] = {*c, '\0'};
        struct projection_term *term = &rank->term[rank->n_term++];
        term->dim = (uint32_t)problem_find_dim(problem, letter);
        term->coefficient = 1;
        if (c[1] == '*')
            term->coefficient = (uint32_t)(*(c += 2) - '0');
    }
}

void random_case_conv(struct problem *problem, const char *name, const uint32_t *bound, const char *inputs)
{
    random_case_dims(problem, name, "RSPQCKN", bound);
    random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "C K R S");
    random_case_tensor(problem, "Inputs", TENSOR_INPUT, inputs);
    random_case_tensor(problem, "Outputs", TENSOR_OUTPUT, "N K P Q");
}

static uint32_t draw_bound(struct random_stream *stream)
{
    static const uint32_t bound[] = {1, 2, 2, 3, 4, 4, 5, 6, 6, 8, 9, 12};
    return bound[random_below(stream, sizeof bound / sizeof bound[0])];
}

void random_case_problem(struct random_stream *stream, uint64_t macs_max, struct problem *problem)
{
    static const char *const letters[] = {"NKCPQRS", "NCPQRS", "KCPR", "MNK", "IJKL"};
    static const char *const name[] = {"conv", "depthwise", "conv1d", "gemm", "mttkrp"};
    uint32_t kind = random_below(stream, 5);
    do {
        uint32_t bound[PROBLEM_DIM_MAX];
        for (uint32_t d = 0; letters[kind][d]; d++)
            bound[d] = draw_bound(stream);
        random_case_dims(problem, name[kind], letters[kind], bound);
    } while (problem_macs(problem) > macs_max);
    char input[64];
    uint32_t stride = chance(stream, 40) ? 2 + random_below(stream, 2) : 1;
    uint32_t dilation = chance(stream, 25) ? 2 : 1;
    switch (kind) {
    case 0:
        (void)snprintf(input, sizeof input, "N C P*%u+R*%u Q*%u+S*%u", stride, dilation, stride, dilation);
        random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "K C R S");
        random_case_tensor(problem, "Inputs", TENSOR_INPUT, input);
        random_case_tensor(problem, "Outputs", TENSOR_OUTPUT, "N K P Q");
        break;
    case 1:
        (void)snprintf(input, sizeof input, "N C P*%u+R*%u Q*%u+S*%u", stride, dilation, stride, dilation);
        random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "C R S");
        random_case_tensor(problem, "Inputs", TENSOR_INPUT, input);
        random_case_tensor(problem, "Outputs", TENSOR_OUTPUT, "N C P Q");
        break;
    case 2:
        (void)snprintf(input, sizeof input, "C P*%u+R*%u", stride, dilation);
        random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "K C R");
        random_case_tensor(problem, "Inputs", TENSOR_INPUT, input);
        random_case_tensor(problem, "Outputs", TENSOR_OUTPUT, "K P");
        break;
    case 3:
        random_case_tensor(problem, "A", TENSOR_INPUT, "M K");
        random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "K N");
        random_case_tensor(problem, "Z", TENSOR_OUTPUT, "M N");
        break;
    default:
        random_case_tensor(problem, "B", TENSOR_INPUT, "I K L");
        random_case_tensor(problem, "C", TENSOR_INPUT, "K J");
        random_case_tensor(problem, "D", TENSOR_INPUT, "L J");
        random_case_tensor(problem, "A", TENSOR_OUTPUT, "I J");
        break;
    }
}

/* ---------------------------------------- machines */

static double draw_energy(struct random_stream *stream)
{
    return (1 + random_below(stream, 100)) * 1e-13;
}

static double draw_bandwidth(struct random_stream *stream, bool limits)
{
    return limits && chance(stream, 40) ? 0.25 * (1 + random_below(stream, 40)) : INFINITY;
}

static void draw_level(struct random_stream *stream, const struct random_case_options *options,
                       bool outermost, struct storage_level *level)
{
    level->keep_role = (1u << TENSOR_ROLE_COUNT) - 1;
    if (options->roles && !outermost && chance(stream, 40))
        level->keep_role = 1 + random_below(stream, 7);
    level->word_bit = 8u << random_below(stream, 3);
    level->block_word = chance(stream, 40) ? 1 + random_below(stream, 8) : 1;
    level->cluster_size = 1;
    level->size_word = ARCH_UNLIMITED;
    if (options->limits && !outermost && chance(stream, 70))
        level->size_word = 1 + random_below(stream, 600);
    level->multiple_buffering = chance(stream, 20) ? 2 : 1;
    level->is_dram = outermost;
    level->reduces = !outermost;
    level->read_bandwidth_word_per_cycle = draw_bandwidth(stream, options->limits);
    level->write_bandwidth_word_per_cycle = draw_bandwidth(stream, options->limits);
    level->shared_bandwidth_word_per_cycle = draw_bandwidth(stream, options->limits);
    level->read_energy_j = draw_energy(stream);
    level->write_energy_j = draw_energy(stream);
    level->update_energy_j = draw_energy(stream);
    level->address_energy_j = chance(stream, 30) ? draw_energy(stream) : 0;
    if (options->network_cost && chance(stream, 50)) {
        level->hop_energy_j = draw_energy(stream);
        level->router_energy_j = draw_energy(stream);
        level->ingress_energy_j = draw_energy(stream);
    }
    if (options->limits && chance(stream, 20)) {
        level->fill_latency_cycle = random_below(stream, 20);
        level->drain_latency_cycle = random_below(stream, 20);
    }
}

void random_case_architecture(struct random_stream *stream, const struct random_case_options *options,
                              struct architecture *arch)
{
    static const uint64_t fan[] = {1, 1, 1, 2, 3, 4, 4};
    memset(arch, 0, sizeof *arch);
    (void)snprintf(arch->name, sizeof arch->name, "random");
    arch->clock_hz = 1e9;
    arch->link_transfers = options->links;
    arch->strict_fanout = chance(stream, 30);
    arch->n_level = 2 + random_below(stream, 3);
    uint64_t x = 1, y = 1;
    for (uint32_t l = arch->n_level; l-- > 0;) {
        struct storage_level *level = &arch->level[l];
        (void)snprintf(level->name, sizeof level->name, "L%u", (unsigned)l);
        draw_level(stream, options, l + 1 == arch->n_level, level);
        level->mesh_x = x;
        level->mesh_y = y;
        level->instances = x * y;
        if (level->instances > 1 && chance(stream, 30))
            level->cluster_size = level->instances % 2 == 0 ? 2 : 1;
        uint64_t fan_x = fan[random_below(stream, 7)], fan_y = fan[random_below(stream, 7)];
        if (x * fan_x <= 4)
            x *= fan_x;
        if (y * fan_y <= 4)
            y *= fan_y;
    }
    (void)snprintf(arch->mac.name, sizeof arch->mac.name, "MAC");
    arch->mac.word_bit = 8;
    arch->mac.mesh_x = x;
    arch->mac.mesh_y = y;
    arch->mac.instances = x * y;
    arch->mac.energy_j = draw_energy(stream);
}

void random_case_leakage(struct random_stream *stream, struct architecture *arch)
{
    const uint32_t one = random_below(stream, arch->n_level); /* that leaks for certain */
    arch->power_gating = chance(stream, 50);
    arch->mac.leakage_w = chance(stream, 30) ? draw_energy(stream) * arch->clock_hz : 0;
    for (uint32_t l = 0; l < arch->n_level; l++)
        arch->level[l].leakage_w =
            l == one || chance(stream, 50) ? (1e-15 + draw_energy(stream)) * arch->clock_hz : 0;
}

void random_case_banks(struct random_stream *stream, const struct problem *problem, struct architecture *arch)
{
    uint32_t named = random_below(stream, arch->n_level - 1), n = 0;
    arch->level[named].keep_role = 0;
    arch->level[named].keep_name = 1;
    arch->n_tensor_name = 1;
    (void)snprintf(arch->tensor_name[0], ARCH_NAME_MAX, "%.63s",
                   problem->tensor[random_below(stream, problem->n_tensor)].name);
    for (uint32_t l = 0; l + 1 < arch->n_level; l++)
        n += arch->level[l].instances == arch->level[0].instances;
    if (n < 2)
        return;
    arch->n_group = 1;
    arch->group[0].banks = n + random_below(stream, 8);
    (void)snprintf(arch->group[0].name, sizeof arch->group[0].name, "Group");
    for (uint32_t l = 0; l < n; l++) {
        struct storage_level *level = &arch->level[l];
        level->bank_group = 1;
        level->bank_word = 1 + random_below(stream, 60);
        level->size_word = (uint64_t)(arch->group[0].banks - (n - 1)) * level->bank_word;
        level->multiple_buffering = 1;
    }
}

void random_case_gpu(struct random_stream *stream, struct architecture *arch)
{
    uint64_t x = 1, y = 1;
    uint32_t l = 0;
    for (; l < arch->n_level && x * y == 1; l++)
        architecture_fanout(arch, l, &x, &y);
    if (x * y == 1 || l < 2)
        return;
    arch->gpu = (struct gpu_limits){.present = true,
                                    .level = l - 1,
                                    .threads_per_block = 1 + random_below(stream, 16),
                                    .register_bit = 8 * (1 + random_below(stream, 2000))};
    for (int axis = 0; axis < 3; axis++)
        arch->gpu.thread_dim[axis] = 1 + random_below(stream, 4);
}

/* ---------------------------------------- mappings */

static void draw_order(struct random_stream *stream, uint32_t n, uint8_t *order)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = (uint8_t)i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = random_below(stream, i);
        uint8_t swap = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swap;
    }
}

static uint32_t position_of(const struct mapping_level *level, uint32_t dim)
{
    uint32_t i = 0;
    while (level->spatial_order[i] != dim)
        i++;
    return i;
}

/* May `prime` more copies be laid out at level l along the axis of dimension d? */
static bool has_room(const struct problem *problem, const struct architecture *arch,
                     const struct mapping *mapping, uint32_t l, uint32_t d, uint32_t prime)
{
    bool on_x = position_of(&mapping->level[l], d) < mapping->level[l].split;
    uint64_t fan_x, fan_y;
    architecture_fanout(arch, l, &fan_x, &fan_y);
    if (fan_x * fan_y == 1)
        return false;
    uint64_t used = prime, own = prime;
    for (uint32_t k = arch->n_level; k-- > 0;) {
        for (uint32_t e = 0; e < problem->n_dim; e++)
            if ((position_of(&mapping->level[k], e) < mapping->level[k].split) == on_x) {
                used *= mapping->level[k].spatial[e];
                own *= k == l ? mapping->level[k].spatial[e] : 1;
            }
        uint64_t mesh = k ? (on_x ? arch->level[k - 1].mesh_x : arch->level[k - 1].mesh_y)
                          : (on_x ? arch->mac.mesh_x : arch->mac.mesh_y);
        if (k <= l && used > mesh)
            return false;
    }
    return !arch->strict_fanout || own <= (on_x ? fan_x : fan_y);
}

static void draw_factors(struct random_stream *stream, const struct problem *problem,
                         const struct architecture *arch, struct mapping *mapping)
{
    uint8_t order[PROBLEM_DIM_MAX];
    draw_order(stream, problem->n_dim, order);
    uint32_t percent = random_below(stream, 100);
    for (uint32_t i = 0; i < problem->n_dim; i++) {
        uint32_t d = order[i], rest = problem->bound[d];
        for (uint32_t prime = 2; rest > 1; prime += rest % prime != 0) {
            if (rest % prime != 0)
                continue;
            rest /= prime;
            uint32_t l = random_below(stream, arch->n_level);
            bool spatial = chance(stream, percent) && has_room(problem, arch, mapping, l, d, prime);
            *(spatial ? &mapping->level[l].spatial[d] : &mapping->level[l].temporal[d]) *= prime;
        }
    }
}

static void draw_keeps(struct random_stream *stream, const struct problem *problem,
                       const struct architecture *arch, struct mapping *mapping)
{
    uint32_t percent = chance(stream, 50) ? 100 : 60;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        bool home = true;
        for (uint32_t l = arch->n_level; l-- > 0;) {
            if (!architecture_keeps(arch, l, &problem->tensor[t]))
                continue;
            if (home || chance(stream, percent))
                mapping->level[l].keep = (uint8_t)(mapping->level[l].keep | 1u << t);
            home = false;
        }
    }
}

void random_case_mapping(struct random_stream *stream, const struct problem *problem,
                         const struct architecture *arch, bool switches, struct mapping *mapping)
{
    memset(mapping, 0, sizeof *mapping);
    mapping->n_level = (uint8_t)arch->n_level;
    mapping->n_dim = (uint8_t)problem->n_dim;
    uint32_t all = (1u << problem->n_tensor) - 1;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        struct mapping_level *level = &mapping->level[l];
        for (uint32_t d = 0; d < problem->n_dim; d++)
            level->temporal[d] = level->spatial[d] = 1;
        draw_order(stream, problem->n_dim, level->temporal_order);
        draw_order(stream, problem->n_dim, level->spatial_order);
        level->split = (uint8_t)random_below(stream, problem->n_dim + 1);
        if (switches && chance(stream, 20))
            level->no_multicast = (uint8_t)(random_u32(stream) & all);
        if (switches && chance(stream, 20))
            level->no_temporal_reuse = (uint8_t)(random_u32(stream) & all);
        if (switches && chance(stream, 20))
            level->no_link_transfer = (uint8_t)(random_u32(stream) & all);
    }
    draw_factors(stream, problem, arch, mapping);
    draw_keeps(stream, problem, arch, mapping);
}
