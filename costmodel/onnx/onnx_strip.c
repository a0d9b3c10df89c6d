/* One pass over the wire format of protocol buffers, by a table of the fields that are kept of each message;
 * all others are skipped by their length. (https://protobuf.dev/programming-guides/encoding; the numbers are
 * those of onnx.proto.) A message that was entered gets a length of five bytes, filled in when it is done. */
#include "costmodel/onnx/onnx_strip.h"

#include <stdbool.h>
#include <string.h>

enum message {
    MESSAGE_NONE, /* kept as it is */
    MESSAGE_MODEL,
    MESSAGE_GRAPH,
    MESSAGE_NODE,
    MESSAGE_ATTRIBUTE,
    MESSAGE_TENSOR,
    MESSAGE_SPARSE,
    MESSAGE_VALUE_INFO,
    MESSAGE_TYPE,
    MESSAGE_TENSOR_TYPE
};

/* A field that is kept, and the message that it is, where that is entered. */
static const struct {
    uint8_t message, number, into;
} kept[] = {
    {MESSAGE_MODEL, 1, 0}, /* ir_version */
    {MESSAGE_MODEL, 2, 0}, /* producer_name */
    {MESSAGE_MODEL, 7, MESSAGE_GRAPH},
    {MESSAGE_MODEL, 8, 0}, /* opset_import */
    {MESSAGE_GRAPH, 1, MESSAGE_NODE},
    {MESSAGE_GRAPH, 2, 0}, /* name */
    {MESSAGE_GRAPH, 5, MESSAGE_TENSOR},
    {MESSAGE_GRAPH, 11, MESSAGE_VALUE_INFO}, /* input, output, value_info */
    {MESSAGE_GRAPH, 12, MESSAGE_VALUE_INFO},
    {MESSAGE_GRAPH, 13, MESSAGE_VALUE_INFO},
    {MESSAGE_GRAPH, 15, MESSAGE_SPARSE},
    {MESSAGE_NODE, 1, 0}, /* input, output, name, op_type, domain */
    {MESSAGE_NODE, 2, 0},
    {MESSAGE_NODE, 3, 0},
    {MESSAGE_NODE, 4, 0},
    {MESSAGE_NODE, 5, MESSAGE_ATTRIBUTE},
    {MESSAGE_NODE, 7, 0},
    {MESSAGE_ATTRIBUTE, 1, 0}, /* name, f, i, s, floats, ints, strings, type */
    {MESSAGE_ATTRIBUTE, 2, 0},
    {MESSAGE_ATTRIBUTE, 3, 0},
    {MESSAGE_ATTRIBUTE, 4, 0},
    {MESSAGE_ATTRIBUTE, 5, MESSAGE_TENSOR},
    {MESSAGE_ATTRIBUTE, 7, 0},
    {MESSAGE_ATTRIBUTE, 8, 0},
    {MESSAGE_ATTRIBUTE, 9, 0},
    {MESSAGE_ATTRIBUTE, 20, 0},
    {MESSAGE_TENSOR, 1, 0}, /* dims, data_type, name; data by is_small */
    {MESSAGE_TENSOR, 2, 0},
    {MESSAGE_TENSOR, 8, 0},
    {MESSAGE_SPARSE, 1, MESSAGE_TENSOR},
    {MESSAGE_SPARSE, 3, 0}, /* dims */
    {MESSAGE_VALUE_INFO, 1, 0},
    {MESSAGE_VALUE_INFO, 2, MESSAGE_TYPE},
    {MESSAGE_TYPE, 1, MESSAGE_TENSOR_TYPE},
    {MESSAGE_TENSOR_TYPE, 1, 0}, /* elem_type, shape */
    {MESSAGE_TENSOR_TYPE, 2, 0},
};
enum { N_KEPT = sizeof kept / sizeof kept[0] };

/* float_data, int32_data, int64_data, raw_data, double_data, uint64_data */
#define DATA_FIELDS ((1u << 4) | (1u << 5) | (1u << 7) | (1u << 9) | (1u << 10) | (1u << 11))
enum { FIELD_DATA_TYPE = 2, WHOLE_BYTE_MAX = 32 << 10, REAL_BYTE_MAX = 256 };

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };
enum { LENGTH_BYTES = 5 };

struct field {
    uint32_t number, wire;
    const uint8_t *start, *body, *end; /* key, value behind a length, where the next one begins */
    uint64_t value;                    /* of a varint */
};

struct strip {
    const char *name;
    const uint8_t *bytes;
    struct text_buffer *out;
    struct dse_error *err;
};

static enum dse_status broken(const struct strip *s, const uint8_t *at)
{
    return dse_fail_at(s->err, DSE_BAD_INPUT, s->name, 0,
                       "no ONNX model, or one that is cut off: byte %zu is no field of one",
                       (size_t)(at - s->bytes));
}

