/* Checks shape, factors, keeps, tile sizes, shared banks, meshes and thread block, in this order, with
 * formulas of its own; the first that fails becomes the sentence that users read. */
#include "costmodel/loopnest/accounting_timeloop.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { LIST_MAX = PROBLEM_TENSOR_MAX * PROBLEM_NAME_MAX, COUNT_TEXT_MAX = 40 };

/* What is checked and where the sentence goes. */
struct check {
    const struct problem *problem;
    const struct architecture *arch;
    const struct mapping *mapping;
    char *reason;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (c->reason && c->size)
        (void)vsnprintf(c->reason, c->size, format, args);
    va_end(args);
    return false;
}

/* a * b, or the largest number when that does not fit: a too large need stays too large. */
static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static bool is_permutation(const uint8_t *order, uint32_t n)
{
    for (uint32_t d = 0; d < n; d++) {
        uint32_t seen = 0;
        for (uint32_t i = 0; i < n; i++)
            seen += order[i] == d;
        if (seen != 1)
            return false;
    }
    return true;
}

static bool check_shape(const struct check *c)
{
    const struct mapping *m = c->mapping;
    if (m->n_level != c->arch->n_level)
        return refuse(c, "the mapping has %u levels, the architecture has %" PRIu32, (unsigned)m->n_level,
                      c->arch->n_level);
    if (m->n_dim != c->problem->n_dim)
        return refuse(c, "the mapping has %u dimensions, the problem has %" PRIu32, (unsigned)m->n_dim,
                      c->problem->n_dim);
    for (uint32_t l = 0; l < m->n_level; l++) {
        const struct mapping_level *level = &m->level[l];
        const char *name = c->arch->level[l].name;
        if (!is_permutation(level->temporal_order, m->n_dim))
            return refuse(c, "%s: the temporal order is not a permutation of the dimensions", name);
        if (!is_permutation(level->spatial_order, m->n_dim))
            return refuse(c, "%s: the spatial order is not a permutation of the dimensions", name);
        if (level->split > m->n_dim)
            return refuse(c, "%s: the X/Y split is at %u, there are %u dimensions", name,
                          (unsigned)level->split, (unsigned)m->n_dim);
        if (level->further)
            return refuse(
                c, "%s: its loops lie on more than two dimensions of the array, Timeloop knows X and Y",
                name);
    }
    return true;
}

/* Every iteration exactly once: the factors of a dimension multiply to its bound. */
static bool check_factors(const struct check *c)
{
    for (uint32_t d = 0; d < c->problem->n_dim; d++) {
        uint64_t product = 1;
        for (uint32_t l = 0; l < c->mapping->n_level; l++) {
            const struct mapping_level *level = &c->mapping->level[l];
            product = times(product, times(level->temporal[d], level->spatial[d]));
        }
        if (product != c->problem->bound[d]) {
            char have[COUNT_TEXT_MAX], want[COUNT_TEXT_MAX];
            return refuse(c, "the factors of %s multiply to %s, its bound is %s", c->problem->dim_name[d],
                          text_thousands(product, have, sizeof have),
                          text_thousands(c->problem->bound[d], want, sizeof want));
        }
    }
    return true;
}

static bool keeps(const struct check *c, uint32_t l, uint32_t t)
{
    return (c->mapping->level[l].keep >> t) & 1u;
}

/* By its role, or because the level names it. */
static bool may_hold(const struct check *c, uint32_t l, const struct tensor *tensor)
{
    const struct storage_level *level = &c->arch->level[l];
    bool named = false;
    for (uint32_t i = 0; i < c->arch->n_tensor_name; i++)
        named = named || (((level->keep_name >> i) & 1u) && !strcmp(c->arch->tensor_name[i], tensor->name));
    return named || ((level->keep_role >> (unsigned)tensor->role) & 1u);
}

static bool check_keeps(const struct check *c)
{
    static const char *const role_word[TENSOR_ROLE_COUNT] = {"weights", "inputs", "outputs"};
    for (uint32_t t = 0; t < c->problem->n_tensor; t++) {
        const struct tensor *tensor = &c->problem->tensor[t];
        uint32_t n_kept = 0;
        for (uint32_t l = 0; l < c->arch->n_level; l++) {
            if (!keeps(c, l, t))
                continue;
            n_kept++;
            if (!may_hold(c, l, tensor))
                return refuse(c, "%s cannot hold %s (it holds no %s)", c->arch->level[l].name, tensor->name,
                              role_word[tensor->role]);
        }
        if (n_kept == 0)
            return refuse(c, "%s is kept on no level", tensor->name);
    }
    return true;
}

/* Words of the box that tensor `t` spans when one tile of level `l` is run: lowest to highest coordinate per
 * rank, found from the first and the last iteration of the tile (coefficients are positive). */
