/* Views against an array of indices: a feature map of C x H x W elements, whose index is its place, is split,
 * merged and reordered at random, once as a view and once element by element. By hand: what cannot be
 * said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/onnx/onnx_view.h"

enum { C = 24, H = 6, W = 4, N = C * H * W };

/* A tensor whose element i is element place[i] of the feature map. */
struct plain {
    struct onnx_tensor shape;
    int place[N];
};

static struct onnx_feature feature = {.size = {1, C, H, W}, .input = -1};

static void begin(struct onnx_view *view, struct plain *plain)
{
    const int64_t dim[] = {1, C, H, W};
    *view = (struct onnx_view){.feature = &feature,
                               .rank = 4,
                               .n = 3,
                               .end = {0, 1, 2, 3},
                               .atom = {{AXIS_C, C, 1}, {AXIS_H, H, 1}, {AXIS_W, W, 1}}};
    onnx_set_shape(&plain->shape, 4, dim);
    for (int i = 0; i < N; i++)
        plain->place[i] = i;
}

/* Where the view says that element i is. */
static int place_by_view(const struct onnx_view *view, const struct onnx_tensor *shape, int i)
{
    int64_t at[4] = {0};
    for (int d = view->rank - 1; d >= 0; i /= (int)shape->dim[d], d--) {
        int64_t rest = i % shape->dim[d];
        for (int a = view->end[d] - 1; a >= view_begin(view, d); a--) {
            const struct onnx_atom *atom = &view->atom[a];
            at[atom->axis] += rest % atom->extent * atom->stride;
            rest /= atom->extent;
        }
        assert_int_equal(rest, 0);
    }
    return (int)((at[AXIS_C] * H + at[AXIS_H]) * W + at[AXIS_W]);
}

static void check_same(const struct onnx_view *view, const struct plain *plain)
{
    for (int i = 0; i < N; i++)
        assert_int_equal(place_by_view(view, &plain->shape, i), plain->place[i]);
}

/* A shape of the same elements with other dimensions: some merged, some split. */
static void other_shape(struct random_stream *stream, struct onnx_tensor *shape)
{
    int64_t dim[ONNX_RANK_MAX];
    int n = 0;
    for (int d = 0; d < shape->rank; d++) {
        const bool merge = n > 0 && random_below(stream, 3) == 0;
        int64_t whole = shape->dim[d], cut = 1 + (int64_t)random_below(stream, 4);
        if (merge)
            dim[n - 1] *= whole;
        else if (whole % cut == 0 && n + 2 + shape->rank - d - 1 <= ONNX_RANK_MAX) {
            dim[n++] = cut;
            dim[n++] = whole / cut;
        } else
            dim[n++] = whole;
    }
    onnx_set_shape(shape, n, dim);
}

static void transpose(struct random_stream *stream, struct onnx_view *view, struct plain *plain)
{
    int order[ONNX_RANK_MAX];
    struct plain old = *plain;
    int64_t step[ONNX_RANK_MAX], n = 1;
    for (int d = 0; d < view->rank; d++)
        order[d] = d;
    for (int d = view->rank - 1; d > 0; d--) {
        const int k = (int)random_below(stream, (uint32_t)d + 1), kept = order[d];
        order[d] = order[k];
        order[k] = kept;
    }
    for (int d = view->rank - 1; d >= 0; n *= old.shape.dim[d], d--)
        step[d] = n;
    for (int d = 0; d < view->rank; d++)
        plain->shape.dim[d] = old.shape.dim[order[d]];
    for (int i = 0; i < N; i++) {
        int64_t at = 0;
        for (int d = view->rank - 1, rest = i; d >= 0; rest /= (int)plain->shape.dim[d], d--)
            at += rest % plain->shape.dim[d] * step[order[d]];
        plain->place[i] = old.place[at];
    }
    onnx_view_transpose(view, order);
}

static void test_random_moves_agree_with_indices(void **state)
{
    int n_said = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct random_stream stream = random_stream_make(seed, 0, 0);
        struct onnx_view view;
        struct plain plain;
        begin(&view, &plain);
        for (int move = 0; move < 6; move++) {
            struct onnx_tensor shape = plain.shape;
            other_shape(&stream, &shape);
            if (!onnx_view_reshape(&view, &shape))
                break;
            plain.shape = shape;
            check_same(&view, &plain);
            transpose(&stream, &view, &plain);
            check_same(&view, &plain);
            n_said++;
        }
    }
    assert_true(n_said > 4000); /* most can be said */
}

static void test_uneven_cuts_cannot_be_said(void **state)
{
    struct onnx_view view;
    struct plain plain;
    const int order[] = {0, 2, 1, 3};
    const int64_t uneven[] = {16, 36};
    struct onnx_tensor shape = {.rank = 2};
    (void)state;
    begin(&view, &plain);
    onnx_view_transpose(&view, order); /* 6 x 24 x 4 */
    onnx_set_shape(&shape, 2, uneven); /* 16 = 6 x 24/9 */
    assert_false(onnx_view_reshape(&view, &shape));
}

static void test_whole_letters_are_known(void **state)
{
    struct onnx_view view;
    struct plain plain;
    const int64_t split[] = {4, 6, H, W}, back[] = {1, C, H, W};
    const int order[] = {1, 0, 2, 3};
    struct onnx_tensor shape;
    (void)state;
    begin(&view, &plain);
    assert_true(onnx_view_is_whole(&view, 1, AXIS_C));
    assert_int_equal(onnx_view_extent(&view, 2, AXIS_H), H);
    assert_int_equal(onnx_view_extent(&view, 2, AXIS_C), 0);
    onnx_set_shape(&shape, 4, split);
    assert_true(onnx_view_reshape(&view, &shape));
    onnx_view_transpose(&view, order); /* a shuffle of channels in 4 groups */
    onnx_set_shape(&shape, 4, back);
    assert_true(onnx_view_reshape(&view, &shape));
    assert_false(onnx_view_is_whole(&view, 1, AXIS_C));
    assert_int_equal(onnx_view_extent(&view, 1, AXIS_C), C); /* all of them, in another order */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_moves_agree_with_indices),
        cmocka_unit_test(test_uneven_cuts_cannot_be_said),
        cmocka_unit_test(test_whole_letters_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
