/* What makes a list of layers a network: channels and sizes. network_order.c has the order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/model/network.h"
#include "costmodel/native/network_parts.h"

/* Counts are kept in doubles in places (problem.h). */
#define EXACT_COUNT_MAX 9007199254740992.0 /* 2^53 */

struct shape {
    uint32_t c, h, w;
};

enum dse_status network_fail_layer(const struct network_reader *reader, const struct layer *layer,
                                   struct dse_error *err, const char *format, ...)
{
    char text[DSE_ERROR_TEXT_MAX];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return dse_fail_at(err, DSE_BAD_INPUT, reader->doc->path, layer->line, "layer %s: %s", layer->name, text);
}

static const char *producer_name(const struct network_reader *reader, int32_t producer)
{
    return producer >= 0 ? reader->layer[producer].name : reader->net->input[-1 - producer].name;
}

static struct shape producer_shape(const struct network_reader *reader, int32_t producer)
{
    if (producer >= 0) {
        const struct layer *layer = &reader->layer[producer];
        return (struct shape){layer->k, layer->p, layer->q};
    }
    const struct network_input *input = &reader->net->input[-1 - producer];
    return (struct shape){input->c, input->h, input->w};
}

/* The common height and width of all producers. */
static enum dse_status producer_size(const struct network_reader *reader, const struct layer *layer,
                                     struct shape *shape, struct dse_error *err)
{
    *shape = producer_shape(reader, layer->producer[0]);
    for (uint32_t i = 1; i < layer->n_producer; i++) {
        struct shape other = producer_shape(reader, layer->producer[i]);
        if (other.h != shape->h || other.w != shape->w)
            return network_fail_layer(reader, layer, err,
                                      "its producers differ in size: %s gives %ux%u, %s gives %ux%u",
                                      producer_name(reader, layer->producer[0]), shape->h, shape->w,
                                      producer_name(reader, layer->producer[i]), other.h, other.w);
    }
    return DSE_OK;
}

static enum dse_status fail_channels(const struct network_reader *reader, const struct layer *layer,
                                     uint64_t given, struct dse_error *err)
{
    if (layer->n_producer == 1)
        return network_fail_layer(reader, layer, err, "C is %u, but its producer %s gives %llu channels",
                                  layer->c, producer_name(reader, layer->producer[0]),
                                  (unsigned long long)given);
    return network_fail_layer(reader, layer, err, "C is %u, but its %u producers together give %llu channels",
                              layer->c, layer->n_producer, (unsigned long long)given);
}

/* One operand: the producers' channels side by side fill C. A linear layer may also flatten: C = channels x H
 * x W. */
static enum dse_status check_one_operand(const struct network_reader *reader, const struct layer *layer,
                                         struct shape *from, struct dse_error *err)
{
    uint64_t channels = 0;
    for (uint32_t i = 0; i < layer->n_producer; i++)
        channels += producer_shape(reader, layer->producer[i]).c;
    if (channels == layer->c)
        return DSE_OK;
    if (layer->type == LAYER_LINEAR && layer->p == 1 && layer->q == 1 &&
        (double)channels * from->h * from->w == (double)layer->c) {
        from->h = 1;
        from->w = 1;
        return DSE_OK;
    }
    if (layer->type == LAYER_LINEAR && (uint64_t)from->h * from->w > 1)
        return network_fail_layer(
            reader, layer, err,
            "C is %u, but its producers give %llu channels of %ux%u; accepted are C = %llu "
            "with the same P and Q, or flattened C = %.0f with P = Q = 1",
            layer->c, (unsigned long long)channels, from->h, from->w, (unsigned long long)channels,
            (double)channels * from->h * from->w);
    return fail_channels(reader, layer, channels, err);
}