static uint64_t tile_words(const struct check *c, uint32_t l, uint32_t t)
{
    const struct tensor *tensor = &c->problem->tensor[t];
    uint64_t words = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        uint64_t last = 0; /* the highest coordinate; the lowest is 0 */
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++) {
            const struct projection_term *term = &tensor->rank[r].term[i];
            uint64_t extent = 1;
            for (uint32_t k = 0; k <= l; k++) {
                const struct mapping_level *level = &c->mapping->level[k];
                extent = times(extent, times(level->temporal[term->dim], level->spatial[term->dim]));
            }
            last = plus(last, times(term->coefficient, extent - 1));
        }
        words = times(words, plus(last, 1));
    }
    return words;
}

/* "133,888 B", or words when a word is no whole number of bytes. */
static void print_words(uint64_t words, uint32_t word_bit, char *buffer, size_t size)
{
    char number[COUNT_TEXT_MAX];
    if (word_bit % 8 == 0)
        (void)snprintf(buffer, size, "%s B",
                       text_thousands(times(words, word_bit / 8), number, sizeof number));
    else
        (void)snprintf(buffer, size, "%s words", text_thousands(words, number, sizeof number));
}

static bool refuse_size(const struct check *c, uint32_t l, uint64_t need, uint64_t have, bool too_small)
{
    const struct storage_level *level = &c->arch->level[l];
    char need_text[COUNT_TEXT_MAX + 8], have_text[COUNT_TEXT_MAX + 8], list[LIST_MAX] = "";
    size_t used = 0;
    for (uint32_t t = 0; t < c->problem->n_tensor; t++)
        if (keeps(c, l, t) && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? "+" : "",
                                     c->problem->tensor[t].name);
    print_words(need, level->word_bit, need_text, sizeof need_text);
    print_words(have, level->word_bit, have_text, sizeof have_text);
    if (too_small)
        return refuse(c, "%s holds %s of %s, its minimum utilisation asks for %s", level->name, need_text,
                      list, have_text);
    return refuse(c, "%s needs %s for %s, has %s", level->name, need_text, list, have_text);
}

/* The sum of the kept tiles against the usable size (docs/cost-model.md, "Time and fit": floor(size /
 * multiple_buffering)). */
static bool check_sizes(const struct check *c)
{
    for (uint32_t l = 0; l < c->arch->n_level; l++) {
        const struct storage_level *level = &c->arch->level[l];
        if (level->size_word == ARCH_UNLIMITED)
            continue;
        uint64_t words = 0;
        for (uint32_t t = 0; t < c->problem->n_tensor; t++)
            if (keeps(c, l, t))
                words = plus(words, tile_words(c, l, t));
        double usable = floor((double)level->size_word / level->multiple_buffering);
        if ((double)words > usable)
            return refuse_size(c, l, words, (uint64_t)usable, false);
        if ((double)words < usable * level->min_utilization)
            return refuse_size(c, l, words, (uint64_t)ceil(usable * level->min_utilization), true);
    }
    return true;
}

/* Storages that share banks, one group after the other: a bank holds words of one storage, and each storage
 * has at least one. */
static bool check_banks(const struct check *c)
{
    for (uint32_t g = 0; g < c->arch->n_group; g++) {
        const struct bank_group *group = &c->arch->group[g];
        uint64_t banks = 0;
        for (uint32_t l = 0; l < c->arch->n_level; l++) {
            uint64_t words = 0, own = 1;
            if (c->arch->level[l].bank_group != g + 1)
                continue;
            for (uint32_t t = 0; t < c->problem->n_tensor; t++)
                if (keeps(c, l, t))
                    words = plus(words, tile_words(c, l, t));
            while (own <= group->banks && times(own, c->arch->level[l].bank_word) < words)
                own++;
            banks += own;
        }
        if (banks > group->banks)
            return refuse(c, "the storages of %s need %" PRIu64 "%s banks together, it has %" PRIu32,
                          group->name, banks, banks > group->banks ? " or more" : "", group->banks);
    }
    return true;
}

/* Columns and rows that the spatial loops of levels `from` and further out span. */
static void expansion(const struct check *c, uint32_t from, uint64_t *x, uint64_t *y)
{
    *x = *y = 1;
    for (uint32_t l = from; l < c->arch->n_level; l++) {
        const struct mapping_level *level = &c->mapping->level[l];
        for (uint32_t i = 0; i < c->problem->n_dim; i++) {
            uint64_t *axis = i < level->split ? x : y;
            *axis = times(*axis, level->spatial[level->spatial_order[i]]);
        }
    }
}

