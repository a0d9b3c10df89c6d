/* What all constraints together leave: the products of factors against the bounds, spatial factors against
 * the axes that they may lie on. */
#include "engines/mapspace/constraints_said.h"

#include <stdbool.h>
#include <stdio.h>

const char *const loop_kind_name[LOOP_KINDS] = {"temporal", "spatial"};

const char *said_print(const struct said *said, int list, const char *machine_path, char *buffer, size_t size)
{
    const bool elsewhere = said->list == LIST_MACHINE && list != LIST_MACHINE;
    snprintf(buffer, size, "line %d%s%s", said->line, elsewhere ? " of " : "", elsewhere ? machine_path : "");
    return buffer;
}

/* Timeloop's split counts places of the whole permutation: those with a place, then the others, of which it
 * is open who is where. Dimensions without iterations may come first. */
static void split_whole(const struct level_said *said, const struct problem *problem,
                        struct level_constraints *level)
{
    const uint32_t split = said->split_value;
    uint32_t named = 0, place = 0;
    for (uint32_t i = 0; i < level->spatial.n_order; i++)
        named |= 1u << level->spatial.order[i];
    for (uint32_t d = 0; said->ones_first && d < problem->n_dim; d++)
        place += !(named >> d & 1u) && (problem->bound[d] == 1 || level->spatial.fixed[d] == 1);
    for (uint32_t i = 0; i < level->spatial.n_order; i++, place++)
        *(place < split ? &level->dims_y : &level->dims_x) &= ~(1u << level->spatial.order[i]);
    if (split <= place)
        level->dims_x &= named;
    if (split >= problem->n_dim)
        level->dims_y &= named;
}

void constraints_split(const struct constraints_said *said, const struct problem *problem,
                       struct mapspace_constraints *constraints)
{
    for (uint32_t l = 0; l < constraints->n_level; l++) {
        struct level_constraints *level = &constraints->level[l];
        if (said->level[l].split.line && said->level[l].split_all) {
            split_whole(&said->level[l], problem, level);
            continue;
        }
        for (uint32_t i = 0; said->level[l].split.line && i < level->spatial.n_order; i++) {
            uint32_t bit = 1u << level->spatial.order[i];
            *(i < said->level[l].split_value ? &level->dims_y : &level->dims_x) &= ~bit;
        }
    }
}

/* What the checks below look at. */
struct agreement {
    const char *path, *machine_path;
    const struct problem *problem;
    const struct architecture *arch;
    const struct constraints_said *said;
    const struct mapspace_constraints *constraints;
    struct dse_error *err;
};

static const struct loop_constraints *loops_of(const struct agreement *a, uint32_t l, int kind)
{
    return kind == LOOP_SPATIAL ? &a->constraints->level[l].spatial : &a->constraints->level[l].temporal;
}

/* The file that is to blame: the lists', where they said something of it. */
static const char *blamed(const struct agreement *a, bool by_lists)
{
    return by_lists ? a->path : a->machine_path;
}

/* The error, with all that was said of the factors of dimension d: "DRAM temporal C=4 (line 3)". */
static enum dse_status blame(const struct agreement *a, uint32_t d, const char *why)
{
    char list[DSE_ERROR_TEXT_MAX / 2] = "", place[SAID_MAX];
    size_t used = 0;
    int line[2] = {0, 0}; /* of the machine's file, of the lists' */
    for (uint32_t l = a->arch->n_level; l-- > 0;)
        for (int kind = 0; kind < LOOP_KINDS; kind++)
            for (int limit = 0; limit < 2; limit++) {
                const struct loop_constraints *loops = loops_of(a, l, kind);
                const struct loops_said *of = &a->said->level[l].loops[kind];
                const struct said *said = limit ? &of->highest[d] : &of->fixed[d];
                if (!said->line || used >= sizeof list)
                    continue;
                int *latest = &line[said->list != LIST_MACHINE];
                *latest = said->line > *latest ? said->line : *latest;
                said_print(said, a->path ? LIST_FIRST : LIST_MACHINE, a->machine_path, place, sizeof place);
                used +=
                    (size_t)snprintf(list + used, sizeof list - used, "%s%s %s %s%s%u (%s)", used ? ", " : "",
                                     a->arch->level[l].name, loop_kind_name[kind], a->problem->dim_name[d],
                                     limit ? "<=" : "=", limit ? loops->highest[d] : loops->fixed[d], place);
            }
    return dse_fail_at(a->err, DSE_BAD_INPUT, blamed(a, line[1] > 0), line[1] ? line[1] : line[0], "%s: %s",
                       why, list);
}

/* What is fixed for dimension d over all levels; a double, as nothing bounds it. */
static double fixed_product(const struct agreement *a, uint32_t d)
{
    double product = 1;
    for (uint32_t l = 0; l < a->arch->n_level; l++)
        for (int kind = 0; kind < LOOP_KINDS; kind++)
            product *= loops_of(a, l, kind)->fixed[d] ? loops_of(a, l, kind)->fixed[d] : 1;
    return product;
}

