/* One level's temporal loops, plainly. Which orders are looked at: the innermost loop leaves the events of
 * some tensors open, which it does not move. To move all loops inwards that leave the same ones alone helps
 * them and hurts nobody, as the others have closed; the next loop leaves fewer open, and so on. (In a
 * convolution every dimension leaves one tensor alone at most.) Only the innermost loop can slide a window,
 * so it is tried as each of the window's dimensions. A choice that no best order makes does no harm: its
 * price is that of some order, or more. */
#include "engines/optimal/optimal_limits.h"
#include "engines/optimal/optimal_sweep.h"

static bool is_open(uint32_t mask, uint32_t e)
{
    return mask >> e & 1u;
}

uint32_t optimal_mask_open(const struct optimal_model *model, uint32_t l, uint32_t mask)
{
    uint32_t direct = model->window >= 0 ? model->opens[l] & model->of_tensor[model->window] : 0;
    return mask | model->opens[l] | direct << OPTIMAL_DIRECT;
}

/* What the events of level l's tile `node` cost that no loop leaves open, as they have no temporal reuse. */
static double whole_price(const struct optimal_model *model, const struct optimal_spread *spread,
                          struct optimal_price price, uint32_t l, uint32_t node)
{
    double sum = 0;
    for (uint32_t e = 0; model->whole && e < model->n_event; e++)
        if (is_open(model->whole, e) && model->event[e].from == l)
            sum += optimal_close_price(model, spread, price, e, l + 1, node, true);
    return sum;
}

double optimal_rest_price(const struct optimal_model *model, const struct optimal_spread *spread,
                          struct optimal_price price, uint32_t mask)
{
    double sum = 0;
    for (uint32_t e = 0; e < model->n_event; e++)
        if (is_open(mask, e))
            sum += optimal_close_price(model, spread, price, e, model->arch->n_level - 1,
                                       spread->tiles->n - 1, true);
    return sum;
}

/* The events of `mask` close at `node`. */
static double close_all(const struct optimal_model *model, const struct optimal_spread *spread,
                        struct optimal_price price, uint32_t l, uint32_t mask, uint32_t node)
{
    double sum = 0;
    for (uint32_t left = mask & 0xffffu; left; left &= left - 1) {
        const uint32_t e = (uint32_t)__builtin_ctz(left);
        const bool direct = mask >> (OPTIMAL_DIRECT + e) & 1u;
        if (spread->close && (int)model->event[e].tensor != model->window)
            sum += spread->close[e][node];
        else if (spread->close && spread->half)
            sum += !direct && spread->match[l][node] ? spread->half[e][node] : spread->close[e][node];
        else
            sum += optimal_close_price(model, spread, price, e, l, node, direct);
    }
    return sum;
}

/* One more choice, or a lower price of one that is there; returns how many there are. */
static uint32_t add_choice(struct optimal_choice *choice, uint32_t n, uint32_t mask, double price)
{
    uint32_t i = 0;
    while (i < n && choice[i].mask != mask)
        i++;
    if (i == n)
        choice[n++] = (struct optimal_choice){mask, price};
    if (price < choice[i].price)
        choice[i].price = price;
    return n;
}

/* A run of loops that leave the events `open` alone, from `node` on: they stay open to the end of the level
 * if there are no others, and else some close after it, or all. `spent` is what has been paid. */
static uint32_t add_run(const struct optimal_model *model, const struct optimal_spread *spread,
                        struct optimal_price price, uint32_t l, uint32_t open, uint32_t node, uint32_t to,
                        double spent, struct optimal_choice *choice, uint32_t n)
{
    const struct lattice *tiles = spread->tiles;
    const uint32_t end = lattice_mix(tiles, node, to, optimal_dims_around(model, open));
    if (end == to)
        n = add_choice(choice, n, open, spent);
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        const uint32_t left = open & model->stays[d];
        bool next = left && left != open && tiles->extent[d][end] != tiles->extent[d][to];
        for (uint32_t k = 0; k < d && next; k++)
            next = (open & model->stays[k]) != left || tiles->extent[k][end] == tiles->extent[k][to];
        if (next)
            n = add_run(model, spread, price, l, left, end, to,
                        spent + close_all(model, spread, price, l, open & ~left, end), choice, n);
    }
    return add_choice(choice, n, 0, spent + close_all(model, spread, price, l, open, end));
}

/* Event e when a loop of p slides its window from `from` to `end`. */
static double slide_price(const struct optimal_model *model, const struct optimal_spread *spread,
                          struct optimal_price price, uint32_t e, uint32_t l, uint32_t from, uint32_t end,
                          uint32_t p, bool slides_on)
{
    return optimal_event_price(model, spread, price, e, l, from,
                               optimal_slide_words(model, spread, e, l, from, p, false) +
                                   (slides_on ? 0 : optimal_slide_words(model, spread, e, l, end, p, true)));
}

