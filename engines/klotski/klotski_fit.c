/* Counts what each layer needs at least (tile_fewest); layers that are alike are counted once. */
#include "engines/klotski/klotski_fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/uop/node_machine.h"
#include "engines/driver/engine_fit.h"
#include "engines/klotski/baseline_offer.h"

/* Of what a graph can have, the rest is for sums and pools, which max_uops does not count. */
enum { GROWN_MAX = UOP_MAX / 50 * 49 };

/* The fewest uops of a network, a sample; of those that run in slices one a layer. */
struct fewest {
    uint64_t n;
    struct uop_cut *cut; /* (n_layer) */
    uint32_t misfit;     /* the first layer of which no tile fits; n_layer: there is none */
    uint32_t most;       /* the layer that needs the most, and how many */
    uint64_t n_most;
};

/* 0: no tile fits, or no slice. */
static uint64_t fewest_of_layer(const struct kc_tile *whole, const struct kc_machine *machine,
                                enum uop_sram sram, struct uop_cut *cut)
{
    struct uop_cut slice;
    return sram == UOP_SRAM_SLICES && !uop_slice_cut(machine, whole, &slice)
               ? 0
               : tile_fewest(whole, machine, sram, cut);
}

static enum dse_status find_fewest(const struct uop_network *network, const struct kc_machine *machine,
                                   enum uop_sram sram, struct arena *arena, struct fewest *out,
                                   struct dse_error *err)
{
    *out = (struct fewest){.misfit = network->n_layer,
                           .cut = arena_alloc(arena, network->n_layer, sizeof *out->cut)};
    uint64_t *n = arena_alloc(arena, network->n_layer, sizeof *n);
    DSE_TRY(arena_check(arena, "the uops of layers", err));
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct kc_tile *whole = &network->layer[l].whole;
        uint32_t like = 0;
        while (memcmp(&network->layer[like].whole, whole, sizeof *whole) != 0)
            like++;
        n[l] = like < l ? n[like] : fewest_of_layer(whole, machine, sram, &out->cut[l]);
        out->cut[l] = out->cut[like];
        if (n[l] == 0 && out->misfit == network->n_layer)
            out->misfit = l;
        if (n[l] > out->n_most) {
            out->n_most = n[l];
            out->most = l;
        }
        out->n += n[l];
    }
    return DSE_OK;
}

/* The most uops that max_uops, as the option says, lets a graph of so many samples have. */
static uint64_t most_uops(double max_uops, uint32_t n_sample)
{
    return max_uops == KLOTSKI_MAX_UOPS_STANDARD ? GROWN_MAX : (uint64_t)fmin(max_uops * n_sample, UOP_MAX);
}

/* Where the fewest uops that fit are too many, they run in slices; with a DRAM no message may take time. */
static bool can_slice(enum uop_sram sram, enum uop_memory memory, enum uop_transport transport)
{
    return sram == UOP_SRAM_ALL && (memory == UOP_FREE || transport == UOP_IDEAL);
}

bool klotski_has_blocks(const struct network *network, enum uop_vector vector)
{
    return network->n_repeat != 0 && !network->unroll && vector != UOP_VECTOR;
}

/* ---- before a search ---- */

static bool has_option(const struct engine *engine, const char *name)
{
    for (size_t i = 0; i < engine->n_option; i++)
        if (strcmp(engine->option[i].name, name) == 0)
            return true;
    return false;
}

/* `standard`: of an engine without the option, which is tangram. */
static double option_or(const struct engine_question *question, const char *name, double standard)
{
    return has_option(question->engine, name) ? engine_question_option(question, name) : standard;
}

/* What uops take is not asked here. */
static enum dse_status price_nothing(const void *self, const struct kc_tile *tile, struct uop_cost *cost,
                                     struct dse_error *err)
{
    (void)self, (void)tile, (void)err;
    *cost = (struct uop_cost){0};
    return DSE_OK;
}

/* A task whose uops are counted. */
struct asked {
    const struct engine_question *question;
    struct uop_network network;
    struct kc_machine machine;
    uint32_t n_sample;
    double max_uops;
    enum uop_sums sums;
    enum uop_sram sram;
    enum uop_memory memory;
    enum uop_transport transport;
};

enum verdict { TAKEN, NO_TILE, TOO_MANY, NO_PLAN };

/* Are the slices of all layers few enough for their plans? Uops that are no whole layers have about as
 * many. */
