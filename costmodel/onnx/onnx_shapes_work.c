/* Shapes of what multiplies and accumulates, of pools and of Resize; which dimensions of a product do
 * what. */
#include <math.h>
#include <string.h>

#include "costmodel/onnx/onnx_operators.h"

/* ---- windows ---- */

static enum dse_status list_of_window(const struct onnx_model *model, const struct onnx_node *node,
                                      const char *name, int n, int64_t lowest, int64_t missing, int64_t *out,
                                      struct dse_error *err)
{
    struct onnx_list list;
    DSE_TRY(onnx_list_of(model, node, name, -1, &list, err));
    if (onnx_has(&list) && list.n != (size_t)n)
        return onnx_fail(model, node, err, "%s has %zu numbers, %d are expected", name, list.n, n);
    for (int i = 0; i < n; i++) {
        out[i] = onnx_has(&list) ? list.at[i] : missing;
        if (out[i] < lowest || out[i] > NETWORK_DIM_MAX)
            return onnx_fail(model, node, err, "%s has a %lld; from %lld to %d is supported", name,
                             (long long)out[i], (long long)lowest, NETWORK_DIM_MAX);
    }
    return DSE_OK;
}

/* Padding in front and behind so that the result is in / stride, rounded up. */
static void pad_same(struct onnx_window *w, bool upper)
{
    for (int i = 0; i < w->n; i++) {
        const int64_t reach = (w->filter[i] - 1) * w->dilation[i] + 1;
        const int64_t out = (w->in[i] + w->stride[i] - 1) / w->stride[i];
        const int64_t need = (out - 1) * w->stride[i] + reach - w->in[i], all = need > 0 ? need : 0;
        w->pad[i] = upper ? all / 2 : (all + 1) / 2;
        w->pad[2 + i] = all - w->pad[i];
    }
}

/* What a ConvTranspose cuts off so that its result is as large as it says: output_shape, or in x stride. */
static enum dse_status transposed_pads(const struct onnx_model *model, const struct onnx_node *node,
                                       struct onnx_window *w, const int64_t *more, const char *automatic,
                                       struct dse_error *err)
{
    struct onnx_list shape;
    DSE_TRY(onnx_list_of(model, node, "output_shape", -1, &shape, err));
    const bool same = strncmp(automatic, "SAME", 4) == 0;
    for (int i = 0; i < w->n; i++) {
        const int64_t whole =
            (w->in[i] - 1) * w->stride[i] + (w->filter[i] - 1) * w->dilation[i] + 1 + more[i];
        if (onnx_has(&shape) || same) {
            const size_t skip = shape.n == (size_t)w->n + 2 ? 2 : 0;
            if (onnx_has(&shape) && shape.n != (size_t)w->n + skip)
                return onnx_fail(model, node, err, "output_shape has %zu numbers", shape.n);
            const int64_t wanted = onnx_has(&shape) ? shape.at[(size_t)i + skip] : w->in[i] * w->stride[i];
            if (wanted < 1)
                return onnx_fail(model, node, err, "output_shape has a %lld", (long long)wanted);
            const int64_t cut = whole > wanted ? whole - wanted : 0;
            w->pad[2 + i] = strcmp(automatic, "SAME_UPPER") == 0 ? (cut + 1) / 2 : cut / 2;
            w->pad[i] = cut - w->pad[2 + i];
        }
        w->out[i] = whole - w->pad[i] - w->pad[2 + i];
    }
    return DSE_OK;
}

static enum dse_status window_filter(const struct onnx_model *model, const struct onnx_node *node,
                                     struct onnx_window *w, struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    const struct onnx_tensor *filter =
        node->op->kind == ONNX_POOL ? NULL : onnx_in(model, node, node->op->second);
    const bool turned = node->op->kind == ONNX_CONV_TRANSPOSE;
    if (node->op->kind == ONNX_POOL)
        return list_of_window(model, node, "kernel_shape", w->n, 1, 0, w->filter, err);
    if (!filter || filter->rank != in->rank)
        return onnx_fail(model, node, err,
                         "it has no filter, or one whose dimensions are not those of its "
                         "operand");
    w->groups = onnx_int(node, "group", 1);
    if (w->groups < 1 || w->groups > NETWORK_DIM_MAX)
        return onnx_fail(model, node, err, "%lld groups", (long long)w->groups);
    for (int d = 0; d < filter->rank; d++)
        if (filter->dim[d] < 1 || filter->dim[d] > NETWORK_DIM_MAX)
            return onnx_fail(model, node, err, "dimension %d of its filter is %lld", d,
                             (long long)filter->dim[d]);
    w->outputs = turned ? filter->dim[1] * w->groups : filter->dim[0];
    if (turned ? filter->dim[0] != w->channels : filter->dim[1] * w->groups != w->channels)
        return onnx_fail(model, node, err, "its filter takes %lld channels in %lld groups, but it gets %lld",
                         (long long)(turned ? filter->dim[0] : filter->dim[1]), (long long)w->groups,
                         (long long)w->channels);
    for (int i = 0; i < w->n; i++)
        w->filter[i] = filter->dim[2 + i];
    return DSE_OK;
}

