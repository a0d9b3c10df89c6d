/* Small placed graphs of uops with tiles out of a DRAM. */
#include "tests/support/uop_fed.h"

#include <string.h>

void uop_fed_put(struct uop_fed *f, uint32_t n_tile, const uint64_t *tile_word, const uint32_t *uses,
                 uint64_t capacity)
{
    const uint32_t n = f->placed.small.graph.n_uop;
    uint32_t at = 0;
    f->n_tile = n_tile;
    for (uint32_t u = 0; u < n; u++) {
        f->word[u] = f->placed.small.uop[u].output_word;
        f->room[u] = f->word[u];
        f->first[u] = at;
        f->is_result[u] = f->placed.small.first_consumer[u] == f->placed.small.first_consumer[u + 1];
        for (uint32_t t = 0; t < n_tile; t++)
            if (uses[u] >> t & 1) {
                f->item[at++] = n + t;
                f->room[u] += tile_word[t];
            }
    }
    f->first[n] = at;
    memcpy(f->word + n, tile_word, n_tile * sizeof *tile_word);
    memcpy(f->held, f->word, sizeof f->held);
    f->needs = (struct uop_needs){n + n_tile, f->word,      f->held, f->first, f->item,
                                  f->room,    f->is_result, NULL,    NULL,     capacity};
}

void uop_fed_random(struct random_stream *rng, struct uop_fed *f)
{
    uint64_t word[UOP_FED_TILE_MAX] = {0}, largest = 0;
    uint32_t uses[UOP_SMALL_MAX] = {0};
    uop_placed_random(rng, &f->placed, NULL);
    const uint32_t n_tile = 1 + random_below(rng, UOP_FED_TILE_MAX);
    f->placed.machine.dram = (struct byte_rate){1 + random_below(rng, 8), 1};
    for (uint32_t t = 0; t < n_tile; t++)
        word[t] = 1 + random_below(rng, 200);
    for (uint32_t u = 0; u < f->placed.small.graph.n_uop; u++)
        uses[u] = random_below(rng, 1U << n_tile) & random_below(rng, 1U << n_tile);
    uop_fed_put(f, n_tile, word, uses, UINT64_MAX);
    for (uint32_t u = 0; u < f->placed.small.graph.n_uop; u++)
        largest = f->room[u] > largest ? f->room[u] : largest;
    static const uint32_t more[] = {1, 100, 400, 1000};
    if (random_below(rng, 5))
        f->needs.capacity_word = largest + random_below(rng, more[random_below(rng, 4)]);
}

/* ---- the second planner ---- */

enum { NO = -1 };

struct planner {
    const struct uop_fed *f;
    struct uop_plain_steps *out;
    uint32_t n_core, n_uop, n_item;
    uint32_t core[UOP_SMALL_MAX], turn_of[UOP_SMALL_MAX], rank[UOP_SMALL_MAX];
    uint64_t ideal_end[UOP_SMALL_MAX];
    bool walked[UOP_SMALL_MAX];
    uint32_t turn[UOP_PLACED_CORE_MAX];
    uint64_t used[UOP_PLACED_CORE_MAX], most[UOP_PLACED_CORE_MAX][UOP_SMALL_MAX];
    uint64_t left[UOP_PLACED_CORE_MAX][UOP_SMALL_MAX + 1][UOP_FED_WORDS];
    bool kept[UOP_SMALL_MAX]; /* where it was made, without a break */
    bool holds[UOP_PLACED_CORE_MAX][UOP_FED_ITEM_MAX];
    int here[UOP_PLACED_CORE_MAX][UOP_FED_ITEM_MAX];
    uint32_t end[UOP_PLACED_CORE_MAX][UOP_FED_ITEM_MAX];
    uint64_t goes[UOP_PLACED_CORE_MAX][UOP_FED_ITEM_MAX][UOP_FED_WORDS];
    int run[UOP_SMALL_MAX], send[UOP_FED_ITEM_MAX], read[UOP_FED_ITEM_MAX], write[UOP_FED_ITEM_MAX];
};