static bool are_slices_few(const struct asked *a, const struct uop_network *network)
{
    const bool is_whole = !has_option(a->question->engine, "max_uops");
    uint64_t sum = 0;
    for (uint32_t l = 0; l < network->n_layer && sum <= UOP_USE_MAX; l++) {
        const struct uop_layer *of = &network->layer[l];
        struct uop_cut cut;
        (void)uop_slice_cut(&a->machine, &of->whole, &cut);
        const uint64_t n = uop_cut_count(&of->whole, cut);
        sum += n > UOP_USE_MAX / (is_whole ? 3 + of->n_source : 1) ? UOP_USE_MAX + UINT64_C(1) : n;
    }
    return sum <= UOP_USE_MAX;
}

/* Can memories be planned for the fewest uops? Of n uops a sample there are at most n n / 2 edges. */
static enum dse_status find_plan(const struct asked *a, const struct uop_network *network,
                                 const struct fewest *fewest, struct arena *arena, bool *has,
                                 struct dse_error *err)
{
    struct uop_cut_layer *layer = arena_alloc(arena, network->n_all, sizeof *layer);
    struct kc_machine unpriced = a->machine;
    struct uop_graph graph;
    struct uop_needs needs;
    uint64_t n_uop;
    DSE_TRY(arena_check(arena, "the uops of layers", err));
    unpriced.pricer = (struct uop_pricer){.cost = price_nothing};
    enum dse_status status = uop_layout_of(network, fewest->cut, a->sums, a->n_sample, layer, &n_uop, err);
    const bool are_few = a->sram != UOP_SRAM_SLICES || are_slices_few(a, network);
    *has = status == DSE_OK && are_few && n_uop / a->n_sample * (n_uop / 2 + 3) <= UOP_USE_MAX;
    if (*has || !are_few)
        return DSE_OK;
    if (status == DSE_OK)
        status = uop_graph_within(network, &unpriced, fewest->cut, a->sums, a->n_sample, UOP_USE_MAX, arena,
                                  &graph, err);
    if (status == DSE_OK)
        status = uop_needs_of(&graph, &a->machine, a->sram, arena, &needs, err);
    *has = status == DSE_OK;
    return status == DSE_LIMIT ? DSE_OK : status;
}

/* Where blocks are searched once, sums at their borders are uops. */
static enum dse_status plan_as_searched(const struct asked *a, struct fewest *fewest, struct arena *arena,
                                        bool *has, struct dse_error *err)
{
    const struct engine_task *task = a->question->task;
    struct uop_network network = a->network;
    uint32_t n_sample;
    const bool is_more = has_option(a->question->engine, "max_uops") ? (double)fewest->n > a->max_uops
                                                                     : a->sram == UOP_SRAM_SLICES;
    if (is_more && klotski_has_blocks(task->network, network.vector)) {
        DSE_TRY(uop_network_for(task->network, task->batch, UOP_BLOCKS, arena, &network, &n_sample, err));
        DSE_TRY(find_fewest(&network, &a->machine, a->sram, arena, fewest, err));
    }
    return find_plan(a, &network, fewest, arena, has, err);
}

static bool may_slice(const struct asked *a)
{
    return can_slice(a->sram, a->memory, a->transport);
}

/* The same in slices. */
static enum dse_status plan_in_slices(const struct asked *a, struct arena *arena, bool *has,
                                      struct dse_error *err)
{
    struct asked then = *a;
    struct fewest fewest;
    then.sram = UOP_SRAM_SLICES;
    DSE_TRY(find_fewest(&a->network, &a->machine, then.sram, arena, &fewest, err));
    return plan_as_searched(&then, &fewest, arena, has, err);
}

static enum dse_status judge(const struct asked *a, struct arena *arena, struct fewest *fewest,
                             enum verdict *verdict, struct dse_error *err)
{
    const uint64_t most = most_uops(a->max_uops, a->n_sample) / a->n_sample;
    bool has = true;
    DSE_TRY(find_fewest(&a->network, &a->machine, a->sram, arena, fewest, err));
    const bool fits = fewest->misfit == a->network.n_layer, is_many = fewest->n > most;
    const bool is_few = !is_many || (may_slice(a) && a->network.n_layer <= most);
    if (fits && !is_many && a->memory == UOP_DRAM)
        DSE_TRY(plan_as_searched(a, fewest, arena, &has, err));
    /* engines that search keep to sram where uops are few */
    if (fits && is_few && a->memory == UOP_DRAM && may_slice(a) &&
        (is_many || (!has && !has_option(a->question->engine, "sram"))))
        DSE_TRY(plan_in_slices(a, arena, &has, err));
    *verdict = fewest->misfit < a->network.n_layer ? NO_TILE : !is_few ? TOO_MANY : has ? TAKEN : NO_PLAN;
    return DSE_OK;
}

