/* Rows that exclude no optimum but make the solve faster: hulls of the knapsacks that meshes and tiles are,
 * and one of each pair of mirror images. */
#include <math.h>
#include <string.h>

#include "engines/cosa/formulation.h"

enum { PATTERN_MAX = 256, PATTERN_CLASS_MAX = 12, PATTERN_LOOK_MAX = 20000 };

/* A row that is a knapsack: each factor of kind k at the places takes charge[k] bits of the room; 0: none. */
struct knapsack {
    double charge[COSA_KIND_MAX];
    uint32_t first_level, last_level;
    enum cosa_axis first_axis, last_axis;
    double room;
};

/* The maximal ways to fill a knapsack, by classes of factors that take the same part of it. */
struct pattern_list {
    uint32_t n_class;
    double charge[PATTERN_CLASS_MAX];
    uint32_t most[PATTERN_CLASS_MAX]; /* that the problem has */
    uint32_t n, n_look;
    uint8_t exponent[PATTERN_MAX][PATTERN_CLASS_MAX];
    bool too_many;
};

/* Put the counts of kind k at the places of a knapsack; returns how many factors they hold at most. */
static uint32_t put_counts(struct cosa_model *model, const struct knapsack *sack, uint32_t k)
{
    uint32_t most = 0;
    for (uint32_t l = sack->first_level; l <= sack->last_level; l++)
        for (int axis = (int)sack->first_axis; axis <= (int)sack->last_axis; axis++) {
            cosa_put(model, model->count[k][l][axis], 1);
            most += model->highest[k][l][axis];
        }
    return most < model->kind[k].count ? most : model->kind[k].count;
}

static void list_classes(struct cosa_model *model, const struct knapsack *sack, struct pattern_list *list)
{
    for (uint32_t k = 0; k < model->n_kind; k++) {
        uint32_t i = 0, most = sack->charge[k] > 0 ? put_counts(model, sack, k) : 0;
        model->n_term = 0;
        while (i < list->n_class && list->charge[i] != sack->charge[k])
            i++;
        if (most == 0)
            continue;
        if (i == PATTERN_CLASS_MAX) {
            list->too_many = true;
            return;
        }
        list->n_class += i == list->n_class;
        list->charge[i] = sack->charge[k];
        list->most[i] += most;
    }
}

/* Choose the exponents from class i on; a full pattern counts when nothing can be added to it. */
static void list_patterns(struct pattern_list *list, uint32_t i, double room, uint8_t *exponent)
{
    if (i == list->n_class) {
        for (uint32_t j = 0; j < list->n_class; j++)
            if (exponent[j] < list->most[j] && list->charge[j] <= room)
                return;
        list->too_many = list->n == PATTERN_MAX;
        if (!list->too_many)
            memcpy(list->exponent[list->n++], exponent, list->n_class);
        return;
    }
    for (uint32_t n = 0; n <= list->most[i] && n * list->charge[i] <= room && !list->too_many; n++) {
        list->too_many = ++list->n_look > PATTERN_LOOK_MAX;
        exponent[i] = (uint8_t)n;
        list_patterns(list, i + 1, room - n * list->charge[i], exponent);
    }
}

/* Of each class at most as many as the chosen pattern has. */
static void add_patterns(struct cosa_model *model, const struct knapsack *sack,
                         const struct pattern_list *list)
{
    uint32_t variable[PATTERN_MAX];
    for (uint32_t j = 0; j < list->n && list->n > 1; j++) {
        variable[j] = milp_add_variable(model->milp, MILP_INTEGER, 0, 1, 0, "pattern");
        cosa_put(model, variable[j], 1);
    }
    if (list->n > 1)
        (void)cosa_add_row(model, 1, 1, "one pattern");
    for (uint32_t i = 0; i < list->n_class; i++) {
        for (uint32_t k = 0; k < model->n_kind; k++)
            if (sack->charge[k] == list->charge[i])
                (void)put_counts(model, sack, k);
        double highest = list->n == 1 ? list->exponent[0][i] : 0;
        for (uint32_t j = 0; j < list->n && list->n > 1; j++)
            cosa_put(model, variable[j], -(double)list->exponent[j][i]);
        (void)cosa_add_row(model, -INFINITY, highest, "pattern");
    }
}

/* The hull of the ways to fill a knapsack, where they are few. */
static void add_hull(struct cosa_model *model, const struct knapsack *sack)
{
    struct pattern_list list = {0};
    uint8_t exponent[PATTERN_CLASS_MAX];
    list_classes(model, sack, &list);
    if (list.n_class == 0 || list.too_many)
        return;
    list_patterns(&list, 0, sack->room, exponent);
    if (!list.too_many)
        add_patterns(model, sack, &list);
}

void cosa_add_pattern_rows(struct cosa_model *model)
{
    struct knapsack sack = {.room = 0};
    for (uint32_t k = 0; k < model->n_kind; k++)
        sack.charge[k] = model->kind[k].bits;
    for (uint32_t l = 0; l < model->shape->n_level; l++) {
        uint64_t fanout[2];
        architecture_fanout(model->shape->arch, l, &fanout[0], &fanout[1]);
        sack.first_level = sack.last_level = l;
        for (int axis = COSA_X; axis <= COSA_Y; axis++) {
            sack.first_axis = sack.last_axis = (enum cosa_axis)axis;
            sack.room = log2((double)fanout[axis - COSA_X]) + COSA_BITS_SLACK;
            add_hull(model, &sack);
        }
    }
    for (uint32_t i = 0; i < model->n_capacity; i++)
        cosa_add_tile_patterns(model, &model->capacity[i]);
}