static enum dse_status window_pads(const struct onnx_model *model, const struct onnx_node *node,
                                   struct onnx_window *w, const char *automatic, struct dse_error *err)
{
    int64_t pad[4] = {0};
    DSE_TRY(list_of_window(model, node, "pads", 2 * w->n, 0, 0, pad, err));
    for (int i = 0; i < w->n; i++) { /* all in front, then all behind */
        w->pad[i] = pad[i];
        w->pad[2 + i] = pad[w->n + i];
    }
    if (strcmp(automatic, "VALID") == 0)
        memset(w->pad, 0, sizeof w->pad);
    if (strncmp(automatic, "SAME", 4) == 0)
        pad_same(w, strcmp(automatic, "SAME_UPPER") == 0);
    return DSE_OK;
}

enum dse_status onnx_window_of(const struct onnx_model *model, const struct onnx_node *node,
                               struct onnx_window *window, struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    const char *automatic = onnx_text(model, node, "auto_pad");
    const bool turned = node->op->kind == ONNX_CONV_TRANSPOSE;
    int64_t more[2] = {0};
    if (!in || in->rank < 3 || in->rank > 4)
        return onnx_fail(model, node, err,
                         in && in->rank == 5 ? "three spatial dimensions; one and two are read"
                                             : "an operand of three or four dimensions is expected");
    struct onnx_window *w = window;
    *w = (struct onnx_window){.n = in->rank - 2,
                              .in = {1, 1},
                              .out = {1, 1},
                              .filter = {1, 1},
                              .stride = {1, 1},
                              .dilation = {1, 1},
                              .channels = in->dim[1],
                              .outputs = in->dim[1],
                              .groups = 1};
    for (int i = 0; i < w->n; i++) {
        w->in[i] = in->dim[2 + i];
        if (w->in[i] < 1 || w->in[i] > NETWORK_DIM_MAX)
            return onnx_fail(model, node, err, "its operand is %lld wide or high", (long long)w->in[i]);
    }
    DSE_TRY(window_filter(model, node, w, err));
    DSE_TRY(list_of_window(model, node, "strides", w->n, 1, 1, w->stride, err));
    DSE_TRY(list_of_window(model, node, "dilations", w->n, 1, 1, w->dilation, err));
    DSE_TRY(list_of_window(model, node, "output_padding", w->n, 0, 0, more, err));
    DSE_TRY(window_pads(model, node, w, automatic, err));
    if (turned)
        DSE_TRY(transposed_pads(model, node, w, more, automatic, err));
    for (int i = 0; i < w->n; i++) {
        const int64_t reach = (w->filter[i] - 1) * w->dilation[i] + 1;
        const int64_t room = w->in[i] + w->pad[i] + w->pad[2 + i] - reach;
        const bool up = onnx_int(node, "ceil_mode", 0) != 0;
        if (!turned)
            w->out[i] = room < 0 ? 0 : (room + (up ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
        if (!turned && up && (w->out[i] - 1) * w->stride[i] >= w->in[i] + w->pad[i])
            w->out[i]--; /* a window that begins behind the operand is left out */
        if (w->out[i] < 1)
            return onnx_fail(model, node, err, "its filter is larger than its operand");
        const int64_t need = (w->out[i] - 1) * w->stride[i] + reach - w->in[i] - w->pad[i];
        if (!turned && need > w->pad[2 + i]) /* rounded up */
            w->pad[2 + i] = need;
    }
    return DSE_OK;
}

static enum dse_status set_window_shape(struct onnx_model *model, const struct onnx_node *node,
                                        struct dse_error *err)
{
    struct onnx_window w;
    DSE_TRY(onnx_window_of(model, node, &w, err));
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    const int64_t dim[4] = {in->dim[0], w.outputs, w.out[0], w.out[1]};
    for (uint32_t i = 0; i < node->n_output && i < 2; i++) /* a pool's indices as well */
        if (onnx_out(model, node, i))
            onnx_set_shape(onnx_out(model, node, i), in->rank, dim);
    return DSE_OK;
}

enum dse_status onnx_shape_conv(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    return set_window_shape(model, node, err);
}

enum dse_status onnx_shape_conv_transpose(struct onnx_model *model, const struct onnx_node *node,
                                          struct dse_error *err)
{
    return set_window_shape(model, node, err);
}

enum dse_status onnx_shape_pool(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    return set_window_shape(model, node, err);
}

enum dse_status onnx_shape_global_pool(struct onnx_model *model, const struct onnx_node *node,
                                       struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    struct onnx_tensor *out = onnx_out(model, node, 0);
    if (!in || !out || in->rank < 2)
        return onnx_fail(model, node, err, "an operand of two dimensions or more is expected");
    onnx_set_shape(out, in->rank, in->dim);
    for (int d = 2; d < in->rank; d++)
        out->dim[d] = 1;
    return DSE_OK;
}

/* sizes, or scales that are multiplied and rounded down. */
enum dse_status onnx_shape_resize(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    struct onnx_tensor *out = onnx_out(model, node, 0);
    const bool upsample = strcmp(node->proto->op_type, "Upsample") == 0;
    const uint32_t place = upsample || node->version < 11 ? 1 : 2;
    const struct onnx_tensor *scales = onnx_in(model, node, place);
    const Onnx__AttributeProto *given = onnx_attribute(node, "scales");
    struct onnx_list sizes, axes;
    if (!in || !out)
        return onnx_fail(model, node, err, "its operand or its result is missing");
    DSE_TRY(onnx_list_of(model, node, "sizes", place == 2 ? 3 : -1, &sizes, err));
    DSE_TRY(onnx_list_of(model, node, "axes", -1, &axes, err));
    const bool by_size = onnx_has(&sizes) && sizes.n > 0;
    const size_t n_scale = given ? given->n_floats : scales ? (size_t)onnx_elements(scales) : 0;
    const size_t n = by_size ? sizes.n : n_scale;
    if (!by_size && !given && (!scales || !scales->value))
        return onnx_fail(model, node, err, "its scales are not known before it runs");
    if (n != (onnx_has(&axes) ? axes.n : (size_t)in->rank))
        return onnx_fail(model, node, err, "%zu sizes or scales for %d dimensions", n, in->rank);
    onnx_set_shape(out, in->rank, in->dim);
    for (size_t i = 0; i < n; i++) {
        int axis = (int)i;
        if (onnx_has(&axes))
            DSE_TRY(onnx_axis(model, node, axes.at[i], in->rank, &axis, err));
        const onnx_number scale = by_size ? 1 : given ? (onnx_number)given->floats[i] : scales->value[i];
        const onnx_number size = floorl((onnx_number)in->dim[axis] * scale);
        if (!by_size && !(size >= 1 && size < (onnx_number)((int64_t)1 << 40)))
            return onnx_fail(model, node, err, "a scale that leaves nothing, or too much");
        out->dim[axis] = by_size ? sizes.at[i] : (int64_t)size;
    }
    return DSE_OK;
}

/* ---- products ---- */

static void add_role(struct onnx_product *p, enum onnx_role role, int a, int b, int out)
{
    if (role == ROLE_BATCH) {
        p->batch[0][p->n_batch] = (int8_t)a;
        p->batch[1][p->n_batch] = (int8_t)b;
        p->batch[2][p->n_batch++] = (int8_t)out;
    } else if (role == ROLE_INNER) {
        p->inner[0][p->n_inner] = (int8_t)a;
        p->inner[1][p->n_inner++] = (int8_t)b;
    } else if (a >= 0) {
        p->row[0][p->n_row] = (int8_t)a;
        p->row[1][p->n_row++] = (int8_t)out;
    } else {
        p->column[0][p->n_column] = (int8_t)b;
        p->column[1][p->n_column++] = (int8_t)out;
    }
}

/* a: ... M K, b: ... K N, result: ... M N; a vector has no M or N. A batch that one of them lacks is rows of
 * the other. */
static enum dse_status matmul_roles(const struct onnx_model *model, const struct onnx_node *node,
                                    struct onnx_product *p, struct dse_error *err)
{
    const struct onnx_tensor *a = p->a, *b = p->b;
    const int a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
    const int n_batch = a_batch > b_batch ? a_batch : b_batch;
    if (a->rank < 1 || b->rank < 1)
        return onnx_fail(model, node, err, "a product with a single number");
    if (a->dim[a->rank - 1] != b->dim[b->rank > 1 ? b->rank - 2 : 0])
        return onnx_fail(model, node, err, "%lld columns meet %lld rows", (long long)a->dim[a->rank - 1],
                         (long long)b->dim[b->rank > 1 ? b->rank - 2 : 0]);
    for (int i = 0; i < n_batch; i++) {
        const int in_a = i - (n_batch - a_batch), in_b = i - (n_batch - b_batch);
        const int64_t x = in_a >= 0 ? a->dim[in_a] : 1, y = in_b >= 0 ? b->dim[in_b] : 1;
        if (x != y && x != 1 && y != 1)
            return onnx_fail(model, node, err, "%lld and %lld products side by side", (long long)x,
                             (long long)y);
        if (x > 1 && y > 1)
            add_role(p, ROLE_BATCH, in_a, in_b, i);
        else if (x > 1 || y > 1)
            add_role(p, ROLE_ROW, x > 1 ? in_a : -1, in_b, i);
    }
    if (a->rank > 1)
        add_role(p, ROLE_ROW, a->rank - 2, -1, n_batch);
    if (b->rank > 1)
        add_role(p, ROLE_ROW, -1, b->rank - 1, n_batch + (a->rank > 1));
    add_role(p, ROLE_INNER, a->rank - 1, b->rank > 1 ? b->rank - 2 : 0, -1);
    return DSE_OK;
}

static enum dse_status gemm_roles(const struct onnx_model *model, const struct onnx_node *node,
                                  struct onnx_product *p, struct dse_error *err)
{
    const int turn_a = onnx_int(node, "transA", 0) != 0, turn_b = onnx_int(node, "transB", 0) != 0;
    if (p->a->rank != 2 || p->b->rank != 2)
        return onnx_fail(model, node, err, "operands of two dimensions are expected");
    if (p->a->dim[!turn_a] != p->b->dim[turn_b])
        return onnx_fail(model, node, err, "%lld columns meet %lld rows", (long long)p->a->dim[!turn_a],
                         (long long)p->b->dim[turn_b]);
    add_role(p, ROLE_ROW, turn_a, -1, 0);
    add_role(p, ROLE_ROW, -1, !turn_b, 1);
    add_role(p, ROLE_INNER, !turn_a, turn_b, -1);
    return DSE_OK;
}

/* The letters of one term, with "..." as the capital letters behind 'Z' would be: not supported. */
static bool read_term(const char **at, char *term)
{
    int n = 0;
    for (; **at && **at != ',' && **at != '-'; ++*at) {
        const char c = **at;
        if (c == ' ')
            continue;
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) || n == ONNX_RANK_MAX)
            return false;
        for (int i = 0; i < n; i++)
            if (term[i] == c)
                return false; /* a diagonal */
        term[n++] = c;
    }
    term[n] = '\0';
    return true;
}