/* Ways out of what is refused, by which the task is taken. */
struct advice {
    const char *way[6];
    size_t n;
};

static enum dse_status advise(struct advice *advice, const struct asked *then, const char *way,
                              struct dse_error *err)
{
    struct fewest fewest;
    enum verdict verdict = NO_TILE;
    struct arena own;
    arena_init(&own);
    const enum dse_status status = judge(then, &own, &fewest, &verdict, err);
    arena_free(&own);
    if (status == DSE_OK && verdict == TAKEN)
        advice->way[advice->n++] = way;
    return status;
}

/* Of the ways to pass over more of the memories the first that will do; with `in_slices` that one. */
static enum dse_status advise_sram(struct advice *advice, const struct asked *asked, bool in_slices,
                                   struct dse_error *err)
{
    static const struct {
        enum uop_sram sram;
        const char *way;
    } looser[] = {
        {UOP_SRAM_OUTPUT, "sram=output"}, {UOP_SRAM_SLICES, "sram=slices"}, {UOP_SRAM_OFF, "sram=off"}};
    const size_t before = advice->n;
    for (size_t i = 0; i < sizeof looser / sizeof looser[0] && advice->n == before; i++) {
        struct asked then = *asked;
        then.sram = looser[i].sram;
        const bool goes =
            then.sram == UOP_SRAM_SLICES ? can_slice(UOP_SRAM_ALL, then.memory, then.transport) : !in_slices;
        if (then.sram != asked->sram && goes)
            DSE_TRY(advise(advice, &then, looser[i].way, err));
    }
    return DSE_OK;
}

enum { WAY_MAX = 48, ADVICE_MAX = 240 };

/* `more` (WAY_MAX): the text of the way of more uops. */
static enum dse_status find_advice(const struct asked *asked, enum verdict verdict,
                                   const struct fewest *fewest, char *more, struct advice *advice,
                                   struct dse_error *err)
{
    const struct engine *engine = asked->question->engine;
    struct asked then = *asked;
    then.max_uops = (double)(may_slice(asked) ? asked->network.n_layer : fewest->n);
    (void)snprintf(more, WAY_MAX, "max_uops=%.0f or more", then.max_uops);
    if (verdict == TOO_MANY && has_option(engine, "max_uops") && then.max_uops <= UOP_MAX)
        DSE_TRY(advise(advice, &then, more, err));
    then = *asked;
    then.sums = UOP_SUMS_REDUCE;
    if (verdict == NO_PLAN && has_option(engine, "sums") && asked->sums != UOP_SUMS_REDUCE)
        DSE_TRY(advise(advice, &then, "sums=reduce", err));
    if (has_option(engine, "sram"))
        DSE_TRY(advise_sram(advice, asked, verdict == NO_PLAN, err));
    then = *asked;
    then.transport = UOP_IDEAL;
    if (asked->memory == UOP_DRAM && asked->transport != UOP_IDEAL) /* in slices */
        DSE_TRY(advise(advice, &then, "transport=ideal", err));
    then = *asked;
    then.n_sample = 1;
    if (asked->n_sample > 1)
        DSE_TRY(advise(advice, &then, "a smaller batch", err));
    then = *asked;
    then.machine.sram_word = ARCH_UNLIMITED;
    DSE_TRY(advise(advice, &then, "larger memories", err));
    then = *asked;
    then.memory = UOP_FREE;
    if (!has_option(engine, "max_uops"))
        then.sram = UOP_SRAM_OFF; /* tangram passes over memories then */
    return asked->memory == UOP_FREE ? DSE_OK : advise(advice, &then, "memory=free", err);
}

/* "; take this, that or other", or nothing. */
static void say_advice(const struct advice *advice, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < advice->n && at < size; i++) {
        const char *before = i == 0 ? "; take " : i + 1 == advice->n ? " or " : ", ";
        const int n = snprintf(text + at, size - at, "%s%s", before, advice->way[i]);
        at += n > 0 ? (size_t)n : 0;
    }
}

static const char *name_of(const struct uop_network *network, uint32_t l)
{
    return network->network->layer[network->layer[l].of].name;
}

