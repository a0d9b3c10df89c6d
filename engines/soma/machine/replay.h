/* Run abstract instructions as the machine would, event by event, and watch every byte of the buffer
 * (docs/instructions.md). Knows nothing of the schedule that the instructions are from. */
#ifndef ENGINES_SOMA_MACHINE_REPLAY_H
#define ENGINES_SOMA_MACHINE_REPLAY_H

#include "engines/soma/machine/instructions.h"

enum replay_fault {
    REPLAY_OK,
    REPLAY_COUNT,     /* not as many loads, stores and tiles as the head says */
    REPLAY_TWICE,     /* a tensor is made or stored a second time */
    REPLAY_UNUSED,    /* a tensor is made, but neither read nor stored */
    REPLAY_OUTSIDE,   /* a room reaches beyond the buffer, or is not aligned */
    REPLAY_OVERLAP,   /* a room is written that another tensor still needs */
    REPLAY_NOT_THERE, /* a tensor is read or stored before it is made */
    REPLAY_ELSEWHERE, /* a tensor is read or stored at another offset or of another size than it was made */
    REPLAY_MAP,       /* a feature map is loaded before it is stored to the last tile */
    REPLAY_DEADLOCK,  /* both engines wait */
    /* what goes past the buffer is in a level of its own beside more than one other tile's, or is read again
     * behind a tile that does not read it */
    REPLAY_STREAM
};

struct replay_result {
    enum replay_fault fault;
    uint32_t instruction; /* whose fault */
    uint32_t tensor;      /* of it; 0 for COUNT, MAP and DEADLOCK */
    uint32_t other;       /* OVERLAP: the tensor that is still needed */
    uint64_t cycle;       /* both engines are done; with a fault: when it was found */
    uint64_t peak_byte;   /* one past the last byte written */
};

/* Any pointer may be NULL. What has not begun or ended by a fault has 0. */
struct replay_trace {
    uint64_t *start, *finish; /* (n_instruction) cycles */
};

/* Replay. Each engine takes its instructions in the order of the stream, each as soon as it is free and as
 * many instructions of the other are over as it waits for. What a room is needed for is known from the
 * stream: until the last instruction that reads it is over. The first fault ends the replay; it is a finding.
 * `scratch` is working memory, which the caller resets. DSE_NO_MEMORY; DSE_BAD_INPUT: a room, name or tensor
 * beyond what the program has or may have. */
DSE_MUST_CHECK enum dse_status instruction_replay(const struct instruction_program *program,
                                                  struct arena *scratch, struct replay_trace *trace,
                                                  struct replay_result *result, struct dse_error *err);

/* "at cycle 546 instruction 5 (load for C_conv1x1, tile 0) writes tensor 5 over tensor 3, which is still
 * needed". Returns `buffer`. */
char *replay_fault_text(const struct instruction_program *program, const struct replay_result *result,
                        char *buffer, size_t size);

#endif
