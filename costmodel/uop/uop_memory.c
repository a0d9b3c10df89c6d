/* Walks the uops in the order of their starts without a network and with free memory. At each turn it knows
 * what every core holds: items with the place of their next use there. What does not fit goes by Belady's
 * rule. Where an item may come early is looked up in the most that each earlier turn holds. */
#include "costmodel/uop/uop_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "costmodel/uop/step_list.h"

/* An item in a core's memory. */
struct held {
    uint32_t item;
    uint32_t use;  /* the next on this core, or UOP_NONE */
    uint32_t owed; /* where the item was made: other cores that lack it */
    bool is_new;   /* it has come and was not used yet */
    bool passes;   /* it is thrown out after its use */
    uint32_t end;  /* without either: the place at which it must be gone */
    uint32_t here; /* the step by which it is there */
    uint32_t goes; /* in `leave`: the last step that takes it away, or UOP_NONE */
    uint32_t before, behind;
};

struct plan {
    const struct uop_graph *graph;
    const struct uop_needs *needs;
    const struct uop_schedule *schedule;
    struct uop_messages messages;
    /* uses: of uop u first its items out of the DRAM, then its producers, from first_use(u) on */
    uint32_t *use_uop, *next_use; /* (uses) whose; the same item's next on this core */
    uint32_t *use_held;           /* (uses) in `held`: there for that use, or UOP_NONE */
    struct held *held;            /* (n_held) grown; free ones by `behind` */
    size_t n_held, held_capacity;
    uint32_t free_held;
    uint32_t *head;             /* (n_core) a core's first in `held` */
    uint32_t *turn;             /* (n_core) the place of its next uop */
    uint64_t *used;             /* (n_core) words at that turn */
    uint64_t *most;             /* (n_uop, by place) the most words of a turn */
    uint32_t *run;              /* (n_uop) its step, or UOP_NONE */
    uint64_t *end;              /* (n_uop) without a network and with free memory */
    uint32_t *rank;             /* (n_uop) when its turn is */
    uint32_t *reader, *reading; /* consumers as in the graph, each list by rank; (n_uop) the next of them */
    uint32_t *made;             /* (n_uop) in `held`: the output where it was made, or UOP_NONE */
    uint32_t *send;             /* (n_uop) the last such step, or UOP_NONE */
    uint32_t *read, *write;     /* (n_item) the last such step, or UOP_NONE */
    uint32_t *leaving;          /* (n_uop, by place) the last in `leave`, whose room is free from there on */
    struct step_pairs leave;    /* the one before in a list, step */
    struct step_list steps;
    struct arena own; /* what only the planning needs */
    enum dse_status status;
    struct dse_error *err;
};

/* The first failure is kept. */
static void fail_memory(struct plan *p)
{
    if (p->status == DSE_OK)
        p->status = dse_fail(p->err, DSE_NO_MEMORY, "out of memory for the plan of a memory");
}

/* ---- uses ---- */

static uint32_t first_use(const struct plan *p, uint32_t u)
{
    return p->needs->first[u] + p->graph->first_producer[u];
}

static uint32_t item_of(const struct plan *p, uint32_t u, uint32_t k)
{
    const uint32_t n_own = p->needs->first[u + 1] - p->needs->first[u];
    return k < n_own ? p->needs->item[p->needs->first[u] + k]
                     : p->graph->producer[p->graph->first_producer[u] + k - n_own];
}

/* The use of producer `u`'s output by one of its consumers. */
static uint32_t use_of(const struct plan *p, uint32_t u, uint32_t consumer)
{
    const uint32_t n_own = p->needs->first[consumer + 1] - p->needs->first[consumer];
    uint32_t low = p->graph->first_producer[consumer], high = p->graph->first_producer[consumer + 1];
    while (low + 1 < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->graph->producer[middle] <= u)
            low = middle;
        else
            high = middle;
    }
    return first_use(p, consumer) + n_own + low - p->graph->first_producer[consumer];
}

static uint32_t place_of_use(const struct plan *p, uint32_t use)
{
    return use == UOP_NONE ? UOP_NONE : p->messages.place[p->use_uop[use]];
}