/* The innermost loop slides the window along p. */
static uint32_t add_slide(const struct optimal_model *model, const struct optimal_spread *spread,
                          struct optimal_price price, uint32_t l, uint32_t mask, uint32_t from, uint32_t to,
                          uint32_t p, struct optimal_choice *choice, uint32_t n)
{
    const uint32_t direct = mask >> OPTIMAL_DIRECT, open = mask & model->stays[p];
    const uint32_t end = lattice_mix(spread->tiles, from, to, 1u << p);
    const uint32_t times = spread->tiles->extent[p][to] / spread->tiles->extent[p][from];
    const uint32_t rank = 1u << p | 1u << model->partner[p] | ~model->relevant[model->window];
    double spent = close_all(model, spread, price, l, mask & 0xffffu & ~open & ~direct, from);
    /* a further loop of p may slide on if this one is of bound 2 and no loop of the level breaks it */
    const bool slides_on = optimal_may_slide_on(model, spread, l, from, p) ||
                           (times == 2 && optimal_may_slide_twice(model, spread, l, from, p) &&
                            lattice_mix(spread->tiles, from, to, rank) == to);
    for (uint32_t e = 0; e < model->n_event; e++)
        if (is_open(direct, e))
            spent += slide_price(model, spread, price, e, l, from, end, p, slides_on);
    return open ? add_run(model, spread, price, l, open, end, to, spent, choice, n)
                : add_choice(choice, n, 0, spent);
}

/* Loops from `from` to `to` that may have any order. */
static uint32_t any_order(const struct optimal_model *model, const struct optimal_spread *spread,
                          struct optimal_price price, uint32_t l, uint32_t mask, uint32_t from, uint32_t to,
                          struct optimal_choice *choice)
{
    const struct lattice *tiles = spread->tiles;
    if (from == to)
        return add_choice(choice, 0, mask, 0);
    uint32_t n = add_choice(choice, 0, 0, close_all(model, spread, price, l, mask, from));
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        const uint32_t open = mask & model->stays[d];
        bool first = open && tiles->extent[d][from] != tiles->extent[d][to];
        for (uint32_t k = 0; k < d && first; k++)
            first = (mask & model->stays[k]) != open || tiles->extent[k][from] == tiles->extent[k][to];
        if (first)
            n = add_run(model, spread, price, l, open, from, to,
                        close_all(model, spread, price, l, mask & ~(open | open << OPTIMAL_DIRECT), from),
                        choice, n);
    }
    for (uint32_t p = 0; mask >> OPTIMAL_DIRECT && p < model->problem->n_dim; p++)
        if (model->partner[p] < model->problem->n_dim && tiles->extent[p][from] < tiles->extent[p][to])
            n = add_slide(model, spread, price, l, mask, from, to, p, choice, n);
    return n;
}

/* The next loop of an order, of dimension p: `*node` and `*mask` go on; the level's loops lead from `from` to
 * `to`. */
static double pass_loop(const struct optimal_model *model, const struct optimal_spread *spread,
                        struct optimal_price price, uint32_t l, uint32_t from, uint32_t to, uint32_t p,
                        uint32_t *node, uint32_t *mask)
{
    const uint32_t end = lattice_mix(spread->tiles, *node, to, 1u << p);
    uint32_t closing = 0;
    double sum = 0;
    if (end == *node)
        return 0;
    if (*node == from && *mask >> OPTIMAL_DIRECT && model->partner[p] < model->problem->n_dim) {
        const uint32_t *tile = spread->tiles->extent[p];
        const uint32_t rank = 1u << p | 1u << model->partner[p] | ~model->relevant[model->window];
        const bool slides_on =
            optimal_may_slide_on(model, spread, l, from, p) ||
            (tile[end] == 2 * tile[from] && optimal_may_slide_twice(model, spread, l, from, p) &&
             lattice_mix(spread->tiles, from, to, rank) == to);
        for (uint32_t e = 0; e < model->n_event; e++) {
            if (!is_open(*mask >> OPTIMAL_DIRECT, e))
                continue;
            sum += slide_price(model, spread, price, e, l, from, end, p, slides_on);
            *mask &= ~(1u << e | 1u << (OPTIMAL_DIRECT + e));
        }
    }
    for (uint32_t e = 0; e < model->n_event; e++)
        if (is_open(*mask, e) && (model->relevant[model->event[e].tensor] >> p & 1u))
            closing |= 1u << e | 1u << (OPTIMAL_DIRECT + e);
    sum += close_all(model, spread, price, l, *mask & closing, *node);
    *mask &= 0xffffu & ~closing;
    *node = end;
    return sum;
}

uint32_t optimal_step(const struct optimal_model *model, const struct optimal_spread *spread,
                      struct optimal_price price, uint32_t l, uint32_t mask, uint32_t from, uint32_t to,
                      struct optimal_choice *choice)
{
    const uint8_t *order;
    const uint32_t n_first = optimal_first_loops(model, l, &order);
    uint32_t node = from;
    double spent = whole_price(model, spread, price, l, to);
    for (uint32_t i = 0; i < n_first; i++)
        spent += pass_loop(model, spread, price, l, from, to, order[i], &node, &mask);
    const uint32_t n = any_order(model, spread, price, l, mask, node, to, choice);
    for (uint32_t i = 0; i < n; i++)
        choice[i].price += spent;
    return n;
}

uint32_t optimal_order_price(const struct optimal_model *model, const struct optimal_spread *spread,
                             struct optimal_price price, uint32_t l, uint32_t mask, uint32_t from,
                             uint32_t to, const uint8_t *order, double *sum)
{
    uint32_t node = from;
    *sum = whole_price(model, spread, price, l, to);
    for (uint32_t i = 0; i < model->problem->n_dim; i++)
        *sum += pass_loop(model, spread, price, l, from, to, order[i], &node, &mask);
    return mask;
}
