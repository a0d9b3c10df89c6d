/* The abstract instructions that a fused schedule becomes (SoMa, HPCA 2025, section II and figure 5): load,
 * store and compute on tensors at offsets of the global buffer, for two engines that each work in order and
 * wait for each other by counting. The form is ours (docs/instructions.md). */
#ifndef ENGINES_SOMA_MACHINE_INSTRUCTIONS_H
#define ENGINES_SOMA_MACHINE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

enum { INSTRUCTION_TENSOR_MAX = 1 << 25 }; /* numbers of tensors are less; as in notation.h */

enum instruction_kind { INSTRUCTION_LOAD, INSTRUCTION_STORE, INSTRUCTION_COMPUTE };

/* What lies in the DRAM: an input of the network, a layer's weights, a layer's feature map; rows of an
 * embedding's table, which are gathered by their indices and have these in front. */
enum instruction_data {
    INSTRUCTION_INPUT,
    INSTRUCTION_WEIGHTS,
    INSTRUCTION_MAP,
    INSTRUCTION_ROWS,
    N_INSTRUCTION_DATA
};

/* A tensor in the buffer, or a piece of one: all pieces stand one after another, in the order of the tensor's
 * bytes. */
struct instruction_room {
    uint32_t tensor;
    uint64_t offset, byte;
};

struct instruction {
    enum instruction_kind kind;
    enum instruction_data data; /* load, store */
    uint32_t name; /* load, store: of the data; compute: the layer; into struct instruction_program's */
    /* compute: which tile of the layer; load, store: whose tile the tensor is, 0 for weights */
    uint32_t tile;
    uint32_t owner; /* load, store: name of the layer whose tile it is */
    uint32_t wait;  /* begins when the first so many instructions of the other engine are over; 0: at once */
    uint64_t ahead; /* compute: by so much before the last of these, a load in pieces, is over */
    uint64_t cycle; /* how long the engine is busy with it */
    uint64_t dram_byte; /* load, store: bytes moved, at most those of the rooms unless it is streamed */
    bool streamed;      /* load, store: past the buffer, its room has no bytes */
    /* compute: rooms read, then rooms written; load: those of one tensor written; store: those of one read */
    uint32_t first_room, n_read, n_write;
};

/* All in the memory of one arena. */
struct instruction_program {
    const char *network;
    uint64_t buffer_byte, alignment;
    uint64_t peak_byte, living_byte; /* as in struct buffer_allocation */
    uint64_t cycle; /* from the first instruction's start to the last one's end, by the evaluator */
    uint32_t n_load, n_store, n_compute;
    uint32_t n_name;
    const char **name; /* (n_name) layers and inputs */
    uint32_t n_instruction;
    struct instruction *instruction; /* (n_instruction) no wait is for what stands further back */
    uint32_t n_room;
    struct instruction_room *room; /* (n_room) */
};

/* "load", "store" or "compute"; "input", "weights", "map" or "rows". Never NULL. */
const char *instruction_kind_text(enum instruction_kind kind);
const char *instruction_data_text(enum instruction_data data);

/* The text form (YAML, one instruction per line; docs/instructions.md). `remark` (may be NULL) becomes
 * comment lines at the top. Out of memory shows in out->failed. */
void instruction_write(const struct instruction_program *program, const char *remark,
                       struct text_buffer *out);

/* Read the text form; `path` stands for the file in messages. Memory from `arena`. DSE_BAD_INPUT with file
 * and line: not the text form, or a number out of range; DSE_NO_MEMORY. Whether the instructions can run says
 * instruction_replay. */
DSE_MUST_CHECK enum dse_status instruction_read(const char *path, const char *bytes, size_t length,
                                                struct arena *arena, struct instruction_program *program,
                                                struct dse_error *err);

#endif