/* It reads from the DRAM and writes there by itself, so it has no uses. */
static bool is_sliced(const struct plan *p, uint32_t u)
{
    return p->needs->is_sliced && p->needs->is_sliced[u];
}

static uint32_t end_use(const struct plan *p, uint32_t u)
{
    return first_use(p, is_sliced(p, u) ? u : u + 1);
}

/* From each core's last uop back. `last` (n_item) and `seen` (n_item). */
static void find_next_uses(struct plan *p, uint32_t *last, uint32_t *seen)
{
    for (uint32_t c = 0; c < p->schedule->n_core; c++)
        for (uint32_t i = p->schedule->first[c + 1]; i-- > p->schedule->first[c];) {
            const uint32_t u = p->schedule->order[i], first = first_use(p, u);
            for (uint32_t k = 0; k < end_use(p, u) - first; k++) {
                const uint32_t item = item_of(p, u, k);
                p->use_uop[first + k] = u;
                p->next_use[first + k] = seen[item] == c + 1 ? last[item] : UOP_NONE;
                p->use_held[first + k] = UOP_NONE;
                seen[item] = c + 1;
                last[item] = first + k;
            }
        }
}

/* ---- what a core holds ---- */

static uint32_t hold(struct plan *p, uint32_t core, struct held held)
{
    uint32_t h = p->free_held;
    if (h != UOP_NONE) {
        p->free_held = p->held[h].behind;
    } else {
        struct held *grown = array_grow(p->held, p->n_held + 1, &p->held_capacity, sizeof *p->held);
        if (!grown) {
            fail_memory(p);
            return UOP_NONE;
        }
        p->held = grown;
        h = (uint32_t)p->n_held++;
    }
    held.before = UOP_NONE;
    held.behind = p->head[core];
    if (held.behind != UOP_NONE)
        p->held[held.behind].before = h;
    p->head[core] = h;
    p->held[h] = held;
    if (held.use != UOP_NONE)
        p->use_held[held.use] = h;
    return h;
}

/* One more step takes it away. */
static void take_away(struct plan *p, uint32_t h, uint32_t step)
{
    if (!step_pairs_put(&p->leave, p->held[h].goes, step))
        fail_memory(p);
    else
        p->held[h].goes = (uint32_t)p->leave.n - 1;
}

/* Its room is free from `place` of that core on, when what takes it away is done. */
static void drop(struct plan *p, uint32_t core, uint32_t h, uint32_t place)
{
    const struct held *held = &p->held[h];
    for (uint32_t i = held->goes, next; i != UOP_NONE; i = next) {
        next = p->leave.at[i].of;
        p->leave.at[i].of = p->leaving[place];
        p->leaving[place] = i;
    }
    if (held->use != UOP_NONE)
        p->use_held[held->use] = UOP_NONE;
    if (held->item < p->graph->n_uop && p->made[held->item] == h)
        p->made[held->item] = UOP_NONE;
    if (held->before == UOP_NONE)
        p->head[core] = held->behind;
    else
        p->held[held->before].behind = held->behind;
    if (held->behind != UOP_NONE)
        p->held[held->behind].before = held->before;
    p->held[h].behind = p->free_held;
    p->free_held = h;
}

static uint32_t write_item(struct plan *p, uint32_t core, uint32_t item, uint32_t here)
{
    p->write[item] = step_list_put(&p->steps, UOP_WRITE, item, core);
    step_list_wait(&p->steps, p->write[item], here);
    return p->write[item];
}

/* Words of it beside those that the uop of that turn takes itself. */
static uint64_t beside(const struct plan *p, const struct held *held, uint32_t place)
{
    const bool is_own = held->item >= p->graph->n_uop && place_of_use(p, held->use) == place;
    return is_own ? 0 : p->needs->held[held->item];
}

