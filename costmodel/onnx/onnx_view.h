/* How the elements of a tensor lie in the feature map that a layer makes: each dimension of the tensor is a
 * product of atoms, and an atom is a run through channels, rows or columns of the feature map. A reshape
 * regroups atoms, a transpose reorders them; neither is a layer, as long as the next layer finds channels,
 * rows and columns where it needs them. */
#ifndef COSTMODEL_ONNX_ONNX_VIEW_H
#define COSTMODEL_ONNX_ONNX_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/onnx/onnx_layers.h"

/* Letters of a feature map; from AXIS_INPUT on the dimensions of a network input that nobody has looked at
 * yet, so that it is open what its channels are. */
enum { AXIS_N, AXIS_C, AXIS_H, AXIS_W, AXIS_INPUT };
enum { ATOM_MAX = 24 };

struct onnx_atom {
    uint8_t axis;
    int64_t extent, stride;
};

/* What is known of a feature map beside the layer that makes it. All but PLAIN are functions of one feature
 * map that become a layer when a layer reads them. */
enum feature_kind { FEATURE_PLAIN, FEATURE_ACTIVATION, FEATURE_NORM, FEATURE_REDUCED };

struct onnx_feature {
    enum feature_kind kind;
    struct onnx_ref ref;             /* PLAIN: who makes it */
    const struct onnx_feature *base; /* others: of what it is a function; of PLAIN NULL */
    const struct onnx_node *node;    /* for the name of its layer */
    int64_t size[4];                 /* by letter; [AXIS_N] is not used */
    unsigned reduced;                /* REDUCED: letters that are gone, as bits; whole ones only */
    bool is_partly_reduced;          /* not a whole letter: no layer says it */
    int64_t groups;                  /* NORM */
    int32_t input;                   /* PLAIN: network input, or -1 */
    bool is_open;                    /* an input whose letters are not known yet */
    struct {
        uint8_t axis;
        int64_t stride;
    } map[ONNX_RANK_MAX]; /* what its dimensions are, once they are */
};

struct onnx_view {
    struct onnx_feature *feature;
    int rank, n;
    int end[ONNX_RANK_MAX]; /* behind the last atom of a dimension */
    struct onnx_atom atom[ATOM_MAX];
};

static inline int view_begin(const struct onnx_view *view, int d)
{
    return d == 0 ? 0 : view->end[d - 1];
}

/* The feature that it is a function of, itself when it is plain. */
const struct onnx_feature *onnx_root(const struct onnx_feature *feature);

/* In terms of letters, once these are known, with neighbours that are one run as one atom. */
void onnx_view_settle(struct onnx_view *view);

/* The same elements in other dimensions; false when an atom would have to be cut unevenly. */
bool onnx_view_reshape(struct onnx_view *view, const struct onnx_tensor *to);
/* Dimension d of the result is axis order[d]. */
void onnx_view_transpose(struct onnx_view *view, const int *order);
/* Dimension d becomes one atom (extent 1: none). False: too many. */
bool onnx_view_set(struct onnx_view *view, int d, uint8_t axis, int64_t extent, int64_t stride);
/* Dimension d gets the atoms of dimension `from` of another one. */
bool onnx_view_take(struct onnx_view *view, int d, const struct onnx_view *other, int from);

/* How many elements of a letter dimension d runs through; 0 when it has atoms of other letters (but N). */
int64_t onnx_view_extent(const struct onnx_view *view, int d, uint8_t axis);
/* Whether any dimension of the set `dims` (bits) has an atom of that letter. */
bool onnx_view_has(const struct onnx_view *view, unsigned dims, uint8_t axis);
/* Whether dimension d is the whole letter in its own order; of a size of 1: no atom but N. */
bool onnx_view_is_whole(const struct onnx_view *view, int d, uint8_t axis);
bool onnx_view_same(const struct onnx_view *a, const struct onnx_view *b);

/* Settle an open input: its channels are the dimensions `channels` (bits) of this view of it, in their order;
 * the others are rows and, when there are two or more, the last of them columns. False: they are cut. */
bool onnx_view_open(struct onnx_view *view, unsigned channels, const struct onnx_tensor *input);

#endif
