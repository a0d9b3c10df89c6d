/* Instructions from their text form. */
#include <string.h>

#include "base/name_table.h"
#include "base/yaml.h"
#include "engines/soma/machine/instructions.h"

static const uint64_t byte_max = UINT64_C(1) << 62; /* sums of two stay exact */
static const uint64_t cycle_max = UINT64_C(1)
                                  << 40; /* of one instruction; times of 2^20 of them stay exact */

struct reader {
    struct yaml_doc doc;
    struct arena *arena;
    struct name_table table;
    struct instruction_program *program;
};

static enum dse_status out_of_memory(const struct reader *r, struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the instructions of %s", r->doc.path);
}

static enum dse_status number(const struct reader *r, const struct ynode *node, const char *what,
                              const char *key, uint64_t highest, uint64_t *value, struct dse_error *err)
{
    const struct ynode *found = NULL;
    DSE_TRY(yaml_require(&r->doc, node, what, key, &found, err));
    return yaml_u64(&r->doc, found, key, 0, highest, value, err);
}

static enum dse_status optional(const struct reader *r, const struct ynode *node, const char *key,
                                uint64_t highest, uint64_t *value, struct dse_error *err)
{
    const struct ynode *found = yaml_find(node, key);
    return found ? yaml_u64(&r->doc, found, key, 0, highest, value, err) : DSE_OK;
}

static enum dse_status count_of(const struct reader *r, const struct ynode *node, const char *what,
                                const char *key, uint32_t *value, struct dse_error *err)
{
    uint64_t wide = 0;
    DSE_TRY(number(r, node, what, key, UINT32_MAX - 1, &wide, err));
    *value = (uint32_t)wide;
    return DSE_OK;
}

/* A name's number; a new one when it was not seen before. */
static enum dse_status name_of(struct reader *r, const struct ynode *node, const char *what, uint32_t *index,
                               struct dse_error *err)
{
    const char *text = NULL;
    size_t found = 0;
    DSE_TRY(yaml_text(&r->doc, node, what, &text, err));
    if (!name_table_get(&r->table, text, &found)) {
        found = r->program->n_name++;
        r->program->name[found] = arena_copy_text(r->arena, text, strlen(text));
        if (!r->program->name[found] || !name_table_put(&r->table, r->program->name[found], found))
            return out_of_memory(r, err);
    }
    *index = (uint32_t)found;
    return DSE_OK;
}

static enum dse_status add_room(struct reader *r, const struct ynode *node, uint64_t tensor, uint64_t offset,
                                uint64_t byte, struct dse_error *err)
{
    if (tensor >= INSTRUCTION_TENSOR_MAX)
        return yaml_fail(&r->doc, node, err, "tensor %llu; numbers must be less than %d",
                         (unsigned long long)tensor, INSTRUCTION_TENSOR_MAX);
    r->program->room[r->program->n_room++] = (struct instruction_room){(uint32_t)tensor, offset, byte};
    return DSE_OK;
}

static enum dse_status read_rooms(struct reader *r, const struct ynode *node, const char *what, uint32_t *n,
                                  struct dse_error *err)
{
    DSE_TRY(yaml_is_sequence(&r->doc, node, what, err));
    for (size_t i = 0; i < node->n_item; i++) {
        const struct ynode *item = node->item[i];
        uint64_t tensor = 0, offset = 0, byte = 0;
        if (item->kind != YNODE_SEQUENCE || item->n_item != 3)
            return yaml_fail(&r->doc, item, err, "%s needs [tensor, offset, bytes] for each tensor", what);
        DSE_TRY(yaml_u64(&r->doc, item->item[0], "tensor", 0, UINT32_MAX - 1, &tensor, err));
        DSE_TRY(yaml_u64(&r->doc, item->item[1], "offset", 0, byte_max, &offset, err));
        DSE_TRY(yaml_u64(&r->doc, item->item[2], "bytes", 0, byte_max, &byte, err));
        DSE_TRY(add_room(r, item, tensor, offset, byte, err));
    }
    *n = (uint32_t)node->n_item;
    return DSE_OK;
}