/* The rank of who uses it next: on its core, or, where it was made, anywhere as long as a core lacks it. */
static uint32_t next_rank(struct plan *p, const struct held *held, uint32_t now)
{
    uint32_t rank = held->use == UOP_NONE ? UOP_NONE : p->rank[p->use_uop[held->use]];
    if (held->owed == 0)
        return rank;
    uint32_t *reading = &p->reading[held->item];
    while (p->rank[p->reader[*reading]] < now)
        ++*reading;
    return p->rank[p->reader[*reading]] < rank ? p->rank[p->reader[*reading]] : rank;
}

/* Of what takes room at that turn of the core, what is used last; of several the largest number. */
static uint32_t last_used(struct plan *p, uint32_t core, uint32_t place, uint32_t now)
{
    uint32_t found = UOP_NONE, at = 0;
    for (uint32_t h = p->head[core]; h != UOP_NONE; h = p->held[h].behind) {
        const uint32_t rank = next_rank(p, &p->held[h], now);
        if (beside(p, &p->held[h], place) == 0)
            continue;
        if (found == UOP_NONE || rank > at || (rank == at && p->held[h].item > p->held[found].item)) {
            found = h;
            at = rank;
        }
    }
    return found;
}

/* Room for others from that turn of the core on. What is still needed, is in no DRAM and no more where it was
 * made is written. No other core is added to the step that brought it, as that one cannot bring it again. */
static void evict(struct plan *p, uint32_t core, uint32_t h, uint32_t place)
{
    const struct held held = p->held[h];
    const bool is_output = held.item < p->graph->n_uop;
    const uint32_t made = is_output ? p->made[held.item] : UOP_NONE;
    p->used[core] -= beside(p, &held, place);
    if (is_output && made != UOP_NONE && made != h)
        p->held[made].owed++;
    else if (is_output && (held.use != UOP_NONE || held.owed > 0) && p->write[held.item] == UOP_NONE)
        take_away(p, h, write_item(p, core, held.item, held.here));
    if (is_output && p->send[held.item] == held.here)
        p->send[held.item] = UOP_NONE;
    if (p->read[held.item] == held.here)
        p->read[held.item] = UOP_NONE;
    drop(p, core, h, place);
}

/* The next turn of a core: what is no more needed goes, then what does not fit. */
static void begin_turn(struct plan *p, uint32_t core, uint32_t place, uint32_t now)
{
    const uint64_t capacity = p->needs->capacity_word;
    p->turn[core] = place;
    if (place == p->schedule->first[core + 1])
        return;
    p->used[core] = p->needs->room[p->schedule->order[place]];
    for (uint32_t h = p->head[core], next; h != UOP_NONE; h = next) {
        next = p->held[h].behind;
        if (p->held[h].use == UOP_NONE && p->held[h].owed == 0 && p->held[h].end <= place)
            drop(p, core, h, place);
        else
            p->used[core] += beside(p, &p->held[h], place);
    }
    while (p->used[core] > capacity)
        evict(p, core, last_used(p, core, place, now), place);
    p->most[place] = p->used[core];
}

/* ---- when things may come ---- */

/* The first place from which on a core has room for an item until its turn `place`; it is taken. An output
 * need not come before it is made. */
static uint32_t earliest(struct plan *p, uint32_t core, uint32_t place, uint32_t item)
{
    const uint64_t word = p->needs->held[item];
    const uint64_t made = item < p->graph->n_uop ? p->end[item] : 0;
    uint32_t at = place;
    while (at > p->schedule->first[core] && place - at < UOP_AHEAD_MAX &&
           p->end[p->schedule->order[at - 1]] > made && word <= p->needs->capacity_word - p->most[at - 1])
        at--;
    for (uint32_t i = at; i < place; i++)
        p->most[i] += word;
    return at;
}

/* The step waits until what that place of a core has free is free, as far as earlier steps make it so. */
static void wait_for_room(struct plan *p, uint32_t step, uint32_t core, uint32_t place)
{
    if (place > p->schedule->first[core])
        step_list_wait(&p->steps, step, p->run[p->schedule->order[place - 1]]);
    for (uint32_t i = p->leaving[place]; i != UOP_NONE; i = p->leave.at[i].of)
        if (p->leave.at[i].is < step)
            step_list_wait(&p->steps, step, p->leave.at[i].is);
}

/* ---- a uop ---- */

