/* What a micro-operation (uop) costs on one accelerator: a tile of a convolution on an array of lanes of
 * input channels by lanes of output channels, weights stationary (the KC-partition of NVDLA). Cycles and
 * access counts in closed form, as MAESTRO counts them (H. Kwon et al., MICRO 2019; commit 4eb08d1): exact on
 * all its runs that tests know with 1000 words a cycle, within 2.3 % with 128 (docs/klotski.md,
 * "Cycles, accesses, energy"). */
#ifndef COSTMODEL_UOP_KC_COST_H
#define COSTMODEL_UOP_KC_COST_H

#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/byte_rate.h"
#include "costmodel/noc/noc.h"

struct kc_tile;

/* What a uop costs where other counts than MAESTRO's say it. */
struct uop_cost {
    uint64_t cycle;
    double mac_j, memory_j, network_j; /* MACs; all memories of the accelerator; the networks between them */
};

/* Prices tiles on an accelerator of any kind (node_machine.h). Functions of the tile alone. */
struct uop_pricer {
    const void *self;
    /* About so many cycles, at little expense: for searches. NULL: there is no pricer. */
    uint64_t (*guess)(const void *self, const struct kc_tile *tile);
    enum dse_status (*cost)(const void *self, const struct kc_tile *tile, struct uop_cost *cost,
                            struct dse_error *err);
};

/* A mesh of accelerators as an architecture says it. */
struct kc_machine {
    uint32_t columns, rows;      /* of accelerators */
    struct noc_config noc;       /* the mesh between them, cores alone */
    uint32_t c_lane, k_lane;     /* with a pricer: what tiles have multiples of, as far as they can */
    struct byte_rate delivery;   /* words, not bytes, from the shared memory to the PEs */
    struct byte_rate dram;       /* words; byte 0: not limited */
    struct byte_rate dram_write; /* of writes where they have a rate of their own; byte 0: they have not */
    uint64_t sram_word;          /* usable, of one accelerator; or ARCH_UNLIMITED */
    uint32_t word_byte;
    double clock_hz;
    double leakage_w; /* of all accelerators and the DRAM */
    /* of one word */
    double mac_energy_j;
    double l1_read_energy_j, l1_write_energy_j; /* register of a PE */
    double l2_read_energy_j, l2_write_energy_j; /* shared memory */
    double hop_energy_j;                        /* from accelerator to accelerator */
    double dram_read_energy_j, dram_write_energy_j;
    /* Of a word that a message or the DRAM takes from a shared memory and puts into one; 0 where the counts
     * of uops have these accesses, as MAESTRO's do. */
    double send_energy_j, receive_energy_j;
    uint64_t n_mac; /* MAC units of an accelerator that is priced by `pricer`; 0: it is MAESTRO's */
    struct uop_pricer pricer;
    bool guesses; /* graphs get the cycles of pricer.guess, not those of its cost */
    bool slices;  /* uops that the shared memory is too small for run in slices (uop_slices.h) */
};

/* Operations of a uop that adds up or pools in a cycle, and MACs of one that fills the accelerator. */
static inline uint64_t kc_mac_count(const struct kc_machine *machine)
{
    return machine->n_mac ? machine->n_mac : (uint64_t)machine->c_lane * machine->k_lane;
}

/* Cycles in which the DRAM reads or writes so many words. */
static inline uint64_t kc_dram_cycle(const struct kc_machine *machine, uint64_t word, bool writes)
{
    const struct byte_rate rate = writes && machine->dram_write.byte ? machine->dram_write : machine->dram;
    return rate.byte ? byte_rate_cycle(word, rate) : 0;
}

/* Outside a DRAM, then an array of accelerators, a shared memory, an array of PEs (lanes of input channels by
 * lanes of output channels), a register in each, a MAC in each; one word for all, of whole bytes; accesses of
 * one word; each keeps all tensors. DSE_BAD_INPUT names what does not fit. */
DSE_MUST_CHECK enum dse_status kc_machine_of(const struct architecture *arch, struct kc_machine *machine,
                                             struct dse_error *err);

/* A tile: p x q output pixels of k channels over c input channels; height first. `g` groups of channels
 * are as many such tiles, one after the other (0: one). */
struct kc_tile {
    uint32_t r, s, stride_v, stride_h, p, q, c, k, g;
};

static inline uint32_t kc_groups(const struct kc_tile *tile)
{
    return tile->g > 1 ? tile->g : 1;
}

/* Accesses of words by tensor at the registers (l1) and the shared memory (l2), and what MAESTRO says that
 * both must hold, in words, for double buffering. */
#define KC_COUNT_LIST(X)                                                                                     \
    X(input_l1_read)                                                                                         \
    X(input_l1_write)                                                                                        \
    X(input_l2_read)                                                                                         \
    X(input_l2_write)                                                                                        \
    X(filter_l1_read)                                                                                        \
    X(filter_l1_write)                                                                                       \
    X(filter_l2_read)                                                                                        \
    X(filter_l2_write)                                                                                       \
    X(output_l1_read)                                                                                        \
    X(output_l1_write)                                                                                       \
    X(output_l2_read)                                                                                        \
    X(output_l2_write)                                                                                       \
    X(l2_req)                                                                                                \
    X(l1_req)

struct kc_counts {
#define KC_COUNT_MEMBER(NAME) uint64_t NAME;
    KC_COUNT_LIST(KC_COUNT_MEMBER)
#undef KC_COUNT_MEMBER
};

/* Are all sizes 1 and more, and all counts and cycles below 2^53? DSE_LIMIT says which tile is not. What
 * follows may only be asked of such tiles. */
DSE_MUST_CHECK enum dse_status kc_tile_check(const struct kc_machine *machine, const struct kc_tile *tile,
                                             struct dse_error *err);

uint64_t kc_macs(const struct kc_tile *tile);
/* As the pricer guesses where there is one. */
uint64_t kc_cycle(const struct kc_machine *machine, const struct kc_tile *tile);
/* Of these, for each output pixel; p x q of them are all but what comes before the first. */
uint64_t kc_pixel_cycle(const struct kc_machine *machine, const struct kc_tile *tile);
void kc_count(const struct kc_machine *machine, const struct kc_tile *tile, struct kc_counts *out);

/* Joules of the accesses and MACs of `count` and `n_mac`; the parts are the sum's. */
struct kc_energy {
    double mac_j, l1_j, l2_j;
};
struct kc_energy kc_energy_of(const struct kc_machine *machine, uint64_t n_mac,
                              const struct kc_counts *count);

#endif