/* add, mul: producers fill one operand of C channels after the other. */
static enum dse_status count_operands(const struct network_reader *reader, struct layer *layer,
                                      struct dse_error *err)
{
    uint64_t channels = 0;
    layer->n_operand = 0;
    for (uint32_t i = 0; i < layer->n_producer; i++) {
        uint32_t more = producer_shape(reader, layer->producer[i]).c;
        if (channels == 0 && more > layer->c)
            return network_fail_layer(reader, layer, err, "C is %u, but its producer %s gives %u channels",
                                      layer->c, producer_name(reader, layer->producer[i]), more);
        channels += more;
        if (channels > layer->c)
            break;
        if (channels == layer->c) {
            layer->n_operand++;
            channels = 0;
        }
    }
    if (channels != 0)
        return network_fail_layer(
            reader, layer, err,
            "its producers do not fill whole operands of C = %u channels (%llu channels in the last one)",
            layer->c, (unsigned long long)channels);
    if (layer->n_operand < 2)
        return network_fail_layer(reader, layer, err,
                                  "%s needs two or more operands of C = %u channels, has %u",
                                  layer_type_text(layer->type), layer->c, layer->n_operand);
    return DSE_OK;
}

/* One direction of a sliding window: `have` input rows must give exactly `out` output rows (rounding down).
 * */
static enum dse_status check_window(const struct network_reader *reader, const struct layer *layer,
                                    int direction, uint32_t have, struct dse_error *err)
{
    uint32_t out = direction == 0 ? layer->p : layer->q;
    uint32_t filter = direction == 0 ? layer->r : layer->s;
    uint64_t stride = layer->stride[direction];
    uint64_t reach = (uint64_t)(filter - 1) * layer->dilation[direction] + 1;
    uint64_t need = (out - 1) * stride + reach;
    uint64_t padded = (uint64_t)have + layer->pad[direction] + layer->pad[direction + 2];
    if (padded >= need && padded - need < stride)
        return DSE_OK;
    uint64_t right = padded >= reach ? (padded - reach) / stride + 1 : 0;
    return network_fail_layer(
        reader, layer, err,
        "%s is %u, but %s %u with padding %u and %u gives %llu (filter reach %llu, stride %llu)",
        direction == 0 ? "P" : "Q", out, direction == 0 ? "H" : "W", have, layer->pad[direction],
        layer->pad[direction + 2], (unsigned long long)right, (unsigned long long)reach,
        (unsigned long long)stride);
}

/* conv and pool: H and W from the file, else from the producers, else just large enough. */
static enum dse_status set_window_input(const struct network_reader *reader, struct layer *layer,
                                        const struct shape *from, struct dse_error *err)
{
    uint32_t *size[2] = {&layer->h, &layer->w};
    for (int direction = 0; direction < 2; direction++) {
        uint32_t given = *size[direction];
        if (from != NULL) {
            uint32_t has = direction == 0 ? from->h : from->w;
            if (given != 0 && given != has)
                return network_fail_layer(reader, layer, err, "%s is %u, but its producer %s gives %u",
                                          direction == 0 ? "H" : "W", given,
                                          producer_name(reader, layer->producer[0]), has);
            *size[direction] = has;
        } else if (given == 0) {
            uint32_t out = direction == 0 ? layer->p : layer->q;
            uint32_t filter = direction == 0 ? layer->r : layer->s;
            uint64_t need = (uint64_t)(out - 1) * layer->stride[direction] +
                            (uint64_t)(filter - 1) * layer->dilation[direction] + 1;
            uint64_t pads = (uint64_t)layer->pad[direction] + layer->pad[direction + 2];
            uint64_t least = need > pads ? need - pads : 1;
            if (least > NETWORK_DIM_MAX)
                return dse_fail_at(err, DSE_LIMIT, reader->doc->path, layer->line,
                                   "layer %s: its input would be %llu wide or high; up to %d is supported",
                                   layer->name, (unsigned long long)least, NETWORK_DIM_MAX);
            *size[direction] = (uint32_t)least;
        }
        DSE_TRY(check_window(reader, layer, direction, *size[direction], err));
    }
    return DSE_OK;
}