/* Can that step bring its item to one more core? Only if all that makes its room there is before it. */
static bool can_join(const struct plan *p, uint32_t step, uint32_t core, uint32_t place)
{
    return step != UOP_NONE &&
           (place == p->schedule->first[core] || p->run[p->schedule->order[place - 1]] < step);
}

/* An output that is still where it was made. */
static uint32_t send_item(struct plan *p, uint32_t item)
{
    p->send[item] = step_list_put(&p->steps, UOP_SEND, item, p->messages.core[item]);
    step_list_wait(&p->steps, p->send[item], p->run[item]);
    take_away(p, p->made[item], p->send[item]);
    return p->send[item];
}

static uint32_t read_item(struct plan *p, uint32_t item)
{
    p->read[item] = step_list_put(&p->steps, UOP_READ, item, 0);
    step_list_wait(&p->steps, p->read[item], p->write[item]);
    return p->read[item];
}

/* The step that brings an item to a core for its turn `place`: one that there is, a message, or a read. */
static uint32_t bring(struct plan *p, uint32_t item, uint32_t core, uint32_t place)
{
    const uint32_t from = earliest(p, core, place, item), n_uop = p->graph->n_uop;
    const uint32_t made = item < n_uop ? p->made[item] : UOP_NONE;
    uint32_t step;
    if (item < n_uop && can_join(p, p->send[item], core, from))
        step = p->send[item];
    else if (can_join(p, p->read[item], core, from))
        step = p->read[item];
    else
        step = made != UOP_NONE ? send_item(p, item) : read_item(p, item);
    if (made != UOP_NONE && --p->held[made].owed == 0)
        p->held[made].end = p->turn[p->messages.core[item]] + 2;
    step_list_to(&p->steps, step, core);
    wait_for_room(p, step, core, from);
    return step;
}

/* An item comes for a use at the core's turn `place`. An output of others that does not fit beside what is
 * held only passes by: the uop keeps what it needs of it among its inputs. */
static void come(struct plan *p, uint32_t use, uint32_t item, uint32_t core, uint32_t place)
{
    struct held held = {.item = item, .use = use, .is_new = true, .goes = UOP_NONE};
    held.here = bring(p, item, core, place);
    if (item < p->graph->n_uop) {
        held.passes = p->needs->held[item] > p->needs->capacity_word - p->used[core];
        p->used[core] += held.passes ? 0 : p->needs->held[item];
        p->most[place] = p->used[core] > p->most[place] ? p->used[core] : p->most[place];
    }
    (void)hold(p, core, held);
}

/* After its use at the core's turn `place`. */
static void use_again(struct plan *p, uint32_t use, uint32_t core, uint32_t place)
{
    const uint32_t h = p->use_held[use], next = p->next_use[use];
    struct held *held = &p->held[h];
    held->use = next;
    held->end = place + 1;
    if (next == UOP_NONE)
        return;
    p->use_held[next] = h;
    if (held->passes) {
        p->used[core] += p->needs->held[held->item]; /* which evict takes off */
        evict(p, core, h, place + 1);
    }
}

/* Those items come that are not there, then it runs. */
static void run_uop(struct plan *p, uint32_t u, uint32_t core, uint32_t place)
{
    const uint32_t first = first_use(p, u), end = end_use(p, u);
    for (uint32_t k = first; k < end; k++)
        if (p->use_held[k] == UOP_NONE)
            come(p, k, item_of(p, u, k - first), core, place);
    p->run[u] = step_list_put(&p->steps, UOP_RUN, u, core);
    wait_for_room(p, p->run[u], core, place);
    for (uint32_t k = p->graph->first_producer[u]; is_sliced(p, u) && k < p->graph->first_producer[u + 1];
         k++)
        step_list_wait(&p->steps, p->run[u], p->write[p->graph->producer[k]]);
    for (uint32_t k = first; k < end && p->status == DSE_OK; k++) {
        struct held *held = &p->held[p->use_held[k]];
        if (held->is_new) /* else one before it in its list has waited for that */
            step_list_wait(&p->steps, p->run[u], held->here);
        held->is_new = false;
    }
    for (uint32_t k = first; k < end && p->status == DSE_OK; k++)
        use_again(p, k, core, place);
}