static int place_of(const char *term, char letter)
{
    const char *at = strchr(term, letter);
    return at ? (int)(at - term) : -1;
}

static enum dse_status einsum_roles(const struct onnx_model *model, const struct onnx_node *node,
                                    struct onnx_product *p, struct dse_error *err)
{
    const char *text = onnx_text(model, node, "equation"), *at = text;
    char a[ONNX_RANK_MAX + 1], b[ONNX_RANK_MAX + 1], out[ONNX_RANK_MAX + 1];
    bool fine = read_term(&at, a) && *at++ == ',' && read_term(&at, b) && *at++ == '-' && *at++ == '>' &&
                read_term(&at, out) && *at == '\0';
    if (!fine || node->n_input != 2)
        return onnx_fail(model, node, err,
                         "equation \"%.60s\" is none of two operands with letters, such as bij,bjk->bik",
                         text);
    if (strlen(a) != (size_t)p->a->rank || strlen(b) != (size_t)p->b->rank)
        return onnx_fail(model, node, err, "equation \"%.60s\" does not fit its operands", text);
    for (int i = 0; a[i]; i++) {
        const int in_b = place_of(b, a[i]), in_out = place_of(out, a[i]);
        if (in_b >= 0 && p->a->dim[i] != p->b->dim[in_b])
            return onnx_fail(model, node, err, "%c is %lld and %lld", a[i], (long long)p->a->dim[i],
                             (long long)p->b->dim[in_b]);
        if (in_b < 0 && in_out < 0)
            return onnx_fail(model, node, err, "%c is summed over one operand alone", a[i]);
        add_role(p, in_b < 0 ? ROLE_ROW : in_out >= 0 ? ROLE_BATCH : ROLE_INNER, i, in_b, in_out);
    }
    for (int i = 0; b[i]; i++)
        if (place_of(a, b[i]) < 0) {
            if (place_of(out, b[i]) < 0)
                return onnx_fail(model, node, err, "%c is summed over one operand alone", b[i]);
            add_role(p, ROLE_ROW, -1, i, place_of(out, b[i]));
        }
    for (int i = 0; out[i]; i++)
        if (place_of(a, out[i]) < 0 && place_of(b, out[i]) < 0)
            return onnx_fail(model, node, err, "%c of the result is in no operand", out[i]);
    return DSE_OK;
}