static enum dse_status read_compute(struct reader *r, const struct ynode *node, struct instruction *it,
                                    struct dse_error *err)
{
    static const char *const key[] = {"compute", "tile", "cycles", "wait", "ahead", "reads", "writes"};
    static const char what[] = "a compute instruction";
    const struct ynode *layer = NULL, *reads = NULL, *writes = NULL;
    DSE_TRY(yaml_check_keys(&r->doc, node, what, key, sizeof key / sizeof key[0], err));
    DSE_TRY(yaml_require(&r->doc, node, what, "compute", &layer, err));
    DSE_TRY(yaml_require(&r->doc, node, what, "reads", &reads, err));
    DSE_TRY(yaml_require(&r->doc, node, what, "writes", &writes, err));
    DSE_TRY(name_of(r, layer, "compute", &it->name, err));
    it->owner = it->name;
    DSE_TRY(count_of(r, node, what, "tile", &it->tile, err));
    DSE_TRY(optional(r, node, "ahead", it->wait ? it->cycle : 0, &it->ahead, err));
    DSE_TRY(read_rooms(r, reads, "reads", &it->n_read, err));
    return read_rooms(r, writes, "writes", &it->n_write, err);
}

/* Of a transfer: offset and bytes, or [offset, bytes] of several pieces; or what goes past the buffer. */
static enum dse_status read_place(struct reader *r, const struct ynode *node, struct instruction *it,
                                  uint64_t tensor, struct dse_error *err)
{
    const char *word = instruction_kind_text(it->kind);
    const struct ynode *pieces = yaml_find(node, "pieces");
    const struct ynode *stream = yaml_find(node, "stream");
    uint64_t offset = 0, byte = 0;
    uint32_t n = 1;
    if (stream &&
        (pieces || yaml_find(node, "offset") || yaml_find(node, "bytes") || yaml_find(node, "dram_bytes")))
        return yaml_fail(
            &r->doc, stream, err,
            "what is streamed has no place in the buffer; stream stands in place of offset, bytes, "
            "pieces and dram_bytes");
    if (stream) {
        it->streamed = true;
        *(it->kind == INSTRUCTION_STORE ? &it->n_read : &it->n_write) = 1;
        DSE_TRY(add_room(r, node, tensor, 0, 0, err));
        return yaml_u64(&r->doc, stream, "stream", 0, byte_max, &it->dram_byte, err);
    }
    if (!pieces) {
        DSE_TRY(number(r, node, word, "offset", byte_max, &offset, err));
        DSE_TRY(number(r, node, word, "bytes", byte_max, &byte, err));
        DSE_TRY(add_room(r, node, tensor, offset, byte, err));
        it->dram_byte = byte;
    } else {
        DSE_TRY(yaml_is_sequence(&r->doc, pieces, "pieces", err));
        if (pieces->n_item < 2 || yaml_find(node, "offset") || yaml_find(node, "bytes"))
            return yaml_fail(&r->doc, pieces, err,
                             "pieces needs two or more [offset, bytes], and stands in "
                             "place of offset and bytes");
        n = (uint32_t)pieces->n_item;
    }
    for (uint32_t k = 0; pieces && k < n; k++) {
        const struct ynode *item = pieces->item[k];
        if (item->kind != YNODE_SEQUENCE || item->n_item != 2)
            return yaml_fail(&r->doc, item, err, "pieces needs [offset, bytes] for each piece");
        DSE_TRY(yaml_u64(&r->doc, item->item[0], "offset", 0, byte_max, &offset, err));
        DSE_TRY(yaml_u64(&r->doc, item->item[1], "bytes", 0, byte_max - it->dram_byte, &byte, err));
        DSE_TRY(add_room(r, item, tensor, offset, byte, err));
        it->dram_byte += byte;
    }
    *(it->kind == INSTRUCTION_STORE ? &it->n_read : &it->n_write) = n;
    byte = it->dram_byte;
    return optional(r, node, "dram_bytes", byte, &it->dram_byte, err);
}