static enum dse_status refuse(const struct asked *a, enum verdict verdict, const struct fewest *fewest,
                              struct dse_error *err)
{
    const struct uop_network *network = &a->network;
    const char *name = network->network->name;
    struct advice advice = {.n = 0};
    char more[WAY_MAX], ways[ADVICE_MAX], most[WAY_MAX];
    DSE_TRY(find_advice(a, verdict, fewest, more, &advice, err));
    say_advice(&advice, ways, sizeof ways);
    if (a->max_uops == KLOTSKI_MAX_UOPS_STANDARD)
        (void)snprintf(most, sizeof most, "%d", GROWN_MAX);
    else
        (void)snprintf(most, sizeof most, "max_uops = %.0f", a->max_uops);
    if (verdict == NO_TILE)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s: no tile of layer %s fits the %" PRIu64
                        " words of an accelerator's memory, not even one output pixel with one fold of "
                        "channels%s",
                        name, name_of(network, fewest->misfit), a->machine.sram_word, ways);
    if (verdict == NO_PLAN)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s: for the accelerators' memories its layers need %" PRIu64
                        " uops at least for each of %u samples, which read more than the %d tiles that a "
                        "plan of memories has (memory=dram, sums=%s)%s",
                        name, fewest->n, a->n_sample, UOP_USE_MAX, uop_sums_name[a->sums], ways);
    if (may_slice(a) || fewest->n == network->n_layer)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s has %u layers with MACs, each a uop at least for each of %u samples, "
                        "more than %s%s",
                        name, network->n_layer, a->n_sample, most, ways);
    return dse_fail(err, DSE_BAD_USAGE,
                    "network %s: for the accelerators' memories its %u layers with MACs need %" PRIu64
                    " uops at least for each of %u samples (layer %s %" PRIu64 "), more than %s%s",
                    name, network->n_layer, fewest->n, a->n_sample, name_of(network, fewest->most),
                    fewest->n_most, most, ways);
}

/* Layers as they are with free memories, or as a file or the options h, w, ic and oc say, pass over what
 * memories need. */
static bool is_given(const struct engine_question *question)
{
    if (engine_question_file(question, "partition_from"))
        return true;
    if (!has_option(question->engine, "max_uops"))
        return engine_question_option(question, "memory") != UOP_DRAM;
    return has_option(question->engine, "h") && engine_question_option(question, "partition") == 0;
}

/* A layer with MACs is a uop at least. */
static enum dse_status check_number(const struct uop_network *network, uint32_t n_sample,
                                    struct dse_error *err)
{
    if ((uint64_t)network->n_layer * n_sample <= UOP_MAX)
        return DSE_OK;
    return dse_fail(err, DSE_BAD_USAGE,
                    "network %s has %u layers with MACs, so %llu uops at least for a batch of %u, more than "
                    "%d%s",
                    network->network->name, network->n_layer, (unsigned long long)network->n_layer * n_sample,
                    n_sample, UOP_MAX, network->n_layer <= UOP_MAX ? "; take a smaller batch" : "");
}

static enum dse_status check_task(const struct engine_question *question, const struct uop_setting *setting,
                                  struct arena *arena, struct dse_error *err)
{
    struct asked asked = {.question = question,
                          .max_uops = option_or(question, "max_uops", KLOTSKI_MAX_UOPS_STANDARD),
                          .sums = (enum uop_sums)option_or(question, "sums", UOP_SUMS_CHAIN),
                          .sram = setting->sram,
                          .memory = setting->memory,
                          .transport = setting->transport};
    struct core_split node;
    struct fewest fewest;
    enum verdict verdict;
    const enum uop_vector vector = (enum uop_vector)engine_question_option(question, "vector");
    DSE_TRY(uop_network_for(question->task->network, question->task->batch, vector, arena, &asked.network,
                            &asked.n_sample, err));
    DSE_TRY(check_number(&asked.network, asked.n_sample, err));
    if (is_given(question))
        return DSE_OK;
    DSE_TRY(node_machine_of(question->task->architecture, &asked.machine, &node, err));
    DSE_TRY(judge(&asked, arena, &fewest, &verdict, err));
    return verdict == TAKEN ? DSE_OK : refuse(&asked, verdict, &fewest, err);
}

enum dse_status klotski_takes_task(const struct engine_question *question, struct dse_error *err)
{
    const struct uop_setting setting = {.transport =
                                            (enum uop_transport)engine_question_option(question, "transport"),
                                        .memory = (enum uop_memory)engine_question_option(question, "memory"),
                                        .sram = (enum uop_sram)option_or(question, "sram", UOP_SRAM_ALL)};
    struct arena arena;
    DSE_TRY(uop_setting_check(&setting, (enum uop_firing)engine_question_option(question, "firing"), err));
    arena_init(&arena);
    const enum dse_status status = check_task(question, &setting, &arena, err);
    arena_free(&arena);
    return status;
}

/* ---- in a search ---- */

bool klotski_more_uops(struct tile_rules *rules)
{
    if (!rules->grows || rules->max_uops >= GROWN_MAX)
        return false;
    rules->max_uops = 2 * rules->max_uops < GROWN_MAX ? 2 * rules->max_uops : GROWN_MAX;
    return true;
}

