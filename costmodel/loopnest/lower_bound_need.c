/* Counts, from the projections alone, how many words of a tensor any mapping must touch and how many
 * iterations can share one. */
#include "costmodel/loopnest/lower_bound_need.h"

static bool rank_has(const struct tensor_rank *rank, uint32_t dim)
{
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (rank->term[i].dim == dim)
            return true;
    return false;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* How many values a*i + b*j takes, i < n, j < m: pairs (i, j) and (i + b', j - a') collide, with a' =
 * a/gcd(a,b), b' alike, so the values are the pairs less those with a predecessor. */
static uint64_t two_term_values(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
    uint64_t g = greatest_common_divisor(a, b);
    uint64_t step_i = b / g, step_j = a / g;
    return n * m - (n > step_i && m > step_j ? (n - step_i) * (m - step_j) : 0);
}

/* At least this many coordinates of a rank are touched; exact for one and two terms. Each further term of
 * length n adds at least n - 1 (|A + B| >= |A| + |B| - 1 for sets of integers). A dimension that comes twice
 * is left out. */
static uint64_t rank_values(const struct problem *problem, const struct tensor_rank *rank)
{
    uint64_t values = 1;
    uint32_t n_used = 0;
    for (uint32_t i = 0; i < rank->n_term; i++) {
        bool twice = false;
        for (uint32_t k = 0; k < rank->n_term; k++)
            twice = twice || (k != i && rank->term[k].dim == rank->term[i].dim);
        uint64_t n = problem->bound[rank->term[i].dim];
        if (twice)
            return n; /* some dimension alone moves the rank n times */
        if (n == 1)
            continue;
        values = n_used++ == 0 ? n : values + n - 1;
    }
    if (n_used != 2)
        return values;
    const struct projection_term *pair[2];
    uint32_t n_pair = 0;
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (problem->bound[rank->term[i].dim] > 1)
            pair[n_pair++] = &rank->term[i];
    return two_term_values(pair[0]->coefficient, problem->bound[pair[0]->dim], pair[1]->coefficient,
                           problem->bound[pair[1]->dim]);
}

/* The longest dimension of a rank. */
static uint32_t rank_anchor(const struct problem *problem, const struct tensor_rank *rank)
{
    uint32_t best = rank->term[0].dim;
    for (uint32_t i = 1; i < rank->n_term; i++)
        if (problem->bound[rank->term[i].dim] > problem->bound[best])
            best = rank->term[i].dim;
    return best;
}

/* Ranks that share a dimension with an earlier counted rank are left out: the words seen through the others
 * alone are already that many. */
struct tensor_need bound_tensor_need(const struct problem *problem, uint32_t t)
{
    const struct tensor *tensor = &problem->tensor[t];
    struct tensor_need need = {
        problem_tensor_words(problem, t), 1, 1, (1u << problem->n_dim) - 1, problem_macs(problem), true};
    bool counted[PROBLEM_DIM_MAX] = {false};
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        bool shares = false;
        for (uint32_t d = 0; d < problem->n_dim; d++)
            shares = shares || (counted[d] && rank_has(rank, d));
        if (shares || rank->n_term != 1 || rank->term[0].coefficient != 1)
            need.plain = false;
        if (shares)
            continue;
        uint32_t anchor = rank_anchor(problem, rank);
        need.touched_word *= rank_values(problem, rank);
        need.anchored_word *= problem->bound[anchor];
        need.sharing_dims &= ~(1u << anchor);
        need.sharing /= problem->bound[anchor];
        for (uint32_t d = 0; d < problem->n_dim; d++)
            counted[d] = counted[d] || rank_has(rank, d);
    }
    return need;
}