enum dse_status onnx_product_of(const struct onnx_model *model, const struct onnx_node *node,
                                struct onnx_product *product, struct dse_error *err)
{
    memset(product, 0, sizeof *product);
    product->a = onnx_in(model, node, 0);
    product->b = onnx_in(model, node, node->op->second);
    if (!product->a || !product->b)
        return onnx_fail(model, node, err, "an operand is missing");
    if (node->op->shape == onnx_shape_gemm)
        return gemm_roles(model, node, product, err);
    return node->op->shape == onnx_shape_einsum ? einsum_roles(model, node, product, err)
                                                : matmul_roles(model, node, product, err);
}

static enum dse_status set_product_shape(struct onnx_model *model, const struct onnx_node *node,
                                         struct dse_error *err)
{
    struct onnx_product p;
    struct onnx_tensor *out = onnx_out(model, node, 0);
    if (!out)
        return onnx_fail(model, node, err, "its result is missing");
    DSE_TRY(onnx_product_of(model, node, &p, err));
    const bool vector_a = p.a->rank == 1, vector_b = p.b->rank == 1;
    const int batch_rank = p.a->rank > p.b->rank ? p.a->rank : p.b->rank;
    int rank = node->op->shape == onnx_shape_matmul
                   ? (batch_rank > 2 ? batch_rank - 2 : 0) + !vector_a + !vector_b
                   : p.n_batch + p.n_row + p.n_column;
    if (rank > ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "its result has more than %d dimensions", ONNX_RANK_MAX);
    for (int d = 0; d < rank; d++)
        out->dim[d] = 1;
    for (int i = 0; i < p.n_batch; i++)
        out->dim[p.batch[2][i]] = p.a->dim[p.batch[0][i]];
    for (int i = 0; i < p.n_row; i++)
        out->dim[p.row[1][i]] = p.a->dim[p.row[0][i]];
    for (int i = 0; i < p.n_column; i++)
        out->dim[p.column[1][i]] = p.b->dim[p.column[0][i]];
    onnx_set_shape(out, rank, out->dim);
    return DSE_OK;
}