enum dse_status klotski_fewest_cut(const struct klotski_task *task, const struct tile_rules *rules,
                                   struct arena *arena, const struct uop_cut **cut, struct dse_error *err)
{
    struct fewest fewest;
    *cut = NULL;
    DSE_TRY(find_fewest(&task->network, &task->machine, rules->sram, arena, &fewest, err));
    *cut = fewest.misfit == task->network.n_layer ? fewest.cut : NULL;
    return DSE_OK;
}

enum dse_status klotski_offer_fewest(struct engine_context *context, const struct klotski_task *task,
                                     const struct tile_rules *rules, struct uop_plan *plan,
                                     struct arena *scratch, struct dse_error *err)
{
    struct uop_graph graph;
    if (engine_context_best_cost(context) < INFINITY || plan->memory == UOP_FREE)
        return DSE_OK;
    DSE_TRY(klotski_fewest_cut(task, rules, scratch, &plan->cut, err));
    if (!plan->cut)
        return DSE_OK;
    DSE_TRY(uop_graph_of(&task->network, &task->machine, plan->cut, plan->sums, plan->batch, scratch, &graph,
                         err));
    return baseline_offer_atomic(context, task, &graph, plan, scratch, err);
}

/* How many uops there may be. With `slices` uops run in slices where memories ask for more than that.
 * *is_enough: memories ask for no more than options say. */
static enum dse_status choose_number(const struct klotski_task *task, bool slices, struct arena *arena,
                                     struct tile_rules *rules, bool *is_enough, struct dse_error *err)
{
    const uint64_t most = rules->grows ? GROWN_MAX : rules->max_uops;
    const bool is_asked = rules->sram == UOP_SRAM_SLICES;
    struct fewest fewest;
    DSE_TRY(find_fewest(&task->network, &task->machine, is_asked ? UOP_SRAM_ALL : rules->sram, arena, &fewest,
                        err));
    *is_enough = !rules->grows || fewest.n * task->batch <= rules->max_uops;
    if (slices && fewest.n > most / task->batch)
        rules->sram = UOP_SRAM_SLICES;
    const uint64_t n = rules->sram == UOP_SRAM_SLICES ? task->network.n_layer : fewest.n;
    while (n * task->batch > rules->max_uops && klotski_more_uops(rules))
        ;
    return DSE_OK;
}

/* The network with its blocks once, where it has such. */
static enum dse_status fold_blocks(const struct network *network, struct arena *arena,
                                   struct klotski_task *task, struct tile_rules *rules, struct dse_error *err)
{
    DSE_TRY(block_fold_new(network, arena, &task->fold, err));
    if (!task->fold)
        return DSE_OK;
    task->network = task->fold->once;
    rules->times = task->fold->times;
    rules->usual = (uint32_t)((uint64_t)rules->usual * task->fold->whole.n_layer / task->network.n_layer);
    if (rules->sram == UOP_SRAM_SLICES && rules->max_uops < rules->usual) /* memories ask for no more */
        rules->max_uops = rules->usual < GROWN_MAX ? rules->usual : GROWN_MAX;
    return DSE_OK;
}

enum dse_status klotski_search_of(const struct engine_context *context, size_t first, bool folds, bool given,
                                  struct arena *arena, struct klotski_task *task, struct tile_rules *rules,
                                  struct dse_error *err)
{
    const struct engine_task *asked = engine_context_task(context);
    const struct network *network = asked->network;
    const enum uop_vector vector = klotski_vector(context, first + KLOTSKI_VECTOR);
    const size_t network_at = first + KLOTSKI_N_RULES;
    const enum uop_memory memory =
        (enum uop_memory)engine_context_option(context, network_at + KLOTSKI_MEMORY);
    const enum uop_transport transport =
        (enum uop_transport)engine_context_option(context, network_at + KLOTSKI_TRANSPORT);
    bool is_enough;
    DSE_TRY(klotski_task_of(asked, vector, arena, task, err));
    *rules = klotski_rules(context, first, task);
    const bool slices = !given && can_slice(rules->sram, memory, transport);
    DSE_TRY(choose_number(task, slices, arena, rules, &is_enough, err));
    if (!is_enough && !given && klotski_has_blocks(network, vector)) {
        klotski_task_free(task);
        DSE_TRY(klotski_task_of(asked, UOP_BLOCKS, arena, task, err));
        if (folds)
            DSE_TRY(fold_blocks(network, arena, task, rules, err));
    }
    task->machine.slices = rules->sram == UOP_SRAM_SLICES; /* guesses have none */
    return DSE_OK;
}