/* conv_transpose, upsample, crop: one direction of what they make of `have` input rows. */
static enum dse_status check_growth(const struct network_reader *reader, const struct layer *layer,
                                    int direction, uint32_t have, struct dse_error *err)
{
    const char *out_name = direction == 0 ? "P" : "Q", *in_name = direction == 0 ? "H" : "W";
    uint64_t out = direction == 0 ? layer->p : layer->q, stride = layer->stride[direction];
    uint64_t filter = direction == 0 ? layer->r : layer->s;
    uint64_t pads = (uint64_t)layer->pad[direction] + layer->pad[direction + 2];
    if (layer->type == LAYER_UPSAMPLE) {
        if (out == have * stride)
            return DSE_OK;
        return network_fail_layer(reader, layer, err, "%s is %llu, but %s %u times the factor %llu is %llu",
                                  out_name, (unsigned long long)out, in_name, have,
                                  (unsigned long long)stride, (unsigned long long)(have * stride));
    }
    if (layer->type == LAYER_CROP) {
        if (layer->pad[direction] + out <= have)
            return DSE_OK;
        return network_fail_layer(reader, layer, err, "%s %llu behind offset %u is more than %s %u", out_name,
                                  (unsigned long long)out, layer->pad[direction], in_name, have);
    }
    uint64_t whole = (have - 1) * stride + (filter - 1) * layer->dilation[direction] + 1;
    uint64_t least = whole > pads ? whole - pads : 1;
    if (out >= least && out - least < stride)
        return DSE_OK;
    return network_fail_layer(reader, layer, err,
                              "%s is %llu, but %s %u with stride %llu, padding %u and %u gives %llu, with "
                              "output padding up to %llu",
                              out_name, (unsigned long long)out, in_name, have, (unsigned long long)stride,
                              layer->pad[direction], layer->pad[direction + 2], (unsigned long long)least,
                              (unsigned long long)(least + stride - 1));
}

/* The fewest input rows that give a layer's output. */
static uint32_t least_input(const struct layer *layer, int direction)
{
    uint64_t out = direction == 0 ? layer->p : layer->q, stride = layer->stride[direction];
    uint64_t filter = direction == 0 ? layer->r : layer->s;
    uint64_t reach = (filter - 1) * layer->dilation[direction] + 1;
    uint64_t pads = (uint64_t)layer->pad[direction] + layer->pad[direction + 2];
    if (layer->type == LAYER_CROP)
        return (uint32_t)(out + layer->pad[direction]);
    if (layer->type == LAYER_UPSAMPLE)
        return (uint32_t)((out - 1) / stride + 1);
    return (uint32_t)(out + pads > reach ? (out + pads - reach) / stride + 1 : 1);
}

/* conv_transpose, upsample, crop: H and W as set_window_input finds them. */
static enum dse_status set_growth_input(const struct network_reader *reader, struct layer *layer,
                                        const struct shape *from, struct dse_error *err)
{
    uint32_t *size[2] = {&layer->h, &layer->w};
    for (int direction = 0; direction < 2; direction++) {
        uint32_t given = *size[direction], out = direction == 0 ? layer->p : layer->q;
        if (from != NULL)
            *size[direction] = direction == 0 ? from->h : from->w;
        else if (given == 0)
            *size[direction] = least_input(layer, direction);
        uint32_t have = *size[direction];
        if (given != 0 && given != have)
            return network_fail_layer(reader, layer, err, "%s is %u, but its producer %s gives %u",
                                      direction == 0 ? "H" : "W", given,
                                      producer_name(reader, layer->producer[0]), have);
        if (layer->centred && have > out)
            layer->pad[direction] = (have - out) / 2;
        DSE_TRY(check_growth(reader, layer, direction, have, err));
    }
    return DSE_OK;
}

/* A transpose's H and W follow from its outputs; C is checked against them. */
static enum dse_status set_transpose_input(const struct network_reader *reader, struct layer *layer,
                                           struct dse_error *err)
{
    const uint32_t out[3] = {layer->k, layer->p, layer->q};
    for (int i = 0; i < 3; i++) {
        if (layer->permute[i] == 'H')
            layer->h = out[i];
        else if (layer->permute[i] == 'W')
            layer->w = out[i];
        else if (out[i] != layer->c)
            return network_fail_layer(reader, layer, err, "with permute %s %c must be C = %u, is %u",
                                      layer->permute, "KPQ"[i], layer -> c, out[i]);
    }
    return DSE_OK;
}

static bool has_window(const struct layer *layer)
{
    return layer->type == LAYER_CONV || layer->type == LAYER_POOL;
}

