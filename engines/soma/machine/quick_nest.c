/* Descents with a memo of prices. Besides the best mapping so far it keeps those that would be the best if
 * the buffer's accesses were cheaper, or dearer: what the evaluator says of a mapping is enough to tell. */
#include "engines/soma/machine/quick_nest.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "engines/cosa/polish.h"
#include "engines/driver/price_memo.h"
#include "engines/mapspace/mapspace_move.h"
#include "engines/mapspace/mapspace_project.h"
#include "engines/soma/machine/mapper_core.h"
#include "engines/soma/machine/mapper_stream.h"

enum {
    KNOWN_MAX = 1 << 12, /* prices that a search remembers */
    N_DRAWN = 5,         /* mappings of which the best makes a fresh start */
    FRESH_LEAST = 12,    /* fresh starts where no other will do */
    N_START = 4,         /* optima that are listed */
    LOOK_STEPS = 64      /* of a search, between two looks at the clock */
};

/* Prices of an access for which the best mapping is kept, in terms of quick_arch's; the DRAM's last. */
static const struct {
    double buffer, dram;
} dear[] = {{1, 1}, {0.0625, 1}, {0.25, 1}, {4, 1}, {16, 1}, {1, 0.0625}, {1, 16}};

enum { N_DEAR = sizeof dear / sizeof *dear, N_DEAR_BUFFER = 5 };

static const struct objective objective = MAPPER_CORE_OBJECTIVE;

/* A word of the buffer, and of the DRAM, by the dearest word or operation further in: about what they are on
 * the machines of experiments/architectures (0.7 to 21, and 15 to 210). */
static const double buffer_share = 4, dram_share = 100;

/* ---- the machine ---- */

static double word_j(const struct storage_level *level)
{
    const double access_j = fmax(fmax(level->read_energy_j, level->write_energy_j), level->update_energy_j);
    return access_j / level->block_word + level->address_energy_j;
}

static void set_word_j(struct storage_level *level, double energy_j)
{
    level->read_energy_j = level->write_energy_j = level->update_energy_j = energy_j * level->block_word;
    level->address_energy_j = 0;
}

void quick_machine(const struct core_split *inside, struct architecture *arch)
{
    *arch = inside->core;
    double inside_j = arch->mac.energy_j;
    for (uint32_t l = 0; l < inside->home; l++)
        inside_j = fmax(inside_j, word_j(&arch->level[l]));
    if (!(inside_j > 0))
        inside_j = 1e-12; /* nothing else costs anything, so any price is as good */
    set_word_j(&arch->level[inside->home], buffer_share * inside_j);
    if (inside->streams)
        set_word_j(&arch->level[arch->n_level - 1], dram_share * inside_j);
}

/* ---- lists ---- */

static size_t used_bytes(const struct mapping *mapping)
{
    return offsetof(struct mapping, level) + mapping->n_level * sizeof mapping->level[0];
}

size_t quick_list_pack(const struct quick_list *list, void *bytes)
{
    size_t at = offsetof(struct quick_list, mapping);
    memcpy(bytes, list, at);
    for (uint32_t i = 0; i < list->n; i++) {
        memcpy((char *)bytes + at, &list->mapping[i], used_bytes(&list->mapping[i]));
        at += used_bytes(&list->mapping[i]);
    }
    return at;
}

void quick_list_unpack(const void *bytes, struct quick_list *list)
{
    size_t at = offsetof(struct quick_list, mapping);
    memcpy(list, bytes, at);
    for (uint32_t i = 0; i < list->n; i++) {
        struct mapping *mapping = &list->mapping[i];
        memcpy(mapping, (const char *)bytes + at, offsetof(struct mapping, level));
        memcpy(mapping, (const char *)bytes + at, used_bytes(mapping));
        at += used_bytes(mapping);
    }
}

/* ---- a nest ---- */

enum dse_status quick_nest_open(const struct mapper_core *core, const struct problem *problem,
                                struct quick_nest *nest, struct dse_error *err)
{
    struct lower_bound bound;
    nest->problem = *problem;
    DSE_TRY(evaluator_new(engine_accounting(core->engine, core->option, &core->quick_arch), problem,
                          &core->quick_arch, &nest->evaluator, err));
    evaluator_bound(nest->evaluator, &bound);
    nest->bound = objective_bound(&objective, &bound);
    return DSE_OK;
}

void quick_nest_close(struct quick_nest *nest)
{
    evaluator_delete(nest->evaluator);
}

/* ---- its search ---- */

