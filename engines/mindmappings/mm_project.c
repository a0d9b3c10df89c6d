/* The nearest member of a vector. Orders: sorted values are nearest (the rearrangement inequality). Shares
 * of banks: one bank after the other to where it helps most, which is exact for a sum of convex functions.
 * Factors hang together by the number of PEs: the least sum of distances for every product of spatial
 * factors, dimension by dimension. Where tiles must fit, everything hangs together: branch and bound over the
 * dimensions, the nearest factorisations first. */
#include <gsl/gsl_math.h>
#include <math.h>
#include <string.h>

#include "costmodel/model/bank_group.h"
#include "engines/mindmappings/mm_space_private.h"

enum { SPATIAL_MAX = MM_DIVISOR_MAX, INSIDE_MAX = 256 };

/* A factorisation and how far off it is. */
struct candidate {
    double distance;
    uint32_t index;
};

struct projection {
    const struct mm_space *space;
    const double *wanted_factor; /* (4, n_dim) */
    const double *wanted_place;  /* (3, n_dim) */
    const double *wanted_banks;  /* (2, n_tensor) */
    enum mm_distance distance;
    struct mm_mapping *mapping;
};

static double distance_to(const struct projection *p, uint32_t d, uint32_t index)
{
    const struct mm_factors *factors = &p->space->factors[d];
    const uint32_t n_dim = p->space->machine->algorithm->n_dim;
    double sum = 0;
    for (uint32_t b = 0; b < MM_BLOCK_COUNT; b++) {
        const double is =
            p->distance == MM_DISTANCE_LOG2 ? factors->log2[index][b] : (double)factors->factor[index][b];
        sum += gsl_pow_2(is - p->wanted_factor[b * n_dim + d]);
    }
    return sum;
}

static void set_factors(const struct projection *p, uint32_t d, uint32_t index)
{
    for (int b = 0; b < MM_BLOCK_COUNT; b++)
        p->mapping->factor[b][d] = p->space->factors[d].factor[index][b];
}

/* ---------------------------------------- orders and banks */

static void project_order(const struct projection *p, uint32_t nest)
{
    const uint32_t n_dim = p->space->machine->algorithm->n_dim;
    const double *wanted = p->wanted_place + nest * n_dim;
    for (uint32_t d = 0; d < n_dim; d++) {
        uint32_t place = 0; /* how many come before; of equal ones the earlier dimension */
        for (uint32_t k = 0; k < n_dim; k++)
            place += wanted[k] < wanted[d] || (k < d && !(wanted[k] > wanted[d]));
        p->mapping->place[nest][d] = (uint8_t)place;
    }
}

/* The share of a memory's banks, at least `least` (n_tensor) each, that is nearest to `wanted` (n_tensor);
 * the least add up to no more than there are. Returns the sum of squared differences. */
static double nearest_banks(const struct mm_space *space, enum mm_memory memory, const uint32_t *least,
                            const double *wanted, uint32_t *banks)
{
    const uint32_t n = space->machine->algorithm->n_tensor;
    uint32_t left = space->machine->banks[memory];
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        banks[i] = least[i];
        left -= least[i];
    }
    for (; left > 0; left--) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < n; i++) /* another bank takes 2 (wanted - banks) - 1 off the sum */
            if (wanted[i] - banks[i] > wanted[best] - banks[best])
                best = i;
        banks[best]++;
    }
    for (uint32_t i = 0; i < n; i++)
        sum += gsl_pow_2(wanted[i] - banks[i]);
    return sum;
}

static void project_banks(const struct projection *p)
{
    static const uint32_t one[MM_TENSOR_MAX] = {1, 1, 1, 1};
    for (int m = 0; m < MM_MEMORY_COUNT; m++)
        (void)nearest_banks(p->space, (enum mm_memory)m, one,
                            p->wanted_banks + (uint32_t)m * p->space->machine->algorithm->n_tensor,
                            p->mapping->banks[m]);
}

/* ---------------------------------------- factors without tiles */

/* The nearest factorisation of a dimension for each of its spatial factors. */
struct spatial_choice {
    uint32_t n;
    uint32_t spatial[SPATIAL_MAX];
    struct candidate nearest[SPATIAL_MAX];
    uint32_t best; /* the nearest of all */
};

static void choose_spatial(const struct projection *p, uint32_t d, struct spatial_choice *choice)
{
    const struct mm_factors *factors = &p->space->factors[d];
    choice->n = choice->best = 0;
    for (uint32_t i = 0; i < factors->n; i++) {
        const uint32_t spatial = factors->factor[i][MM_SPATIAL];
        uint32_t k = 0;
        if (spatial > p->space->machine->n_pe)
            continue;
        const struct candidate is = {distance_to(p, d, i), i};
        while (k < choice->n && choice->spatial[k] != spatial)
            k++;
        if (k == choice->n) {
            choice->spatial[choice->n] = spatial;
            choice->nearest[choice->n++] = is;
        } else if (is.distance < choice->nearest[k].distance) {
            choice->nearest[k] = is;
        }
        if (choice->nearest[k].distance < choice->nearest[choice->best].distance)
            choice->best = k;
    }
}

