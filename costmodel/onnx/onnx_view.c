/* Views: pure arithmetic on atoms. */
#include "costmodel/onnx/onnx_view.h"

#include <string.h>

const struct onnx_feature *onnx_root(const struct onnx_feature *feature)
{
    return feature->base ? feature->base : feature;
}

static void resolve(struct onnx_view *view)
{
    const struct onnx_feature *root = onnx_root(view->feature);
    for (int i = 0; i < view->n && !root->is_open; i++) {
        struct onnx_atom *atom = &view->atom[i];
        if (atom->axis < AXIS_INPUT)
            continue;
        atom->stride *= root->map[atom->axis - AXIS_INPUT].stride;
        atom->axis = root->map[atom->axis - AXIS_INPUT].axis;
    }
}

void onnx_view_settle(struct onnx_view *view)
{
    resolve(view);
    int n = 0, from = 0;
    for (int d = 0; d < view->rank; d++) {
        const int begin = n;
        for (; from < view->end[d]; from++) {
            const struct onnx_atom atom = view->atom[from];
            struct onnx_atom *last = n > begin ? &view->atom[n - 1] : NULL;
            if (atom.extent == 1)
                continue;
            if (last && last->axis == atom.axis && last->stride == atom.stride * atom.extent) {
                last->extent *= atom.extent;
                last->stride = atom.stride;
            } else {
                view->atom[n++] = atom;
            }
        }
        view->end[d] = n;
    }
    view->n = n;
}

bool onnx_view_reshape(struct onnx_view *view, const struct onnx_tensor *to)
{
    struct onnx_view out = {.feature = view->feature, .rank = to->rank};
    int i = 0;
    struct onnx_atom rest = view->n ? view->atom[0] : (struct onnx_atom){0, 1, 1};
    for (int d = 0; d < to->rank; d++) {
        int64_t need = to->dim[d];
        while (need > 1) {
            while (rest.extent == 1 && ++i < view->n)
                rest = view->atom[i];
            if (i >= view->n || out.n == ATOM_MAX)
                return false;
            if (need % rest.extent == 0) {
                out.atom[out.n++] = rest;
                need /= rest.extent;
                rest.extent = 1;
            } else if (rest.extent % need == 0) {
                rest.extent /= need; /* what is left runs inside */
                out.atom[out.n++] = (struct onnx_atom){rest.axis, need, rest.stride * rest.extent};
                need = 1;
            } else {
                return false;
            }
        }
        out.end[d] = out.n;
    }
    *view = out;
    onnx_view_settle(view);
    return true;
}

void onnx_view_transpose(struct onnx_view *view, const int *order)
{
    struct onnx_view out = {.feature = view->feature, .rank = view->rank};
    for (int d = 0; d < view->rank; d++) {
        for (int i = view_begin(view, order[d]); i < view->end[order[d]]; i++)
            out.atom[out.n++] = view->atom[i];
        out.end[d] = out.n;
    }
    *view = out;
    onnx_view_settle(view);
}

/* Dimension d gets `n` atoms in place of its own. */
static bool replace(struct onnx_view *view, int d, const struct onnx_atom *atom, int n)
{
    const int begin = view_begin(view, d), end = view->end[d], more = n - (end - begin);
    if (view->n + more > ATOM_MAX)
        return false;
    struct onnx_atom kept[ATOM_MAX];
    memcpy(kept, atom, (size_t)n * sizeof *atom);
    memmove(view->atom + begin + n, view->atom + end, (size_t)(view->n - end) * sizeof *atom);
    memcpy(view->atom + begin, kept, (size_t)n * sizeof *atom);
    for (int i = d; i < view->rank; i++)
        view->end[i] += more;
    view->n += more;
    return true;
}

bool onnx_view_set(struct onnx_view *view, int d, uint8_t axis, int64_t extent, int64_t stride)
{
    const struct onnx_atom atom = {axis, extent, stride};
    return replace(view, d, &atom, extent > 1);
}

bool onnx_view_take(struct onnx_view *view, int d, const struct onnx_view *other, int from)
{
    const int begin = view_begin(other, from);
    return replace(view, d, other->atom + begin, other->end[from] - begin);
}

int64_t onnx_view_extent(const struct onnx_view *view, int d, uint8_t axis)
{
    int64_t extent = 1;
    for (int i = view_begin(view, d); i < view->end[d]; i++) {
        if (view->atom[i].axis == axis)
            extent *= view->atom[i].extent;
        else if (view->atom[i].axis != AXIS_N)
            return 0;
    }
    return extent;
}

bool onnx_view_has(const struct onnx_view *view, unsigned dims, uint8_t axis)
{
    for (int d = 0; d < view->rank; d++)
        for (int i = view_begin(view, d); dims >> d & 1 && i < view->end[d]; i++)
            if (view->atom[i].axis == axis)
                return true;
    return false;
}

bool onnx_view_is_whole(const struct onnx_view *view, int d, uint8_t axis)
{
    const int begin = view_begin(view, d), n = view->end[d] - begin;
    const int64_t size = view->feature->size[axis];
    if (size == 1)
        return n == 0;
    const struct onnx_atom *atom = &view->atom[begin];
    return n == 1 && atom->axis == axis && atom->extent == size && atom->stride == 1;
}

bool onnx_view_same(const struct onnx_view *a, const struct onnx_view *b)
{
    bool same = a->rank == b->rank && a->n == b->n;
    for (int d = 0; same && d < a->rank; d++)
        same = a->end[d] == b->end[d];
    for (int i = 0; same && i < a->n; i++)
        same = a->atom[i].axis == b->atom[i].axis && a->atom[i].extent == b->atom[i].extent &&
               a->atom[i].stride == b->atom[i].stride;
    return same;
}

bool onnx_view_open(struct onnx_view *view, unsigned channels, const struct onnx_tensor *input)
{
    struct onnx_feature *feature = view->feature;
    unsigned is_channel = 0, is_row = 0;
    for (int d = 0; d < view->rank; d++)
        for (int i = view_begin(view, d); i < view->end[d]; i++)
            if (view->atom[i].axis >= AXIS_INPUT)
                *(channels >> d & 1 ? &is_channel : &is_row) |= 1u << (view->atom[i].axis - AXIS_INPUT);
    if (feature->kind != FEATURE_PLAIN || !feature->is_open || (is_channel & is_row))
        return false;
    int last_row = -1, n_row = 0;
    for (int d = 0; d < input->rank; d++)
        if (!(is_channel >> d & 1) && feature->map[d].axis != AXIS_N && input->dim[d] > 1) {
            last_row = d;
            n_row++;
        }
    int64_t size[4] = {1, 1, 1, 1};
    for (int d = input->rank - 1; d >= 0; d--) {
        if (feature->map[d].axis == AXIS_N)
            continue;
        const uint8_t axis = is_channel >> d & 1 ? AXIS_C : d == last_row && n_row > 1 ? AXIS_W : AXIS_H;
        feature->map[d].axis = axis;
        feature->map[d].stride = size[axis];
        size[axis] *= input->dim[d];
    }
    memcpy(feature->size, size, sizeof size);
    feature->is_open = false;
    onnx_view_settle(view);
    return true;
}