static enum dse_status read_transfer(struct reader *r, const struct ynode *node, struct instruction *it,
                                     struct dse_error *err)
{
    static const char *const key[] = {"load",       "store", "stream", "offset",  "bytes", "pieces", "cycles",
                                      "dram_bytes", "wait",  "input",  "weights", "map",   "rows",   "of"};
    const char *word = instruction_kind_text(it->kind);
    const struct ynode *of = NULL;
    uint64_t tensor = 0, tile = 0;
    uint32_t n_data = 0;
    DSE_TRY(yaml_check_keys(&r->doc, node, word, key, sizeof key / sizeof key[0], err));
    DSE_TRY(number(r, node, word, word, UINT32_MAX - 1, &tensor, err));
    DSE_TRY(read_place(r, node, it, tensor, err));
    for (int data = INSTRUCTION_INPUT; data < N_INSTRUCTION_DATA; data++) {
        const struct ynode *name = yaml_find(node, instruction_data_text((enum instruction_data)data));
        if (!name)
            continue;
        it->data = (enum instruction_data)data;
        DSE_TRY(name_of(r, name, instruction_data_text(it->data), &it->name, err));
        n_data++;
    }
    if (n_data != 1 || (it->kind == INSTRUCTION_STORE && it->data != INSTRUCTION_MAP))
        return yaml_fail(&r->doc, node, err, "%s",
                         it->kind == INSTRUCTION_STORE ? "a store needs the map that it goes to"
                                                       : "a load needs one of input, weights, map and rows");
    DSE_TRY(yaml_require(&r->doc, node, word, "of", &of, err));
    if (of->kind != YNODE_SEQUENCE || of->n_item != 2)
        return yaml_fail(&r->doc, of, err, "of needs [layer, tile]");
    DSE_TRY(name_of(r, of->item[0], "of", &it->owner, err));
    DSE_TRY(yaml_u64(&r->doc, of->item[1], "tile", 0, UINT32_MAX - 1, &tile, err));
    it->tile = (uint32_t)tile;
    return DSE_OK;
}

static enum dse_status read_instruction(struct reader *r, const struct ynode *node, struct instruction *it,
                                        struct dse_error *err)
{
    uint64_t wait = 0;
    it->first_room = r->program->n_room;
    it->kind = yaml_find(node, "load")    ? INSTRUCTION_LOAD
               : yaml_find(node, "store") ? INSTRUCTION_STORE
                                          : INSTRUCTION_COMPUTE;
    if (it->kind == INSTRUCTION_COMPUTE && !yaml_find(node, "compute"))
        return yaml_fail(&r->doc, node, err, "an instruction is a load, a store or a compute");
    DSE_TRY(number(r, node, "an instruction", "cycles", cycle_max, &it->cycle, err));
    DSE_TRY(optional(r, node, "wait", UINT32_MAX - 1, &wait, err));
    it->wait = (uint32_t)wait;
    return it->kind == INSTRUCTION_COMPUTE ? read_compute(r, node, it, err) : read_transfer(r, node, it, err);
}