/* The least distance with this number of PEs for the dimensions up to one, and how it came about. */
struct reached {
    double distance; /* INFINITY: not at all */
    uint16_t before; /* PEs of the dimensions before */
    uint16_t choice;
};

static void extend(const struct spatial_choice *choice, uint32_t n_pe, const struct reached *from,
                   struct reached *to)
{
    for (uint32_t pe = 0; pe <= n_pe; pe++)
        to[pe].distance = INFINITY;
    for (uint32_t pe = 1; pe <= n_pe; pe++)
        for (uint32_t k = 0; from[pe].distance < INFINITY && k < choice->n; k++) {
            const uint32_t product = pe * choice->spatial[k];
            const double distance = from[pe].distance + choice->nearest[k].distance;
            if (product <= n_pe && distance < to[product].distance)
                to[product] = (struct reached){distance, (uint16_t)pe, (uint16_t)k};
        }
}

/* Where the nearest of each dimension need more PEs than there are. */
static void share_pes(const struct projection *p, const struct spatial_choice *choice)
{
    const uint32_t n_dim = p->space->machine->algorithm->n_dim, n_pe = p->space->machine->n_pe;
    struct reached at[MM_DIM_MAX + 1][MM_PE_MAX + 1];
    uint32_t pe = 1;
    for (uint32_t i = 0; i <= n_pe; i++)
        at[0][i].distance = i == 1 ? 0 : INFINITY;
    for (uint32_t d = 0; d < n_dim; d++)
        extend(&choice[d], n_pe, at[d], at[d + 1]);
    for (uint32_t i = 1; i <= n_pe; i++)
        if (at[n_dim][i].distance < at[n_dim][pe].distance)
            pe = i;
    for (uint32_t d = n_dim; d-- > 0;) {
        const struct reached *end = &at[d + 1][pe];
        set_factors(p, d, choice[d].nearest[end->choice].index);
        pe = end->before;
    }
}

static void project_factors(const struct projection *p)
{
    const uint32_t n_dim = p->space->machine->algorithm->n_dim;
    struct spatial_choice choice[MM_DIM_MAX];
    double pes = 1;
    for (uint32_t d = 0; d < n_dim; d++) {
        choose_spatial(p, d, &choice[d]);
        pes *= choice[d].spatial[choice[d].best];
        set_factors(p, d, choice[d].nearest[choice[d].best].index);
    }
    if (pes > p->space->machine->n_pe)
        share_pes(p, choice);
}

/* ---------------------------------------- factors, tiles and banks together */

/* A factorisation, and how far it goes inside: private factor, with the spatial one, with the shared one. */
struct inside {
    double distance;
    uint32_t index, extent[3], spatial;
};

/* No other needs less room anywhere and is nearer: the only ones that can be part of the nearest member. */
struct inside_list {
    uint32_t n;
    struct inside item[INSIDE_MAX]; /* (n) the nearest first */
};

struct branching {
    const struct projection *p;
    struct inside_list list[MM_DIM_MAX];
    double least_after[MM_DIM_MAX + 1]; /* of the dimensions from d on */
    double best;
    uint32_t steps;
    struct mm_mapping now; /* dimensions not yet reached stay at the DRAM, where they take no room */
};

static bool is_better(const struct inside *a, const struct inside *b)
{
    return a->distance <= b->distance && a->spatial <= b->spatial && a->extent[0] <= b->extent[0] &&
           a->extent[1] <= b->extent[1] && a->extent[2] <= b->extent[2];
}

/* Make room in a full list: the farthest gives way, unless it is `home`, all loops at the DRAM. */
static void drop_farthest(struct inside_list *list, uint32_t home)
{
    const uint32_t last = list->n - 1;
    if (list->item[last].index == home)
        list->item[last - 1] = list->item[last];
    list->n--;
}

/* Put an item in its place, and those out that it makes needless. */
static void add_inside(struct inside_list *list, const struct inside *item, uint32_t home)
{
    uint32_t n = 0, at;
    for (uint32_t i = 0; i < list->n; i++)
        if (is_better(&list->item[i], item))
            return;
    for (uint32_t i = 0; i < list->n; i++)
        if (!is_better(item, &list->item[i]))
            list->item[n++] = list->item[i];
    list->n = n;
    if (n == INSIDE_MAX)
        drop_farthest(list, home);
    for (at = list->n++; at > 0 && list->item[at - 1].distance > item->distance; at--)
        list->item[at] = list->item[at - 1];
    list->item[at] = *item;
}

