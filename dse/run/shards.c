/* Deals the points in order with one counter per class; only the leftovers need a heap of loads. */
#include "dse/run/shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dse/run/search_time_prior.h"

/* Classes of equal cost are one group. */
struct group {
    double second;
    uint64_t n_point;
    uint64_t seen;     /* points so far */
    uint32_t at;       /* place in the block, counted on */
    uint32_t mine;     /* place of this shard in the present block */
    uint64_t n_full;   /* points in whole blocks */
    uint64_t leftover; /* which of the points behind them is this shard's; UINT64_MAX: none */
};

struct deal {
    uint32_t shard, n_shard; /* shard from 0 */
    uint32_t n_class, n_group;
    uint32_t *group_of;  /* (n_class) */
    struct group *group; /* (n_class), n_group of them, dear ones first */
};

/* One step of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA
 * 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The place of this shard in a block: the shards lie in a circle that is turned anew for each block. */
static uint32_t place_in_block(const struct deal *deal, uint32_t g, uint64_t block)
{
    uint64_t turn = mix(mix(g + 1) ^ block) % deal->n_shard;
    return (uint32_t)((deal->shard + turn) % deal->n_shard);
}

/* ---------------------------------------- groups */

struct sorted_class {
    double second;
    uint32_t class;
};

static int by_cost(const void *a, const void *b)
{
    const struct sorted_class *x = a, *y = b;
    if (x->second > y->second || x->second < y->second)
        return x->second > y->second ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

static bool make_groups(struct deal *deal, const double *second)
{
    struct sorted_class *sorted = malloc(deal->n_class * sizeof *sorted);
    deal->group_of = calloc(deal->n_class, sizeof *deal->group_of);
    deal->group = calloc(deal->n_class, sizeof *deal->group);
    bool good = sorted && deal->group_of && deal->group;
    for (uint32_t c = 0; good && c < deal->n_class; c++)
        sorted[c] = (struct sorted_class){second[c], c};
    if (good)
        qsort(sorted, deal->n_class, sizeof *sorted, by_cost);
    for (uint32_t i = 0; good && i < deal->n_class; i++) {
        if (i == 0 || sorted[i].second < sorted[i - 1].second)
            deal->group[deal->n_group++].second = sorted[i].second;
        deal->group_of[sorted[i].class] = deal->n_group - 1;
    }
    free(sorted);
    return good;
}

/* ---------------------------------------- leftovers */

/* A shard with what it got of the leftovers. */
struct load {
    double second;
    uint32_t n_point;
    uint32_t shard;
};

/* Least loaded first; by number between equals. */
static bool is_less(const struct load *a, const struct load *b)
{
    if (a->second < b->second || a->second > b->second)
        return a->second < b->second;
    return a->n_point != b->n_point ? a->n_point < b->n_point : a->shard < b->shard;
}

/* Restore the heap of n below `at`. */
static void sift_down(struct load *heap, uint32_t n, uint32_t at)
{
    struct load moved = heap[at];
    for (uint32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && is_less(&heap[child + 1], &heap[child]))
            child++;
        if (!is_less(&heap[child], &moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* The `n_left` points behind the whole blocks of group g, one each to the least loaded shards. These are
 * taken from the heap's top to behind its end, and come back with their new loads. */
static void deal_leftover(struct deal *deal, struct group *group, struct load *heap, uint32_t n_left)
{
    uint32_t n = deal->n_shard;
    for (uint32_t i = 0; i < n_left; i++) {
        struct load least = heap[0];
        if (least.shard == deal->shard)
            group->leftover = i;
        least.second += group->second;
        least.n_point++;
        heap[0] = heap[--n];
        heap[n] = least;
        if (n > 0)
            sift_down(heap, n, 0);
    }
    for (uint32_t at = deal->n_shard / 2; at-- > 0 && n_left > 0;)
        sift_down(heap, deal->n_shard, at);
}

static bool deal_leftovers(struct deal *deal)
{
    struct load *heap = calloc(deal->n_shard, sizeof *heap);
    if (!heap)
        return false;
    for (uint32_t s = 0; s < deal->n_shard; s++)
        heap[s].shard = s; /* all equal: any order by number is a heap */
    for (uint32_t g = 0; g < deal->n_group; g++) {
        struct group *group = &deal->group[g];
        uint32_t n_left = (uint32_t)(group->n_point % deal->n_shard);
        group->n_full = group->n_point - n_left;
        group->leftover = UINT64_MAX;
        deal_leftover(deal, group, heap, n_left);
    }
    free(heap);
    return true;
}

/* ---------------------------------------- the points */

/* Does the next point of group g go to this shard? */
static bool take(const struct deal *deal, uint32_t g)
{
    struct group *group = &deal->group[g];
    uint64_t number = group->seen++;
    if (number >= group->n_full)
        return number - group->n_full == group->leftover;
    if (group->at == 0)
        group->mine = place_in_block(deal, g, number / deal->n_shard);
    bool mine = group->at == group->mine;
    group->at = group->at + 1 == deal->n_shard ? 0 : group->at + 1;
    return mine;
}

static bool deal_points(struct deal *deal, const double *second, uint32_t (*class_of)(const void *, size_t),
                        const void *user, struct bits *mine)
{
    if (!make_groups(deal, second))
        return false;
    for (size_t p = 0; p < mine->n; p++)
        deal->group[deal->group_of[class_of(user, p)]].n_point++;
    if (!deal_leftovers(deal))
        return false;
    for (size_t p = 0; p < mine->n; p++)
        if (take(deal, deal->group_of[class_of(user, p)]))
            bits_set(mine, p);
    return true;
}

enum dse_status shards_deal(uint32_t n_class, const double *second,
                            uint32_t (*class_of)(const void *user, size_t p), const void *user,
                            uint32_t shard, uint32_t n_shard, struct bits *mine, struct dse_error *err)
{
    if (n_shard == 0 || shard == 0 || shard > n_shard)
        return dse_fail(err, DSE_BAD_USAGE, "shard %u of %u: the first is 1, the last is %u", shard, n_shard,
                        n_shard);
    struct deal deal = {.shard = shard - 1, .n_shard = n_shard, .n_class = n_class};
    bool good = deal_points(&deal, second, class_of, user, mine);
    free(deal.group_of);
    free(deal.group);
    return good ? DSE_OK
                : dse_fail(err, DSE_NO_MEMORY, "out of memory for the shards of %zu points", mine->n);
}

struct sweep_classes {
    const struct sweep *sweep;
    struct time_prior prior;
};

static uint32_t class_of_point(const void *user, size_t p)
{
    const struct sweep_classes *classes = user;
    return time_prior_class_of_cell(&classes->prior,
                                    classes->sweep->cell ? classes->sweep->cell[p] : (uint32_t)p);
}

enum dse_status shards_mark(const struct sweep *sweep, uint32_t shard, uint32_t n_shard, struct bits *mine,
                            struct dse_error *err)
{
    struct sweep_classes classes = {.sweep = sweep};
    enum dse_status status = time_prior_init(&classes.prior, sweep, err);
    double *second = status == DSE_OK ? malloc(classes.prior.n_class * sizeof *second) : NULL;
    if (status == DSE_OK && !second)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for %u cost classes", classes.prior.n_class);
    for (uint32_t c = 0; second && c < classes.prior.n_class; c++)
        second[c] = classes.prior.class[c].point_s;
    if (status == DSE_OK)
        status =
            shards_deal(classes.prior.n_class, second, class_of_point, &classes, shard, n_shard, mine, err);
    free(second);
    time_prior_free(&classes.prior);
    return status;
}