/* Descents in one nest. */
struct quick_search {
    const struct evaluator *evaluator;
    const struct mapspace *space;
    struct eval_workspace *workspace;
    struct price_memo_entry *known; /* (KNOWN_MAX) */
    uint64_t n_evaluation, n_max;
    bool orders_spatial;
    uint32_t home, dram, n_dear; /* without streams no price of the DRAM is looked at */
    struct evaluation last;
    struct priced_mapping best[N_DEAR]; /* cost INFINITY: none */
    struct random_stream stream;
    struct polish polish;
};

static void keep_best(struct quick_search *search, const struct mapping *mapping)
{
    const struct evaluation *last = &search->last;
    const double buffer_j = last->level_energy_j[search->home], dram_j = last->level_energy_j[search->dram];
    for (uint32_t i = 0; i < search->n_dear; i++) {
        const double more_j = (dear[i].buffer - 1) * buffer_j + (dear[i].dram - 1) * dram_j;
        const double cost = objective_cost_of(&objective, last->energy_j + more_j, last->latency_s);
        if (cost < search->best[i].cost)
            search->best[i] = (struct priced_mapping){*mapping, cost, 0};
    }
}

/* A descent_price. */
static bool price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    struct quick_search *search = self;
    const uint64_t hash = price_memo_hash(mapping, search->orders_spatial);
    struct price_memo_entry *known = &search->known[hash % KNOWN_MAX];
    if (known->hash != hash) {
        if (search->n_evaluation == search->n_max)
            return false;
        search->n_evaluation++;
        if (!evaluator_run(search->evaluator, search->workspace, mapping, &search->last))
            return false;
        *known =
            (struct price_memo_entry){hash, objective_cost(&objective, &search->last), search->last.edp_js};
        keep_best(search, mapping);
    }
    *cost = known->cost;
    *tie = known->tie;
    return true;
}

static enum dse_status search_open(const struct mapper_core *core, const struct quick_nest *nest,
                                   enum stream_way way, uint64_t n_max, uint32_t patience,
                                   struct arena *arena, struct quick_search *search, struct dse_error *err)
{
    const uint64_t content[] = {problem_hash(&nest->problem), architecture_hash(&core->quick_arch)};
    const uint64_t key = hash_of_bytes(content, sizeof content);
    *search = (struct quick_search){.evaluator = nest->evaluator,
                                    .n_max = n_max,
                                    .orders_spatial = evaluator_accounting(nest->evaluator)->orders_spatial,
                                    .home = core->home,
                                    .dram = core->arch.n_level - 1,
                                    .n_dear = core->streams ? N_DEAR : N_DEAR_BUFFER,
                                    .stream = random_stream_make(core->seed, key, RANDOM_INIT)};
    for (uint32_t i = 0; i < N_DEAR; i++)
        search->best[i].cost = INFINITY;
    struct mapspace_constraints *constraints = NULL;
    search->known = arena_alloc(arena, KNOWN_MAX, sizeof *search->known);
    if (core->streams)
        constraints = arena_alloc(arena, 1, sizeof *constraints);
    DSE_TRY(arena_check(arena, "the known prices of a search", err));
    if (constraints)
        mapper_stream_constraints(core, &nest->problem, way, constraints);
    DSE_TRY(mapspace_new(evaluator_problem(nest->evaluator), &core->quick_arch, constraints, false, arena,
                         &search->space, err));
    polish_init(&search->polish, search->space, price, search,
                random_stream_make(core->seed, key, RANDOM_MOVE), patience);
    return DSE_OK;
}

static void add(struct quick_search *search, const struct mapping *mapping)
{
    double cost, tie;
    if (price(search, mapping, &cost, &tie))
        polish_add(&search->polish, mapping, cost, tie);
}

/* The best of some drawn mappings, often laid out anew, as engine descent begins. */
static void add_fresh(struct quick_search *search, uint32_t n)
{
    for (; n > 0; n--) {
        struct priced_mapping best = {.cost = INFINITY}, drawn;
        for (int i = 0; i < N_DRAWN; i++)
            if (mapspace_draw(search->space, &search->stream, &drawn.mapping, NULL, NULL) &&
                price(search, &drawn.mapping, &drawn.cost, &drawn.tie) && drawn.cost < best.cost)
                best = drawn;
        if (isinf(best.cost))
            continue;
        const uint32_t what = random_below(&search->stream, 4);
        if (what < 2)
            mapspace_pour(search->space, &search->stream, &best.mapping);
        else if (what == 2)
            mapspace_take_over(search->space, &search->stream, &best.mapping);
        add(search, &best.mapping);
    }
}