/* Those of dimension d. The last of all factorisations has everything at the DRAM. */
static void list_inside(const struct projection *p, uint32_t d, struct inside_list *list)
{
    const struct mm_factors *factors = &p->space->factors[d];
    list->n = 0;
    for (uint32_t i = factors->n; i-- > 0;) {
        const uint32_t *f = factors->factor[i];
        const struct inside item = {
            distance_to(p, d, i),
            i,
            {f[MM_PRIVATE], f[MM_PRIVATE] * f[MM_SPATIAL], f[MM_PRIVATE] * f[MM_SPATIAL] * f[MM_SHARED]},
            f[MM_SPATIAL]};
        if (item.spatial <= p->space->machine->n_pe)
            add_inside(list, &item, factors->n - 1);
    }
}

/* The distance of the best share of banks that holds the tiles so far; INFINITY when none does. */
static double bank_distance(struct branching *b)
{
    const struct mm_space *space = b->p->space;
    const struct mm_machine *machine = space->machine;
    uint64_t word[MM_MEMORY_COUNT][MM_TENSOR_MAX];
    double sum = 0;
    mm_space_tiles(space, b->now.factor, word);
    for (uint32_t m = 0; m < MM_MEMORY_COUNT; m++) {
        uint32_t least[MM_TENSOR_MAX];
        uint64_t all = 0;
        for (uint32_t i = 0; i < machine->algorithm->n_tensor; i++) {
            const uint64_t need = bank_group_need(word[m][i], machine->bank_word[m][i]);
            all += need;
            least[i] = need <= machine->banks[m] ? (uint32_t)need : 0;
        }
        if (all > machine->banks[m])
            return INFINITY;
        sum += nearest_banks(space, (enum mm_memory)m, least,
                             b->p->wanted_banks + m * machine->algorithm->n_tensor, b->now.banks[m]);
    }
    return sum;
}

static void put(struct branching *b, uint32_t d, const uint32_t *factor)
{
    for (int k = 0; k < MM_BLOCK_COUNT; k++)
        b->now.factor[k][d] = factor[k];
}

static void branch(struct branching *b, uint32_t d, double before, uint32_t pes)
{
    const struct mm_space *space = b->p->space;
    for (uint32_t i = 0; i < b->list[d].n && (b->steps < MM_PROJECT_STEPS || isinf(b->best)); i++) {
        const struct inside *to = &b->list[d].item[i];
        const double distance = before + to->distance;
        if (distance + b->least_after[d + 1] >= b->best)
            break;
        b->steps++;
        if ((uint64_t)pes * to->spatial > space->machine->n_pe)
            continue;
        put(b, d, space->factors[d].factor[to->index]);
        const double banks = bank_distance(b);
        if (distance + b->least_after[d + 1] + banks >= b->best)
            continue;
        if (d + 1 < space->machine->algorithm->n_dim) {
            branch(b, d + 1, distance, pes * to->spatial);
            continue;
        }
        b->best = distance + banks;
        memcpy(b->p->mapping->factor, b->now.factor, sizeof b->now.factor);
        memcpy(b->p->mapping->banks, b->now.banks, sizeof b->now.banks);
    }
    put(b, d, (const uint32_t[MM_BLOCK_COUNT]){space->size[d], 1, 1, 1});
}

static void project_together(const struct projection *p)
{
    struct branching b;
    b.p = p;
    b.best = INFINITY;
    b.steps = 0;
    b.least_after[p->space->machine->algorithm->n_dim] = 0;
    for (uint32_t d = p->space->machine->algorithm->n_dim; d-- > 0;) {
        list_inside(p, d, &b.list[d]);
        b.least_after[d] = b.least_after[d + 1] + b.list[d].item[0].distance;
        put(&b, d, (const uint32_t[MM_BLOCK_COUNT]){p->space->size[d], 1, 1, 1});
    }
    branch(&b, 0, 0, 1);
}

void mm_space_project(const struct mm_space *space, const double *vector, enum mm_distance distance,
                      struct mm_mapping *mapping)
{
    const struct mm_algorithm *algorithm = space->machine->algorithm;
    struct projection p = {.space = space, .distance = distance, .mapping = mapping};
    p.wanted_factor = vector + algorithm->n_dim;
    p.wanted_place = p.wanted_factor + MM_BLOCK_COUNT * algorithm->n_dim;
    p.wanted_banks = p.wanted_place + MM_NEST_COUNT * algorithm->n_dim;
    for (uint32_t n = 0; n < MM_NEST_COUNT; n++)
        project_order(&p, n);
    if (space->mode == MM_MUSTFIT) {
        project_together(&p);
        return;
    }
    project_banks(&p);
    project_factors(&p);
}