/* Of consumers `k` to `end` - 1 the first that runs whole, or UOP_NONE. Those in slices read what is written
 * to the DRAM. */
static uint32_t whole_reader(const struct plan *p, uint32_t k, uint32_t end, bool *is_written)
{
    uint32_t reader = p->needs->is_sliced ? UOP_NONE : p->messages.consumer[k];
    for (; p->needs->is_sliced && k < end; k++) {
        const uint32_t consumer = p->messages.consumer[k];
        *is_written = *is_written || is_sliced(p, consumer);
        if (reader == UOP_NONE && !is_sliced(p, consumer))
            reader = consumer;
    }
    return reader;
}

/* A uop's turn, and what becomes of its output. */
static void walk(struct plan *p, uint32_t u)
{
    const struct uop_messages *m = &p->messages;
    const uint32_t core = m->core[u], place = m->place[u], end = p->graph->first_consumer[u + 1];
    struct held made = {.item = u, .use = UOP_NONE, .end = place + 1, .goes = UOP_NONE};
    bool is_written = p->needs->is_result[u];
    run_uop(p, u, core, place);
    if (p->status != DSE_OK)
        return;
    for (uint32_t k = p->graph->first_consumer[u], next; k < end; k = next) {
        next = uop_messages_next(m, k, end);
        const uint32_t reader = whole_reader(p, k, next, &is_written);
        if (reader != UOP_NONE && m->core[reader] == core)
            made.use = use_of(p, u, reader);
        else
            made.owed += reader != UOP_NONE;
    }
    if (is_sliced(p, u)) {
        p->write[u] = p->run[u];
        begin_turn(p, core, place + 1, p->rank[u] + 1);
        return;
    }
    made.end += is_written; /* while the next runs */
    made.here = p->run[u];
    p->made[u] = hold(p, core, made);
    if (is_written && p->status == DSE_OK)
        take_away(p, p->made[u], write_item(p, core, u, p->run[u]));
    if (p->status == DSE_OK)
        begin_turn(p, core, place + 1, p->rank[u] + 1);
}

/* ---- all of it ---- */

static enum dse_status plan_init(struct plan *p, struct dse_error *err)
{
    const uint32_t n_uop = p->graph->n_uop, n_item = p->needs->n_item, n_core = p->schedule->n_core;
    const size_t n_use = first_use(p, n_uop);
    uint32_t *last = arena_alloc_unset(&p->own, n_item, sizeof *last);
    uint32_t *seen = arena_alloc(&p->own, n_item, sizeof *seen);
    p->use_uop = arena_alloc_unset(&p->own, n_use + 1, sizeof *p->use_uop);
    p->next_use = arena_alloc_unset(&p->own, n_use + 1, sizeof *p->next_use);
    p->use_held = arena_alloc_unset(&p->own, n_use + 1, sizeof *p->use_held);
    p->head = arena_alloc_unset(&p->own, n_core, sizeof *p->head);
    p->turn = arena_alloc_unset(&p->own, n_core, sizeof *p->turn);
    p->used = arena_alloc(&p->own, n_core, sizeof *p->used);
    p->most = arena_alloc(&p->own, n_uop, sizeof *p->most);
    p->run = arena_alloc_unset(&p->own, n_uop, sizeof *p->run);
    p->read = arena_alloc_unset(&p->own, n_item, sizeof *p->read);
    p->write = arena_alloc_unset(&p->own, n_item, sizeof *p->write);
    p->leaving = arena_alloc_unset(&p->own, n_uop, sizeof *p->leaving);
    p->rank = arena_alloc_unset(&p->own, n_uop, sizeof *p->rank);
    p->reader = arena_alloc_unset(&p->own, p->graph->first_consumer[n_uop] + (size_t)1, sizeof *p->reader);
    p->reading = arena_alloc_unset(&p->own, n_uop, sizeof *p->reading);
    p->made = arena_alloc_unset(&p->own, n_uop, sizeof *p->made);
    p->send = arena_alloc_unset(&p->own, n_uop, sizeof *p->send);
    DSE_TRY(arena_check(&p->own, "the plan of a memory", err));
    DSE_TRY(uop_messages_of(p->graph, p->schedule, &p->own, &p->messages, err));
    memset(p->head, 0xff, n_core * sizeof *p->head);
    memset(p->run, 0xff, n_uop * sizeof *p->run);
    memset(p->made, 0xff, n_uop * sizeof *p->made);
    memset(p->send, 0xff, n_uop * sizeof *p->send);
    memset(p->read, 0xff, n_item * sizeof *p->read);
    memset(p->write, 0xff, n_item * sizeof *p->write);
    memset(p->leaving, 0xff, n_uop * sizeof *p->leaving);
    find_next_uses(p, last, seen);
    return DSE_OK;
}