/* Can a level have spatial loops at all? The mesh may be an axis: its size does not count. */
static bool may_spread(const struct architecture *arch, uint32_t l)
{
    uint64_t x, y;
    architecture_fanout(arch, l, &x, &y);
    return arch->level[l].array[0] != '\0' || x > 1 || y > 1;
}

enum { DIVISOR_MAX = 1536 }; /* of a number below 2^32 */

static size_t divisors_of(uint32_t n, uint32_t divisor[DIVISOR_MAX])
{
    size_t count = 0;
    for (uint32_t i = 1; (uint64_t)i * i <= n; i++)
        if (n % i == 0) {
            divisor[count++] = i;
            if (i != n / i)
                divisor[count++] = n / i;
        }
    return count;
}

/* Multiply what can be reached, as flags of divisors of `rest`, by the factors up to `highest`. */
static void spread_reach(const uint32_t *divisor, size_t n, uint32_t rest, uint32_t highest, bool *reached)
{
    bool next[DIVISOR_MAX] = {false};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; reached[i] && j < n; j++)
            next[j] = next[j] || (divisor[j] % divisor[i] == 0 && divisor[j] / divisor[i] <= highest);
    for (size_t i = 0; i < n; i++)
        reached[i] = next[i] && rest % divisor[i] == 0;
}

/* Can the loops that are not fixed multiply to `rest`? */
static bool limits_leave(const struct agreement *a, uint32_t d, uint32_t rest)
{
    uint32_t divisor[DIVISOR_MAX];
    bool reached[DIVISOR_MAX] = {false};
    size_t n = 0;
    for (uint32_t l = 0; l < a->arch->n_level; l++)
        for (int kind = 0; kind < LOOP_KINDS; kind++) {
            const struct loop_constraints *loops = loops_of(a, l, kind);
            if (loops->fixed[d] || (kind == LOOP_SPATIAL && !may_spread(a->arch, l)))
                continue;
            if (!loops->highest[d])
                return true;
            if (n == 0) {
                n = divisors_of(rest, divisor);
                reached[0] = true; /* 1 */
            }
            spread_reach(divisor, n, rest, loops->highest[d], reached);
        }
    for (size_t i = 0; i < n; i++)
        if (divisor[i] == rest)
            return reached[i];
    return rest == 1;
}

static enum dse_status check_products(const struct agreement *a, uint32_t d)
{
    uint32_t bound = a->problem->bound[d];
    double fixed = fixed_product(a, d);
    char why[PROBLEM_NAME_MAX + 160];
    if (fixed > bound || bound % (uint32_t)fixed != 0) {
        snprintf(why, sizeof why,
                 "the factors fixed for dimension %s multiply to %.0f, which does not divide the bound %u of "
                 "problem %s",
                 a->problem->dim_name[d], fixed, bound, a->problem->name);
        return blame(a, d, why);
    }
    if (limits_leave(a, d, bound / (uint32_t)fixed))
        return DSE_OK;
    snprintf(why, sizeof why,
             "the factors allowed for dimension %s cannot multiply to the bound %u of problem %s",
             a->problem->dim_name[d], bound, a->problem->name);
    return blame(a, d, why);
}

/* A fixed spatial factor must be allowed on an axis. */
static enum dse_status check_axes(const struct agreement *a, uint32_t l)
{
    const struct level_constraints *level = &a->constraints->level[l];
    const struct level_said *said = &a->said->level[l];
    char place[SAID_MAX];
    for (uint32_t d = 0; d < a->problem->n_dim; d++) {
        const struct said *factor = &said->loops[LOOP_SPATIAL].fixed[d];
        if (level->spatial.fixed[d] <= 1 || ((level->dims_x | level->dims_y) >> d & 1u))
            continue;
        const struct said *axes = said->dims_x.line   ? &said->dims_x
                                  : said->dims_y.line ? &said->dims_y
                                                      : &said->split;
        return dse_fail_at(a->err, DSE_BAD_INPUT, blamed(a, factor->list != LIST_MACHINE), factor->line,
                           "%s: spatial %s=%u may lie on neither axis (dims_x, dims_y or split, %s)",
                           a->arch->level[l].name, a->problem->dim_name[d], level->spatial.fixed[d],
                           said_print(axes, factor->list, a->machine_path, place, sizeof place));
    }
    return DSE_OK;
}

enum dse_status constraints_agree(const char *path, const char *machine_path, const struct problem *problem,
                                  const struct architecture *arch, const struct constraints_said *said,
                                  const struct mapspace_constraints *constraints, struct dse_error *err)
{
    const struct agreement a = {path, machine_path, problem, arch, said, constraints, err};
    for (uint32_t d = 0; d < problem->n_dim; d++)
        DSE_TRY(check_products(&a, d));
    for (uint32_t l = 0; l < arch->n_level; l++)
        DSE_TRY(check_axes(&a, l));
    return DSE_OK;
}