/* H and W of a layer of a list, or of one whose size does not change. */
static enum dse_status set_input_size(const struct network_reader *reader, struct layer *layer,
                                      const struct shape *from, struct dse_error *err)
{
    if (has_window(layer))
        return set_window_input(reader, layer, from, err);
    if (layer->type == LAYER_CONV_TRANSPOSE || layer->type == LAYER_UPSAMPLE || layer->type == LAYER_CROP)
        return set_growth_input(reader, layer, from, err);
    if (layer->type == LAYER_TRANSPOSE) {
        DSE_TRY(set_transpose_input(reader, layer, err));
    } else {
        layer->h = layer->p;
        layer->w = layer->q;
    }
    if (from != NULL && (from->h != layer->h || from->w != layer->w))
        return network_fail_layer(reader, layer, err, "it reads %ux%u, but its producer %s gives %ux%u",
                                  layer->h, layer->w, producer_name(reader, layer->producer[0]), from->h,
                                  from->w);
    return DSE_OK;
}

/* matmul: the second operand has as many words as the weights of the same linear layer. */
static enum dse_status check_second_operand(const struct network_reader *reader, const struct layer *layer,
                                            struct dse_error *err)
{
    struct shape second = producer_shape(reader, layer->weight_producer);
    double has = (double)second.c * second.h * second.w;
    double needs = (double)layer_second_operand_words(layer);
    if (has == needs)
        return DSE_OK;
    return network_fail_layer(
        reader, layer, err,
        "its second operand needs K x C / groups = %.0f words, but %s gives %u x %u x %u = %.0f", needs,
        producer_name(reader, layer->weight_producer), second.c, second.h, second.w, has);
}

static enum dse_status check_counts(const struct network_reader *reader, const struct layer *layer,
                                    struct dse_error *err)
{
    double in = (double)layer->c * layer->h * layer->w * layer->n_operand;
    double out = (double)layer->k * layer->p * layer->q;
    if (fmax(in, out) >= EXACT_COUNT_MAX)
        return dse_fail_at(err, DSE_LIMIT, reader->doc->path, layer->line,
                           "layer %s: %.3g words of input or output; below 2^53 = 9.007e15 are supported",
                           layer->name, fmax(in, out));
    if (!layer_has_macs(layer))
        return DSE_OK;
    struct problem problem;
    struct dse_error inner = {0};
    enum dse_status status = layer_problem(layer, 1, &problem, &inner);
    return status == DSE_OK ? DSE_OK
                            : dse_fail_at(err, status, reader->doc->path, layer->line, "%s", inner.text);
}

static enum dse_status check_layer(const struct network_reader *reader, struct layer *layer,
                                   struct dse_error *err)
{
    if (layer->type == LAYER_EINSUM)
        return DSE_OK; /* checked as it was read */
    if (!reader->net->is_graph) {
        DSE_TRY(set_input_size(reader, layer, NULL, err));
        return check_counts(reader, layer, err);
    }
    struct shape from;
    DSE_TRY(producer_size(reader, layer, &from, err));
    if (layer->type == LAYER_ADD || layer->type == LAYER_MUL)
        DSE_TRY(count_operands(reader, layer, err));
    else if (layer->type != LAYER_EMBEDDING)
        DSE_TRY(check_one_operand(reader, layer, &from, err));
    DSE_TRY(set_input_size(reader, layer, &from, err));
    if (layer->type == LAYER_MATMUL)
        DSE_TRY(check_second_operand(reader, layer, err));
    return check_counts(reader, layer, err);
}

/* Whether what is wrong with a layer may only follow from what is wrong with it, or with its producers. */
static bool is_moot(const struct network_reader *reader, uint32_t l)
{
    const struct layer *layer = &reader->layer[l];
    bool moot = reader->bad[l] || (reader->net->is_graph && layer->n_producer == 0);
    for (uint32_t i = 0; i < layer->n_producer; i++)
        moot |= layer->producer[i] >= 0 ? reader->bad[layer->producer[i]] : reader->has_bad_input;
    if (layer->weight_producer >= 0)
        moot |= reader->bad[layer->weight_producer];
    return moot;
}

enum dse_status network_check_shapes(struct network_reader *reader, struct dse_error *err)
{
    const uint32_t *order = reader->net->order;
    for (uint32_t i = 0; i < reader->net->n_layer; i++) {
        uint32_t l = order ? order[i] : i; /* none: something was noted before */
        if (!is_moot(reader, l))
            DSE_NOTE(reader->doc->faults, check_layer(reader, &reader->layer[l], err));
    }
    return DSE_OK;
}