static enum dse_status read_head(struct reader *r, struct dse_error *err)
{
    static const char *const key[] = {"instructions", "network", "buffer", "count", "cycles", "stream"};
    static const char *const buffer_key[] = {"bytes", "alignment", "peak", "living"};
    static const char *const count_key[] = {"load", "store", "compute"};
    static const char what[] = "an instruction stream";
    const struct ynode *root = r->doc.root, *name = NULL, *buffer = NULL, *count = NULL, *version = NULL;
    struct instruction_program *p = r->program;
    const char *text = NULL;
    uint64_t number_1 = 1;
    DSE_TRY(yaml_check_keys(&r->doc, root, what, key, sizeof key / sizeof key[0], err));
    DSE_TRY(yaml_require(&r->doc, root, what, "instructions", &version, err));
    DSE_TRY(yaml_u64(&r->doc, version, "instructions", 1, 1, &number_1, err));
    DSE_TRY(yaml_require(&r->doc, root, what, "network", &name, err));
    DSE_TRY(yaml_text(&r->doc, name, "network", &text, err));
    p->network = arena_copy_text(r->arena, text, strlen(text));
    if (!p->network)
        return out_of_memory(r, err);
    DSE_TRY(yaml_require(&r->doc, root, what, "buffer", &buffer, err));
    DSE_TRY(yaml_check_keys(&r->doc, buffer, "buffer", buffer_key, 4, err));
    DSE_TRY(number(r, buffer, "buffer", "bytes", byte_max, &p->buffer_byte, err));
    DSE_TRY(number(r, buffer, "buffer", "alignment", byte_max, &p->alignment, err));
    DSE_TRY(number(r, buffer, "buffer", "peak", byte_max, &p->peak_byte, err));
    DSE_TRY(number(r, buffer, "buffer", "living", byte_max, &p->living_byte, err));
    DSE_TRY(yaml_require(&r->doc, root, what, "count", &count, err));
    DSE_TRY(yaml_check_keys(&r->doc, count, "count", count_key, 3, err));
    DSE_TRY(count_of(r, count, "count", "load", &p->n_load, err));
    DSE_TRY(count_of(r, count, "count", "store", &p->n_store, err));
    DSE_TRY(count_of(r, count, "count", "compute", &p->n_compute, err));
    return number(r, root, what, "cycles", byte_max, &p->cycle, err);
}

static size_t rooms_in(const struct ynode *node)
{
    static const char *const key[] = {"reads", "writes", "pieces"};
    size_t n = 1;
    for (size_t k = 0; k < sizeof key / sizeof key[0]; k++) {
        const struct ynode *list = yaml_find(node, key[k]);
        n += list ? list->n_item : 0;
    }
    return n;
}

static enum dse_status read_program(struct reader *r, struct dse_error *err)
{
    struct instruction_program *p = r->program;
    const struct ynode *stream = NULL;
    size_t n_room = 0;
    DSE_TRY(read_head(r, err));
    DSE_TRY(yaml_require(&r->doc, r->doc.root, "an instruction stream", "stream", &stream, err));
    DSE_TRY(yaml_is_sequence(&r->doc, stream, "stream", err));
    for (size_t i = 0; i < stream->n_item; i++)
        n_room += rooms_in(stream->item[i]);
    p->instruction = arena_alloc(r->arena, stream->n_item + 1, sizeof *p->instruction);
    p->room = arena_alloc(r->arena, n_room + 1, sizeof *p->room);
    p->name = arena_alloc(r->arena, 2 * stream->n_item + 1, sizeof *p->name);
    if (!p->instruction || !p->room || !p->name)
        return out_of_memory(r, err);
    for (size_t i = 0; i < stream->n_item; i++) {
        DSE_TRY(read_instruction(r, stream->item[i], &p->instruction[i], err));
        p->n_instruction++;
    }
    return DSE_OK;
}

enum dse_status instruction_read(const char *path, const char *bytes, size_t length, struct arena *arena,
                                 struct instruction_program *program, struct dse_error *err)
{
    struct reader r = {.arena = arena, .program = program};
    *program = (struct instruction_program){0};
    DSE_TRY(yaml_parse(&r.doc, path, bytes, length, err));
    name_table_init(&r.table);
    enum dse_status status = read_program(&r, err);
    name_table_free(&r.table);
    yaml_doc_free(&r.doc);
    return status;
}