static bool check_array(const struct check *c, uint32_t from, const char *name, uint64_t mesh_x,
                        uint64_t mesh_y, uint64_t instances)
{
    uint64_t x, y;
    expansion(c, from, &x, &y);
    if (x > mesh_x)
        return refuse(c, "%s needs %" PRIu64 " columns for its spatial loops on X, has %" PRIu64, name, x,
                      mesh_x);
    if (y > mesh_y)
        return refuse(c, "%s needs %" PRIu64 " rows for its spatial loops on Y, has %" PRIu64, name, y,
                      mesh_y);
    if (times(x, y) > instances)
        return refuse(c, "%s needs %" PRIu64 " instances for its spatial loops, has %" PRIu64, name,
                      times(x, y), instances);
    return true;
}

/* A spatial loop needs a fan-out at its own level. How many instances it needs is seen further in, where
 * the products of all spatial loops outside are held against the meshes (docs/cost-model.md, "Time and
 * fit"); a strict machine asks for more: no level may spread wider than its own fan-out. */
static bool check_fanout(const struct check *c, uint32_t l)
{
    const struct mac_array *mac = &c->arch->mac;
    const struct storage_level *level = &c->arch->level[l];
    const struct mapping_level *choice = &c->mapping->level[l];
    uint64_t wide = (l ? level[-1].mesh_x : mac->mesh_x) / level->mesh_x;
    uint64_t high = (l ? level[-1].mesh_y : mac->mesh_y) / level->mesh_y;
    uint64_t x = 1, y = 1;
    for (uint32_t i = 0; i < c->problem->n_dim; i++) {
        uint32_t d = choice->spatial_order[i];
        if (choice->spatial[d] > 1 && wide <= 1 && high <= 1)
            return refuse(c, "%s has a spatial loop over %s, but only 1 instance inside it", level->name,
                          c->problem->dim_name[d]);
        if (i < choice->split)
            x = times(x, choice->spatial[d]);
        else
            y = times(y, choice->spatial[d]);
    }
    if (c->arch->strict_fanout && (x > wide || y > high))
        return refuse(c,
                      "%s spreads over %" PRIu64 " x %" PRIu64 " instances, its own fan-out is %" PRIu64
                      " x %" PRIu64,
                      level->name, x, y, wide, high);
    return true;
}

static bool check_meshes(const struct check *c)
{
    const struct mac_array *mac = &c->arch->mac;
    for (uint32_t l = 0; l < c->arch->n_level; l++) {
        const struct storage_level *level = &c->arch->level[l];
        if (!check_fanout(c, l) ||
            !check_array(c, l + 1, level->name, level->mesh_x, level->mesh_y, level->instances))
            return false;
    }
    return check_array(c, 0, mac->name, mac->mesh_x, mac->mesh_y, mac->instances);
}

/* The thread block of a GPU: tries every x and y; registers are summed over the levels inside a thread. */
static bool check_block(const struct check *c)
{
    const struct gpu_limits *gpu = &c->arch->gpu;
    uint64_t threads = 1, bit = 0;
    bool shaped = false;
    for (uint32_t d = 0; d < c->problem->n_dim; d++)
        threads = times(threads, c->mapping->level[gpu->level].spatial[d]);
    if (threads > gpu->threads_per_block)
        return refuse(c, "a thread block has %" PRIu64 " threads, at most %" PRIu32 " are possible", threads,
                      gpu->threads_per_block);
    for (uint64_t x = 1; x <= threads && x <= gpu->thread_dim[0]; x++)
        for (uint64_t y = 1; x * y <= threads && y <= gpu->thread_dim[1]; y++)
            shaped |= threads % (x * y) == 0 && threads / (x * y) <= gpu->thread_dim[2];
    if (!shaped)
        return refuse(
            c, "no thread block of %" PRIu64 " threads lies within %" PRIu32 " x %" PRIu32 " x %" PRIu32,
            threads, gpu->thread_dim[0], gpu->thread_dim[1], gpu->thread_dim[2]);
    for (uint32_t l = 0; l < gpu->level; l++)
        for (uint32_t t = 0; t < c->problem->n_tensor; t++)
            if (keeps(c, l, t))
                bit = plus(bit, times(tile_words(c, l, t), c->arch->level[l].word_bit));
    if (times(threads, bit) > gpu->register_bit)
        return refuse(c,
                      "the registers of a thread block hold %" PRIu64 " bit, its %" PRIu64
                      " threads need %" PRIu64 " bit each",
                      gpu->register_bit, threads, bit);
    return true;
}

bool checker_accepts(const struct problem *problem, const struct architecture *arch,
                     const struct mapping *mapping, char *reason, unsigned long size)
{
    const struct check c = {problem, arch, mapping, reason, size};
    if (reason && size)
        reason[0] = '\0';
    return check_shape(&c) && check_factors(&c) && check_keeps(&c) && check_sizes(&c) && check_banks(&c) &&
           check_meshes(&c) && (!arch->gpu.present || check_block(&c));
}
