/* Rows that exclude no optimum but make the solve faster: hulls of the spatial knapsacks, and one of each
 * pair of mirror images. */
#include <math.h>
#include <string.h>

#include "engines/cosa/formulation.h"

enum { PATTERN_MAX = 40, PATTERN_PRIME_MAX = 12 };

/* The maximal ways to fill a fan-out with primes. */
struct pattern_list {
    uint32_t n_prime;
    uint32_t prime[PATTERN_PRIME_MAX], most[PATTERN_PRIME_MAX]; /* most: that the problem has */
    uint32_t n;
    uint8_t exponent[PATTERN_MAX][PATTERN_PRIME_MAX];
    bool too_many;
};

static void list_primes(const struct cosa_model *model, uint32_t l, int axis, struct pattern_list *list)
{
    for (uint32_t k = 0; k < model->n_kind; k++) {
        if (model->count[k][l][axis] == COSA_NONE)
            continue;
        uint32_t i = 0;
        while (i < list->n_prime && list->prime[i] != model->kind[k].prime)
            i++;
        if (i == PATTERN_PRIME_MAX) {
            list->too_many = true;
            return;
        }
        if (i == list->n_prime) {
            list->prime[i] = model->kind[k].prime;
            list->n_prime++;
        }
        list->most[i] += model->highest[k][l][axis];
    }
}

/* Choose the exponent of prime i; a full pattern counts when no prime can be added to it. */
static void list_patterns(struct pattern_list *list, uint32_t i, uint64_t room, uint8_t *exponent)
{
    if (i == list->n_prime) {
        for (uint32_t j = 0; j < list->n_prime; j++)
            if (exponent[j] < list->most[j] && list->prime[j] <= room)
                return;
        if (list->n == PATTERN_MAX) {
            list->too_many = true;
            return;
        }
        memcpy(list->exponent[list->n++], exponent, list->n_prime);
        return;
    }
    for (exponent[i] = 0;; exponent[i]++) {
        list_patterns(list, i + 1, room, exponent);
        if (exponent[i] == list->most[i] || list->prime[i] > room || list->too_many)
            break;
        room /= list->prime[i];
    }
    exponent[i] = 0;
}

/* Of each prime at most as many as the chosen pattern has. */
static void add_patterns(struct cosa_model *model, uint32_t l, int axis, const struct pattern_list *list)
{
    uint32_t variable[PATTERN_MAX];
    for (uint32_t j = 0; j < list->n && list->n > 1; j++) {
        variable[j] = milp_add_variable(model->milp, MILP_INTEGER, 0, 1, 0, "pattern");
        cosa_put(model, variable[j], 1);
    }
    if (list->n > 1)
        (void)cosa_add_row(model, 1, 1, "one pattern");
    for (uint32_t i = 0; i < list->n_prime; i++) {
        for (uint32_t k = 0; k < model->n_kind; k++)
            if (model->kind[k].prime == list->prime[i])
                cosa_put(model, model->count[k][l][axis], 1);
        double highest = list->n == 1 ? list->exponent[0][i] : 0;
        for (uint32_t j = 0; j < list->n && list->n > 1; j++)
            cosa_put(model, variable[j], -(double)list->exponent[j][i]);
        (void)cosa_add_row(model, -INFINITY, highest, "spatial pattern");
    }
}

void cosa_add_pattern_rows(struct cosa_model *model)
{
    for (uint32_t l = 0; l < model->shape->n_level; l++) {
        uint64_t fanout[2];
        architecture_fanout(model->shape->arch, l, &fanout[0], &fanout[1]);
        for (int axis = COSA_X; axis <= COSA_Y; axis++) {
            struct pattern_list list = {0};
            uint8_t exponent[PATTERN_PRIME_MAX] = {0};
            list_primes(model, l, axis, &list);
            if (list.n_prime == 0 || list.too_many)
                continue;
            list_patterns(&list, 0, fanout[axis - COSA_X], exponent);
            if (!list.too_many)
                add_patterns(model, l, axis, &list);
        }
    }
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