enum dse_status onnx_shape_gemm(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    return set_product_shape(model, node, err);
}

enum dse_status onnx_shape_matmul(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err)
{
    return set_product_shape(model, node, err);
}

enum dse_status onnx_shape_einsum(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err)
{
    return set_product_shape(model, node, err);
}

/* LSTM, GRU, RNN: X (steps, batch, features), W (directions, gates x hidden, features), R; results Y (steps,
 * directions, batch, hidden) and the last ones; with layout 1 the batch comes first. */
enum dse_status onnx_shape_recurrent(struct onnx_model *model, const struct onnx_node *node,
                                     struct dse_error *err)
{
    const struct onnx_tensor *x = onnx_in(model, node, 0), *w = onnx_in(model, node, 1),
                             *r = onnx_in(model, node, 2);
    if (!x || !w || !r || x->rank != 3 || w->rank != 3 || r->rank != 3)
        return onnx_fail(model, node, err, "X, W and R of three dimensions are expected");
    const bool batch_first = onnx_int(node, "layout", 0) != 0;
    const int64_t hidden = r->dim[2], directions = w->dim[0];
    if (w->dim[2] != x->dim[2] || r->dim[1] != w->dim[1] || r->dim[0] != directions || hidden < 1)
        return onnx_fail(model, node, err, "X, W and R do not fit together");
    const int64_t steps = x->dim[batch_first], batch = x->dim[!batch_first];
    const int64_t all[4] = {batch_first ? batch : steps, batch_first ? steps : directions,
                            batch_first ? directions : batch, hidden};
    const int64_t last[3] = {batch_first ? batch : directions, batch_first ? directions : batch, hidden};
    for (uint32_t i = 0; i < node->n_output && i < 3; i++)
        if (onnx_out(model, node, i))
            onnx_set_shape(onnx_out(model, node, i), i == 0 ? 4 : 3, i == 0 ? all : last);
    return DSE_OK;
}
