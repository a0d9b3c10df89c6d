/* What tiles of an instance cover (docs/lower-bounds.md) against the union of all its tiles, value by value,
 * for random strides, boxes, fan-outs and loops on either side of the fan-out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/optimal/optimal_model.h"

enum { CASES = 20000, MOST = 4, VALUE_MAX = 1 << 12 };

/* A dimension: a box of values inside, then loops, a fan-out, and loops outside it, of which `at` is the
 * instance's number. */
struct dim {
    uint32_t box, inner, fan, outer, at;
};

static struct dim random_dim(struct random_stream *stream)
{
    const uint32_t fan = random_below(stream, 2) ? 1 + random_below(stream, MOST) : 1;
    return (struct dim){.box = 1 + random_below(stream, MOST),
                        .inner = 1 + random_below(stream, 3),
                        .fan = fan,
                        .outer = 1 + random_below(stream, 3),
                        .at = random_below(stream, fan)};
}

/* Where box i of inner * outer begins. */
static uint32_t begin(const struct dim *dim, uint32_t i)
{
    return ((i / dim->inner * dim->fan + dim->at) * dim->inner + i % dim->inner) * dim->box;
}

/* Values of i x + j y from the first to the last of every box; of i x alone with j = 0. */
static uint32_t covered(const struct dim *x, uint32_t i, const struct dim *y, uint32_t j)
{
    bool has[VALUE_MAX] = {false};
    uint32_t n = 0;
    for (uint32_t p = 0; p < x->inner * x->outer; p++)
        for (uint32_t q = 0; q < y->inner * y->outer; q++) {
            const uint32_t first = i * begin(x, p) + j * begin(y, q);
            for (uint32_t v = first; v <= first + i * (x->box - 1) + j * (y->box - 1); v++) {
                n += !has[v];
                has[v] = true;
            }
        }
    return n;
}

static void test_covered_words(void **state)
{
    (void)state;
    uint32_t n_same = 0, n_jumped = 0;
    for (uint64_t c = 0; c < CASES; c++) {
        struct random_stream stream = random_stream_make(1, c, RANDOM_TEST);
        const struct dim dim[3] = {random_dim(&stream), random_dim(&stream), random_dim(&stream)};
        const uint32_t i = 1 + random_below(&stream, MOST), j = 1 + random_below(&stream, MOST);
        const struct dim none = {1, 1, 1, 1, 0};
        struct problem problem = {.n_dim = 3, .n_tensor = 1};
        problem.tensor[0] = (struct tensor){
            .n_rank = 2,
            .rank = {{.n_term = 2, .term = {{.dim = 0, .coefficient = i}, {.dim = 1, .coefficient = j}}},
                     {.n_term = 1, .term = {{.dim = 2, .coefficient = 1}}}}};
        uint32_t box[PROBLEM_DIM_MAX];
        double count[PROBLEM_DIM_MAX];
        for (uint32_t d = 0; d < 3; d++) {
            box[d] = dim[d].box;
            count[d] = dim[d].box * dim[d].inner * dim[d].outer;
            problem.bound[d] = dim[d].box * dim[d].inner * dim[d].outer * dim[d].fan;
        }
        const double said = optimal_covered_words(&problem, 0, count, box);
        const double least = optimal_least_words(&problem.tensor[0], count);
        const double all = (double)covered(&dim[0], i, &dim[1], j) * covered(&dim[2], 1, &none, 0);
        if (said > all || said < least)
            fail_msg("case %llu: %g words said, %g different ones, %g covered", (unsigned long long)c, said,
                     least, all);
        n_same += said == all;
        n_jumped += said > least;
    }
    assert_true(n_same > CASES / 2);
    assert_true(n_jumped > CASES / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_covered_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