static double factor_at(const struct mapping *mapping, const struct mapspace_place *place, uint32_t d)
{
    const struct mapping_level *level = &mapping->level[place->level];
    if (!place->spatial)
        return level->temporal[d];
    for (uint32_t i = 0; i < mapping->n_dim; i++)
        if (level->spatial_order[i] == d)
            return (i >= level->split) == place->on_y ? level->spatial[d] : 1;
    return 1;
}

/* The mapping of this nest that is nearest to one of another. */
static void add_near(struct quick_search *search, const struct mapping *other)
{
    struct mapspace_place place[MAPSPACE_PLACE_MAX];
    double log_wish[MAPSPACE_PLACE_MAX][PROBLEM_DIM_MAX];
    struct mapping mapping = *other;
    const uint32_t n = mapspace_places(search->space, place);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t d = 0; d < other->n_dim; d++)
            log_wish[s][d] = log(factor_at(other, &place[s], d));
    if (mapspace_project(search->space, log_wish, &mapping))
        add(search, &mapping);
}

/* Descents from the starts and from fresh ones until patience, evaluations or time are over. */
static void descend(const struct mapper_core *core, const struct quick_list *starts, uint32_t n_fresh,
                    struct quick_search *search)
{
    for (uint32_t i = 0; i < starts->n; i++)
        add_near(search, &starts->mapping[i]);
    add_fresh(search, search->polish.n_start ? n_fresh : FRESH_LEAST);
    for (uint64_t i = 0; search->n_evaluation < search->n_max && polish_step(&search->polish); i++)
        if (i % LOOK_STEPS == 0 && mapper_core_is_over(core))
            return;
}

/* ---- the bench ---- */

enum dse_status quick_bench_open(struct arena *arena, struct quick_bench *bench, struct dse_error *err)
{
    *bench = (struct quick_bench){.search = arena_alloc_unset(arena, 1, sizeof *bench->search)};
    arena_init(&bench->scratch);
    return arena_check(arena, "the search of a tile", err);
}

void quick_bench_close(struct quick_bench *bench)
{
    eval_workspace_delete(bench->workspace);
    arena_free(&bench->scratch);
}

/* That of the nest before where it fits: what it remembers of meshes holds for this nest, too. */
enum dse_status quick_bench_suit(struct quick_bench *bench, const struct evaluator *evaluator,
                                 struct dse_error *err)
{
    if (bench->workspace && eval_workspace_fits(bench->workspace, evaluator))
        return DSE_OK;
    eval_workspace_delete(bench->workspace);
    bench->workspace = NULL;
    return eval_workspace_new(evaluator, &bench->workspace, err);
}

static void list_best(const struct quick_search *search, struct quick_list *found)
{
    found->value = search->best[0].cost;
    found->n = 0;
    for (uint32_t i = 0; i < search->n_dear && isfinite(found->value); i++) {
        uint32_t same = 0;
        while (same < found->n &&
               memcmp(&found->mapping[same], &search->best[i].mapping, sizeof(struct mapping)) != 0)
            same++;
        if (same == found->n)
            found->mapping[found->n++] = search->best[i].mapping;
    }
}

static void list_optima(const struct quick_search *search, enum stream_way way, struct quick_list *optima)
{
    const struct local_optima *all = &search->polish.optima;
    optima->value = search->best[0].cost;
    optima->n = 0;
    optima->way = way;
    if (!isfinite(optima->value))
        return;
    optima->mapping[optima->n++] = search->best[0].mapping;
    for (uint32_t i = 0; i < all->n && optima->n < N_START; i++)
        if (all->point[i].cost > search->best[0].cost)
            optima->mapping[optima->n++] = all->point[i].mapping;
}

enum dse_status quick_nest_search(const struct mapper_core *core, const struct quick_nest *nest,
                                  const struct quick_list *starts, struct quick_effort effort,
                                  struct quick_bench *bench, struct quick_list *found,
                                  struct quick_list *optima, struct dse_error *err)
{
    const double n = ceil(effort.share * (double)core->max_evaluations);
    struct quick_search *search = bench->search;
    arena_reset(&bench->scratch);
    DSE_TRY(search_open(core, nest, starts->way, n > 0 ? (uint64_t)n : UINT64_MAX, effort.patience,
                        &bench->scratch, search, err));
    DSE_TRY(quick_bench_suit(bench, nest->evaluator, err));
    search->workspace = bench->workspace;
    if (!mapspace_is_empty(search->space))
        descend(core, starts, effort.n_fresh, search);
    bench->n_evaluation += search->n_evaluation;
    found->way = starts->way;
    list_best(search, found);
    if (optima)
        list_optima(search, starts->way, optima);
    return DSE_OK;
}