/* Uops by their starts without a network and with free memory: producers first, lists in order. */
static enum dse_status order_of(struct plan *p, uint32_t **order, struct dse_error *err)
{
    const uint32_t n_uop = p->graph->n_uop;
    struct uop_times times = {.start = arena_alloc_unset(&p->own, n_uop, sizeof *times.start),
                              .finish = arena_alloc_unset(&p->own, n_uop, sizeof *times.finish)};
    DSE_TRY(arena_check(&p->own, "the plan of a memory", err));
    DSE_TRY(uop_run_ideal(p->graph, p->schedule, &p->own, &times, err));
    p->end = times.finish;
    return uop_by_start(times.start, n_uop, &p->own, order, err);
}

/* Ranks, and consumers by them. */
static void rank_uops(struct plan *p, const uint32_t *order)
{
    const struct uop_graph *graph = p->graph;
    memcpy(p->reading, graph->first_consumer, graph->n_uop * sizeof *p->reading);
    for (uint32_t i = 0; i < graph->n_uop; i++) {
        const uint32_t u = order[i];
        p->rank[u] = i;
        for (uint32_t k = graph->first_producer[u]; !is_sliced(p, u) && k < graph->first_producer[u + 1]; k++)
            p->reader[p->reading[graph->producer[k]]++] = u;
    }
    memcpy(p->reading, graph->first_consumer, graph->n_uop * sizeof *p->reading);
}

static enum dse_status check_room(const struct plan *p, struct dse_error *err)
{
    for (uint32_t u = 0; u < p->graph->n_uop; u++)
        if (p->needs->room[u] > p->needs->capacity_word) {
            char name[160];
            (void)uop_name_print(p->graph, u, name, sizeof name);
            return dse_fail(err, DSE_BAD_INPUT, "uop %s needs more room than an accelerator has", name);
        }
    return DSE_OK;
}

static enum dse_status plan_all(struct plan *p, struct arena *scratch, struct uop_steps *out,
                                struct dse_error *err)
{
    uint32_t *order;
    DSE_TRY(check_room(p, err));
    DSE_TRY(order_of(p, &order, err));
    DSE_TRY(plan_init(p, err));
    rank_uops(p, order);
    for (uint32_t c = 0; c < p->schedule->n_core; c++)
        begin_turn(p, c, p->schedule->first[c], 0);
    for (uint32_t i = 0; i < p->graph->n_uop && p->status == DSE_OK && !p->steps.failed; i++)
        walk(p, order[i]);
    if (p->steps.failed)
        fail_memory(p);
    DSE_TRY(p->status);
    arena_free(&p->own);
    out->word = p->needs->word;
    out->stream = p->needs->stream;
    return step_list_finish(&p->steps, scratch, out, err);
}

enum dse_status uop_memory_plan(const struct uop_graph *graph, const struct uop_needs *needs,
                                const struct uop_schedule *schedule, struct arena *scratch,
                                struct uop_steps *out, struct dse_error *err)
{
    struct plan p = {.graph = graph, .needs = needs, .schedule = schedule, .free_held = UOP_NONE, .err = err};
    arena_init(&p.own);
    const enum dse_status status = plan_all(&p, scratch, out, err);
    arena_free(&p.own);
    step_list_free(&p.steps);
    free(p.held);
    free(p.leave.at);
    return status;
}