static void set(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static uint32_t n_turn(const struct planner *p, uint32_t c)
{
    return p->f->placed.first[c + 1] - p->f->placed.first[c];
}

static uint32_t at_turn(const struct planner *p, uint32_t c, uint32_t t)
{
    return p->f->placed.order[p->f->placed.first[c] + t];
}

static bool reads(const struct planner *p, uint32_t u, uint32_t item)
{
    if (item < p->n_uop)
        return p->f->placed.small.edge[item][u];
    for (uint32_t k = p->f->first[u]; k < p->f->first[u + 1]; k++)
        if (p->f->item[k] == item)
            return true;
    return false;
}

/* The next uop on core c that reads the item. */
static int next_on(const struct planner *p, uint32_t c, uint32_t item)
{
    for (uint32_t t = 0; t < n_turn(p, c); t++)
        if (!p->walked[at_turn(p, c, t)] && reads(p, at_turn(p, c, t), item))
            return (int)at_turn(p, c, t);
    return NO;
}

/* Is this where an output was made, and do others lack it? */
static bool is_owed(const struct planner *p, uint32_t c, uint32_t item)
{
    if (item >= p->n_uop || p->core[item] != c || !p->kept[item])
        return false;
    for (uint32_t d = 0; d < p->n_core; d++)
        if (d != c && next_on(p, d, item) != NO && !p->holds[d][item])
            return true;
    return false;
}

static uint32_t next_rank(const struct planner *p, uint32_t c, uint32_t item)
{
    const int next = next_on(p, c, item);
    uint32_t rank = next == NO ? UINT32_MAX : p->rank[next];
    for (uint32_t u = 0; is_owed(p, c, item) && u < p->n_uop; u++)
        if (!p->walked[u] && reads(p, u, item) && p->rank[u] < rank)
            rank = p->rank[u];
    return rank;
}

static struct uop_plain_step *add(struct planner *p, enum uop_step_kind kind, uint32_t item, uint32_t core)
{
    struct uop_plain_step *s = &p->out->step[p->out->n++];
    *s = (struct uop_plain_step){.kind = kind, .item = item, .core = core};
    return s;
}

static void lose(struct planner *p, uint32_t c, uint32_t item, uint32_t turn)
{
    for (int w = 0; w < UOP_FED_WORDS; w++) {
        p->left[c][turn][w] |= p->goes[c][item][w];
        p->goes[c][item][w] = 0;
    }
    p->holds[c][item] = false;
    if (item < p->n_uop && p->core[item] == c)
        p->kept[item] = false;
}

static void throw_out(struct planner *p, uint32_t c, uint32_t item, uint32_t turn)
{
    const bool is_output = item < p->n_uop;
    const bool is_needed = next_on(p, c, item) != NO || is_owed(p, c, item);
    const bool is_elsewhere = is_output && p->core[item] != c && p->kept[item];
    if (is_output && is_needed && !is_elsewhere && p->write[item] == NO) {
        p->write[item] = (int)p->out->n;
        set(add(p, UOP_WRITE, item, c)->wait, (uint32_t)p->here[c][item]);
        set(p->goes[c][item], (uint32_t)p->write[item]);
    }
    if (p->send[item] == p->here[c][item])
        p->send[item] = NO;
    if (p->read[item] == p->here[c][item])
        p->read[item] = NO;
    lose(p, c, item, turn);
}

static uint64_t room_beside(const struct planner *p, uint32_t c, uint32_t item, uint32_t turn)
{
    const bool is_own = item >= p->n_uop && reads(p, at_turn(p, c, turn), item);
    return p->holds[c][item] && !is_own ? p->f->held[item] : 0;
}

static void next_turn(struct planner *p, uint32_t c, uint32_t turn)
{
    p->turn[c] = turn;
    if (turn == n_turn(p, c))
        return;
    for (uint32_t i = 0; i < p->n_item; i++)
        if (p->holds[c][i] && next_on(p, c, i) == NO && !is_owed(p, c, i) && p->end[c][i] <= turn)
            lose(p, c, i, turn);
    for (;;) {
        int last = NO;
        p->used[c] = p->f->room[at_turn(p, c, turn)];
        for (uint32_t i = 0; i < p->n_item; i++) {
            p->used[c] += room_beside(p, c, i, turn);
            if (room_beside(p, c, i, turn) &&
                (last == NO || next_rank(p, c, i) >= next_rank(p, c, (uint32_t)last)))
                last = (int)i;
        }
        if (p->used[c] <= p->f->needs.capacity_word)
            break;
        throw_out(p, c, (uint32_t)last, turn);
    }
    p->most[c][turn] = p->used[c];
}

static bool may_join(const struct planner *p, int step, uint32_t c, uint32_t turn)
{
    return step != NO && (turn == 0 || p->run[at_turn(p, c, turn - 1)] < step);
}

static void wait_for_room(struct planner *p, uint32_t step, uint32_t c, uint32_t turn)
{
    if (turn > 0)
        set(p->out->step[step].wait, (uint32_t)p->run[at_turn(p, c, turn - 1)]);
    for (uint32_t i = 0; i < step; i++)
        if (has(p->left[c][turn], i))
            set(p->out->step[step].wait, i);
}

/* Returns whether it passes by. */
static bool fetch(struct planner *p, uint32_t item, uint32_t c, uint32_t turn)
{
    const bool is_output = item < p->n_uop;
    const uint64_t word = p->f->held[item], capacity = p->f->needs.capacity_word;
    const bool is_there = is_output && p->kept[item];
    uint32_t from = turn;
    int step;
    while (from > 0 && p->most[c][from - 1] + word <= capacity &&
           (!is_output || p->ideal_end[at_turn(p, c, from - 1)] > p->ideal_end[item])) {
        from--;
        p->most[c][from] += word;
    }
    if (may_join(p, p->send[item], c, from)) {
        step = p->send[item];
    } else if (may_join(p, p->read[item], c, from)) {
        step = p->read[item];
    } else {
        step = (int)p->out->n;
        if (is_there) {
            p->send[item] = step;
            set(add(p, UOP_SEND, item, p->core[item])->wait, (uint32_t)p->run[item]);
            set(p->goes[p->core[item]][item], (uint32_t)step);
        } else {
            p->read[item] = step;
            add(p, UOP_READ, item, 0);
            if (p->write[item] != NO)
                set(p->out->step[step].wait, (uint32_t)p->write[item]);
        }
    }
    p->holds[c][item] = true;
    p->here[c][item] = step;
    if (is_there && !is_owed(p, p->core[item], item))
        p->end[p->core[item]][item] = p->turn[p->core[item]] + 2;
    p->out->step[step].to |= 1U << c;
    wait_for_room(p, (uint32_t)step, c, from);
    if (!is_output)
        return false;
    if (p->used[c] + word > capacity)
        return true;
    p->used[c] += word;
    p->most[c][turn] = p->most[c][turn] > p->used[c] ? p->most[c][turn] : p->used[c];
    return false;
}

static void walk(struct planner *p, uint32_t u)
{
    const uint32_t c = p->core[u], turn = p->turn_of[u];
    bool passes[UOP_FED_ITEM_MAX] = {false}, comes[UOP_FED_ITEM_MAX] = {false};
    for (uint32_t k = 0; k < p->n_item; k++) { /* tiles first */
        const uint32_t item = (k + p->n_uop) % p->n_item;
        comes[item] = reads(p, u, item) && !p->holds[c][item];
        if (comes[item])
            passes[item] = fetch(p, item, c, turn);
    }
    p->run[u] = (int)p->out->n;
    struct uop_plain_step *s = add(p, UOP_RUN, u, c);
    wait_for_room(p, (uint32_t)p->run[u], c, turn);
    for (uint32_t i = 0; i < p->n_item; i++)
        if (comes[i])
            set(s->wait, (uint32_t)p->here[c][i]);
    p->walked[u] = true;
    for (uint32_t k = 0; k < p->n_item; k++) {
        const uint32_t i = (k + p->n_uop) % p->n_item;
        if (!reads(p, u, i))
            continue;
        p->end[c][i] = turn + 1;
        if (passes[i] && next_on(p, c, i) != NO)
            throw_out(p, c, i, turn + 1);
    }
    p->holds[c][u] = p->kept[u] = true;
    p->here[c][u] = p->run[u];
    p->end[c][u] = turn + 1 + p->f->is_result[u];
    if (p->f->is_result[u]) {
        p->write[u] = (int)p->out->n;
        set(add(p, UOP_WRITE, u, c)->wait, (uint32_t)p->run[u]);
        set(p->goes[c][u], (uint32_t)p->write[u]);
    }
    next_turn(p, c, turn + 1);
}

void uop_plain_plan(const struct uop_fed *f, const uint64_t *ideal_start, struct uop_plain_steps *out)
{
    struct planner p = {.f = f, .out = out, .n_core = f->placed.schedule.n_core};
    p.n_uop = f->placed.small.graph.n_uop;
    p.n_item = f->needs.n_item;
    memset(p.send, 0xff, sizeof p.send);
    memset(p.read, 0xff, sizeof p.read);
    memset(p.write, 0xff, sizeof p.write);
    out->n = 0;
    for (uint32_t c = 0; c < p.n_core; c++)
        for (uint32_t t = 0; t < n_turn(&p, c); t++) {
            p.core[at_turn(&p, c, t)] = c;
            p.turn_of[at_turn(&p, c, t)] = t;
        }
    for (uint32_t u = 0; u < p.n_uop; u++)
        p.ideal_end[u] = ideal_start[u] + f->placed.small.uop[u].cycle;
    for (uint32_t u = 0; u < p.n_uop; u++)
        for (uint32_t v = 0; v < p.n_uop; v++)
            p.rank[u] += ideal_start[v] < ideal_start[u] || (ideal_start[v] == ideal_start[u] && v < u);
    for (uint32_t c = 0; c < p.n_core; c++)
        next_turn(&p, c, 0);
    for (uint32_t rank = 0; rank < p.n_uop; rank++)
        for (uint32_t u = 0; u < p.n_uop; u++)
            if (p.rank[u] == rank)
                walk(&p, u);
}

/* ---- the second simulation ---- */

static bool is_ready(const struct uop_plain_steps *steps, uint32_t step, const bool *done)
{
    for (uint32_t i = 0; i < steps->n; i++)
        if (has(steps->step[step].wait, i) && !done[i])
            return false;
    return true;
}

void uop_plain_times(const struct uop_fed *f, const struct uop_plain_steps *steps, uint64_t *start,
                     uint64_t *finish)
{
    bool begun[UOP_FED_STEP_MAX] = {false}, done[UOP_FED_STEP_MAX] = {false};
    uint32_t n_done = 0;
    int served = NO;
    for (uint64_t cycle = 0; n_done < steps->n; cycle++) {
        for (bool more = true; more;) {
            more = false;
            for (uint32_t i = 0; i < steps->n; i++) {
                const struct uop_plain_step *s = &steps->step[i];
                if (begun[i] && !done[i] && finish[i] == cycle) {
                    done[i] = more = true;
                    n_done++;
                    served = served == (int)i ? NO : served;
                }
                if (!begun[i] && (s->kind == UOP_RUN || s->kind == UOP_SEND) && is_ready(steps, i, done)) {
                    begun[i] = more = true;
                    start[i] = cycle;
                    finish[i] = cycle + (s->kind == UOP_RUN ? f->placed.small.uop[s->item].cycle : 0);
                }
            }
        }
        for (uint32_t i = 0; i < steps->n && served == NO; i++) {
            const enum uop_step_kind kind = steps->step[i].kind;
            const uint64_t rate = f->placed.machine.dram.byte;
            if (begun[i] || kind == UOP_RUN || kind == UOP_SEND || !is_ready(steps, i, done))
                continue;
            begun[i] = true;
            served = (int)i;
            start[i] = cycle;
            finish[i] = cycle + (f->word[steps->step[i].item] + rate - 1) / rate;
        }
    }
}