static const uint8_t *read_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; at < end && shift < 70; shift += 7, at++) {
        *value |= shift < 64 ? (uint64_t)(*at & 127) << shift : 0;
        if (*at < 128)
            return at + 1;
    }
    return NULL;
}

static enum dse_status next_field(const struct strip *s, const uint8_t *at, const uint8_t *end,
                                  struct field *field)
{
    uint64_t key, size = 0;
    field->start = at;
    const uint8_t *body = read_varint(at, end, &key);
    if (!body || key >> 3 == 0 || key >> 3 > UINT32_MAX)
        return broken(s, at);
    field->number = (uint32_t)(key >> 3);
    field->wire = (uint32_t)(key & 7);
    if (field->wire == WIRE_VARINT)
        field->end = read_varint(body, end, &field->value);
    if (field->wire == WIRE_VARINT && !field->end)
        return broken(s, at);
    if (field->wire == WIRE_VARINT)
        size = (uint64_t)(field->end - body);
    else if (field->wire == WIRE_BYTES)
        body = read_varint(body, end, &size);
    else if (field->wire == WIRE_64 || field->wire == WIRE_32)
        size = field->wire == WIRE_64 ? 8 : 4;
    else
        body = NULL;
    if (!body || size > (uint64_t)(end - body))
        return broken(s, at);
    field->body = body;
    field->end = body + size;
    return DSE_OK;
}

/* What of a tensor's data is worth keeping: whole numbers may be sizes, a few real ones scales. */
static enum dse_status data_room(const struct strip *s, const uint8_t *at, const uint8_t *end, size_t *room)
{
    uint64_t type = 0;
    struct field field;
    for (; at < end; at = field.end) {
        DSE_TRY(next_field(s, at, end, &field));
        if (field.number == FIELD_DATA_TYPE && field.wire == WIRE_VARINT)
            type = field.value;
    }
    const bool whole = type == 6 || type == 7 || type == 9 || type == 12 || type == 13;
    *room = whole ? WHOLE_BYTE_MAX : REAL_BYTE_MAX;
    return DSE_OK;
}

static const uint8_t *into_of(enum message message, const struct field *field)
{
    for (size_t i = 0; i < N_KEPT; i++)
        if (kept[i].message == message && kept[i].number == field->number)
            return &kept[i].into;
    return NULL;
}

static enum dse_status keep(const struct strip *s, const uint8_t *from, const uint8_t *to)
{
    const size_t n = (size_t)(to - from);
    if (n > ONNX_STRIPPED_MAX || s->out->length + n > ONNX_STRIPPED_MAX)
        return dse_fail_at(s->err, DSE_LIMIT, s->name, 0,
                           "the model without its weights is larger than %d MiB", ONNX_STRIPPED_MAX >> 20);
    text_append_bytes(s->out, (const char *)from, n);
    return text_check(s->out, "an ONNX model", s->err);
}

/* The depth is that of the table. */
static enum dse_status strip_message(const struct strip *s, enum message message, const uint8_t *at,
                                     const uint8_t *end)
{
    struct field field;
    size_t room = 0;
    if (message == MESSAGE_TENSOR)
        DSE_TRY(data_room(s, at, end, &room));
    for (; at < end; at = field.end) {
        DSE_TRY(next_field(s, at, end, &field));
        const uint8_t *into = into_of(message, &field);
        const size_t size = (size_t)(field.end - field.start);
        if (message == MESSAGE_TENSOR && field.number < 32 && DATA_FIELDS >> field.number & 1) {
            DSE_TRY(size <= room ? keep(s, field.start, field.end) : DSE_OK);
            room -= size <= room ? size : 0;
        } else if (into && *into != MESSAGE_NONE && field.wire == WIRE_BYTES) {
            static const uint8_t unset[LENGTH_BYTES] = {128, 128, 128, 128, 0};
            const uint8_t key = (uint8_t)(field.number << 3 | WIRE_BYTES); /* all below 16 are one byte */
            DSE_TRY(keep(s, &key, &key + 1));
            DSE_TRY(keep(s, unset, unset + LENGTH_BYTES));
            const size_t begin = s->out->length;
            DSE_TRY(strip_message(s, (enum message) * into, field.body, field.end));
            for (size_t i = 0, n = s->out->length - begin; i < LENGTH_BYTES; i++, n >>= 7)
                s->out->data[begin - LENGTH_BYTES + i] = (char)((n & 127) | (i + 1 < LENGTH_BYTES ? 128 : 0));
        } else if (into && *into == MESSAGE_NONE) {
            DSE_TRY(keep(s, field.start, field.end));
        }
    }
    return DSE_OK;
}

enum dse_status onnx_strip(const char *name, const uint8_t *bytes, size_t length, struct text_buffer *out,
                           struct dse_error *err)
{
    const struct strip s = {name, bytes, out, err};
    return strip_message(&s, MESSAGE_MODEL, bytes, bytes + length);
}