void cosa_add_tile_patterns(struct cosa_model *model, const struct cosa_capacity *capacity)
{
    struct knapsack sack = {.last_level = capacity->level,
                            .last_axis = COSA_Y,
                            .room = milp_row_highest(model->milp, capacity->row)};
    for (uint32_t k = 0; k < model->n_kind; k++)
        sack.charge[k] =
            cosa_charge(model->shape, model->halo, capacity->level, capacity->tensor, &model->kind[k]);
    add_hull(model, &sack);
}

/* ---------------------------------------- symmetries */

static bool same_rank(const struct tensor_rank *a, const struct tensor_rank *b, const uint8_t *image)
{
    if (a->n_term != b->n_term)
        return false;
    uint32_t used = 0;
    for (uint32_t i = 0; i < a->n_term; i++) {
        uint32_t j = 0;
        while (j < b->n_term && ((used >> j & 1u) || b->term[j].dim != image[a->term[i].dim] ||
                                 b->term[j].coefficient != a->term[i].coefficient))
            j++;
        if (j == b->n_term)
            return false;
        used |= 1u << j;
    }
    return true;
}

/* Does renaming the dimensions by `image` leave every tensor as it is? */
static bool is_symmetry(const struct problem *problem, const uint8_t *image)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        uint32_t used = 0;
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            uint32_t q = 0;
            while (q < tensor->n_rank &&
                   ((used >> q & 1u) || !same_rank(&tensor->rank[r], &tensor->rank[q], image)))
                q++;
            if (q == tensor->n_rank)
                return false;
            used |= 1u << q;
        }
    }
    return true;
}

static void swap_images(uint8_t *image, uint32_t a, uint32_t b)
{
    uint8_t keep = image[a];
    image[a] = image[b];
    image[b] = keep;
}

/* Can the dimensions a and b be exchanged, alone or together with another pair (P and Q with R and S)?
 * `image` (n_dim) gets the exchange. */
static bool find_exchange(const struct problem *problem, uint32_t a, uint32_t b, uint8_t *image)
{
    uint32_t n = problem->n_dim;
    for (uint32_t d = 0; d < n; d++)
        image[d] = (uint8_t)d;
    swap_images(image, a, b);
    if (is_symmetry(problem, image))
        return true;
    for (uint32_t c = 0; c < n; c++)
        for (uint32_t d = c + 1; d < n; d++) {
            if (c == a || c == b || d == a || d == b || problem->bound[c] != problem->bound[d])
                continue;
            swap_images(image, c, d);
            if (is_symmetry(problem, image))
                return true;
            swap_images(image, c, d);
        }
    return false;
}

/* The factors of a lie at least as far out as those of b. */
static void order_positions(struct cosa_model *model, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < model->n_kind; k++) {
        if (model->kind[k].dim != a && model->kind[k].dim != b)
            continue;
        double sign = model->kind[k].dim == a ? 1 : -1;
        for (uint32_t l = 0; l < model->shape->n_level; l++)
            for (int axis = 0; axis < COSA_AXIS_COUNT; axis++)
                cosa_put(model, model->count[k][l][axis],
                         sign * model->kind[k].bits * (2 * l + (axis == COSA_TEMPORAL ? 1 : 0)));
    }
    (void)cosa_add_row(model, 0, INFINITY, "one of two mirror images");
}

/* On a square mesh X holds at least as much as Y. */
static void order_axes(struct cosa_model *model, uint32_t l)
{
    for (uint32_t k = 0; k < model->n_kind; k++) {
        cosa_put(model, model->count[k][l][COSA_X], model->kind[k].bits);
        cosa_put(model, model->count[k][l][COSA_Y], -model->kind[k].bits);
    }
    if (model->n_term > 0)
        (void)cosa_add_row(model, 0, INFINITY, "X before Y");
}

/* The user's constraints need not be symmetric: then nothing is added. */
void cosa_add_symmetry_rows(struct cosa_model *model)
{
    const struct problem *problem = model->shape->problem;
    if (model->shape->constraints)
        return;
    for (uint32_t l = 0; l < model->shape->n_level; l++) {
        uint64_t x, y;
        architecture_fanout(model->shape->arch, l, &x, &y);
        if (x == y && x > 1)
            order_axes(model, l);
    }
    /* One pair only: rows of two exchanges that share dimensions could exclude both images. */
    for (uint32_t a = 0; a < problem->n_dim; a++)
        for (uint32_t b = a + 1; b < problem->n_dim; b++) {
            uint8_t image[PROBLEM_DIM_MAX];
            if (problem->bound[a] < 2 || problem->bound[a] != problem->bound[b])
                continue;
            if (find_exchange(problem, a, b, image)) {
                order_positions(model, a, b);
                return;
            }
        }
}
