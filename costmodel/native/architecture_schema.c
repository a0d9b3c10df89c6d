/* The table of every key of a native architecture file: its unit, range, default and sentence. Reading,
 * checking, writing, axes and docs/architectures.md follow from these rows. */
#include <stddef.h>
#include <string.h>

#include "costmodel/native/architecture_native.h"

#define NO_UNIT (-1)

/* The place of a number: a member of a struct, and what it is where the file does not say it. */
#define PLACE_TYPE(member)                                                                                   \
    _Generic((member), double                                                                                \
             : ARCH_PLACE_DOUBLE, uint32_t                                                                   \
             : ARCH_PLACE_U32, uint64_t                                                                      \
             : ARCH_PLACE_U64, bool                                                                          \
             : ARCH_PLACE_BOOL)
#define PLACE(type, member, standard)                                                                        \
    {                                                                                                        \
        PLACE_TYPE(((struct type *)0)->member), offsetof(struct type, member), standard                      \
    }
#define NOWHERE                                                                                              \
    {                                                                                                        \
        ARCH_PLACE_NONE, 0, 0                                                                                \
    }
#define LEVEL(member) PLACE(storage_level, member, 0)
#define NOC(setting) PLACE(architecture, noc[setting], 0)

/* The rows below leave out what does not apply: `property` 0, both limits 0. */
#define NAME_ROW(section, key, property, sentence)                                                           \
    {                                                                                                        \
        section, key, ARCH_VALUE_NAME, NO_UNIT, NO_UNIT, property, 0, 0, "none", sentence, NOWHERE           \
    }
#define ENERGY_ROW(section, key, fallback, sentence, ...)                                                    \
    {                                                                                                        \
        section, key, ARCH_VALUE_QUANTITY, UNIT_JOULE, NO_UNIT, 0, 0, 1, fallback, sentence, __VA_ARGS__     \
    }
#define AREA_ROW(section, key, sentence, ...)                                                                \
    {                                                                                                        \
        section, key, ARCH_VALUE_QUANTITY, UNIT_MM2, NO_UNIT, ARCH_POSITIVE, 0, 1e9, "none", sentence,       \
            __VA_ARGS__                                                                                      \
    }
#define LEAKAGE_ROW(section, fallback, sentence, ...)                                                        \
    {                                                                                                        \
        section, "leakage", ARCH_VALUE_QUANTITY, UNIT_WATT, NO_UNIT, 0, 0, 1e6, fallback, sentence,          \
            __VA_ARGS__                                                                                      \
    }
#define BANDWIDTH_ROW(key, sentence)                                                                         \
    {                                                                                                        \
        ARCH_STORAGE, key, ARCH_VALUE_QUANTITY, UNIT_BYTE_PER_S, UNIT_WORD_PER_CYCLE,                        \
            ARCH_POSITIVE | ARCH_UNBOUNDED, 0, 1e15, "unlimited", sentence, NOWHERE                          \
    }
#define LATENCY_ROW(key, sentence, ...)                                                                      \
    {                                                                                                        \
        ARCH_ARRAY, key, ARCH_VALUE_QUANTITY, UNIT_CYCLE, NO_UNIT, ARCH_WHOLE, 0, 1e6, "0 cycle", sentence,  \
            __VA_ARGS__                                                                                      \
    }
#define NOC_COUNT_ROW(key, lowest, highest, fallback, sentence, setting)                                     \
    {                                                                                                        \
        ARCH_TOP, key, ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT, ARCH_POSITIVE | ARCH_WHOLE, lowest, highest,     \
            fallback, sentence, NOC(setting)                                                                 \
    }
#define NOC_TIME_ROW(key, fallback, sentence, setting)                                                       \
    {                                                                                                        \
        ARCH_TOP, key, ARCH_VALUE_QUANTITY, UNIT_CYCLE, NO_UNIT, ARCH_POSITIVE | ARCH_WHOLE, 1, 1000,        \
            fallback, sentence, NOC(setting)                                                                 \
    }

#define CHOICE_ROW(section, key, words, fallback, sentence, ...)                                             \
    {                                                                                                        \
        section, key, ARCH_VALUE_CHOICE, NO_UNIT, NO_UNIT, 0, 0, 0, fallback, sentence, __VA_ARGS__, words   \
    }
/* Memory `i`, counted from 0, of several side by side; files count from 1. */
#define MEMORY_ROW(i, row) [STORAGE_MEMORIES + (i)*ARCH_MEMORY_ROWS + ARCH_MEMORY_##row]
#define MEMORY_ROWS(i, number)                                                                               \
    MEMORY_ROW(i, KEEPS) = {ARCH_STORAGE,                                                                    \
                            "memory_" #number ".keeps",                                                      \
                            ARCH_VALUE_ROLES,                                                                \
                            NO_UNIT,                                                                         \
                            NO_UNIT,                                                                         \
                            0,                                                                               \
                            0,                                                                               \
                            0,                                                                               \
                            "none",                                                                          \
                            "Several memories side by side: the tensors of number " #number ".",             \
                            NOWHERE},                                                                        \
                  MEMORY_ROW(i, CAPACITY) = {ARCH_STORAGE,                                                   \
                                             "memory_" #number ".capacity",                                  \
                                             ARCH_VALUE_QUANTITY,                                            \
                                             UNIT_BYTE,                                                      \
                                             UNIT_WORD,                                                      \
                                             ARCH_POSITIVE,                                                  \
                                             0,                                                              \
                                             0x1p50,                                                         \
                                             "none",                                                         \
                                             "Its size, in place of the level's.",                           \
                                             NOWHERE},                                                       \
                  MEMORY_ROW(i, ENERGY) =                                                                    \
                      ENERGY_ROW(ARCH_STORAGE, "memory_" #number ".access_energy", "none",                   \
                                 "Of one access of a block, in place of the level's.", NOWHERE)

static const char *const storage_kind[] = {"sram", "dram", "register", NULL};
static const char *const energy_table[] = {"interstellar", "interstellar-shifted", NULL};
static const char *const cell_kind[] = {"lstp", "hp", NULL}; /* enum technology_cell */
static const char *const dram_kind[] = {"lpddr", "lpddr4", "ddr3", "hbm2", "hbm3", "hbm4", NULL};
static const char *const buffer_keeps[] = {"own", "all", NULL};
static const char *const link_kind[] = {"systolic", "broadcast", "tree", NULL}; /* enum array_link */

static const struct arch_field SCHEMA[] = {
    [TOP_NAME] = NAME_ROW(ARCH_TOP, "architecture", ARCH_REQUIRED, "Name of the architecture."),
    [TOP_TITLE] = NAME_ROW(ARCH_TOP, "title", 0, "One line for lists and plots."),
    [TOP_SOURCE] = NAME_ROW(ARCH_TOP, "source", 0, "Where the numbers come from."),
    [TOP_CLOCK] = {ARCH_TOP, "clock", ARCH_VALUE_QUANTITY, UNIT_HERTZ, NO_UNIT, ARCH_POSITIVE | ARCH_REQUIRED,
                   1, 1e11, "", "Clock of the whole chip.", PLACE(architecture, clock_hz, 0)},
    [TOP_LINK_TRANSFERS] = {ARCH_TOP, "link_transfers", ARCH_VALUE_SWITCH, NO_UNIT, NO_UNIT, 0, 0, 0, "off",
                            "Neighbours in a mesh may forward data to each other.",
                            PLACE(architecture, link_transfers, 0)},
    [TOP_REPLICATION] = {ARCH_TOP, "replication", ARCH_VALUE_SWITCH, NO_UNIT, NO_UNIT, 0, 0, 0, "on",
                         "Several loops may share a side of the array (engine interstellar).", NOWHERE},
    [TOP_GROUPS] = {ARCH_TOP, "groups", ARCH_VALUE_PART, NO_UNIT, NO_UNIT, 0, 0, 0, "none",
                    "List of group entries: banks that several storages share.", NOWHERE},
    [TOP_HIERARCHY] = {ARCH_TOP, "hierarchy", ARCH_VALUE_PART, NO_UNIT, NO_UNIT, ARCH_REQUIRED, 0, 0, "",
                       "List of storage, array and macs entries, outermost first.", NOWHERE},
    [TOP_GPU_THREADS] =
        NAME_ROW(ARCH_TOP, "gpu.threads", 0,
                 "The array whose instances are the threads of one block; makes a GPU of it."),
    [TOP_GPU_THREADS_PER_BLOCK] = {ARCH_TOP, "gpu.threads_per_block", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT,
                                   ARCH_POSITIVE | ARCH_WHOLE, 1, 1 << 20, "1024",
                                   "The most threads of a block, x times y times z.", NOWHERE},
    [TOP_GPU_THREAD_DIMS] = {ARCH_TOP, "gpu.thread_dims", ARCH_VALUE_SHAPE, NO_UNIT, NO_UNIT, 0, 1, 1 << 20,
                             "[1024, 1024, 64]", "The largest x, y and z of a block.", NOWHERE},
    [TOP_GPU_REGISTERS] = {ARCH_TOP, "gpu.registers_per_block", ARCH_VALUE_QUANTITY, UNIT_BYTE, NO_UNIT,
                           ARCH_POSITIVE, 0, 0x1p40, "none (needed with gpu.threads)",
                           "Shared by the threads of a block: threads times the tiles inside one thread.",
                           NOWHERE},
    [TOP_FUSED_BUFFER] = NAME_ROW(ARCH_TOP, "fused.buffer", ARCH_OPEN,
                                  "The storage, one on the chip, that is the buffer of fused schedules; else "
                                  "the outermost one inside the DRAM."),
    [TOP_NOC_MESH] = {ARCH_TOP, "noc.mesh", ARCH_VALUE_MESH, NO_UNIT, NO_UNIT, 0, 1, 1024,
                      "the array; a row as square as possible",
                      "Columns x rows of PEs in the simulated mesh; for uops of nodes, each a machine.",
                      NOWHERE},

    [TOP_TECHNOLOGY] = {ARCH_TOP, "technology", ARCH_VALUE_QUANTITY, UNIT_METRE, NO_UNIT, ARCH_POSITIVE, 7e-9,
                        130e-9, "none",
                        "The node whose tables say what storages and MACs without energies take.", NOWHERE},

    [STORAGE_NAME] = NAME_ROW(ARCH_STORAGE, "storage", ARCH_REQUIRED, "Name of the level."),
    [STORAGE_KIND] = CHOICE_ROW(ARCH_STORAGE, "kind", storage_kind, "sram",
                                "A dram needs no capacity and does not add partial sums up; sram and "
                                "register differ in energy_rule.table alone.",
                                NOWHERE),
    [STORAGE_WORD] = {ARCH_STORAGE, "word", ARCH_VALUE_QUANTITY, UNIT_BIT, NO_UNIT,
                      ARCH_POSITIVE | ARCH_WHOLE | ARCH_REQUIRED, 1, 512, "", "Size of one word.",
                      LEVEL(word_bit)},
    [STORAGE_BLOCK] = {ARCH_STORAGE, "block", ARCH_VALUE_QUANTITY, UNIT_WORD, NO_UNIT,
                       ARCH_POSITIVE | ARCH_WHOLE, 1, 65536, "1 word", "Words that one access moves.",
                       PLACE(storage_level, block_word, 1)},
    [STORAGE_CAPACITY] = {ARCH_STORAGE, "capacity", ARCH_VALUE_QUANTITY, UNIT_BYTE, UNIT_WORD,
                          ARCH_POSITIVE | ARCH_UNBOUNDED, 0, 0x1p50, "none (unlimited for a dram)",
                          "Size of one instance; part of a word is left unused.", NOWHERE},
    [STORAGE_GROUP] = NAME_ROW(ARCH_STORAGE, "group", 0,
                               "In place of a capacity: the group whose banks it shares with others."),
    [STORAGE_BANDWIDTH] = BANDWIDTH_ROW("bandwidth", "Of one instance, shared by reads and writes."),
    [STORAGE_READ_BANDWIDTH] = BANDWIDTH_ROW("read_bandwidth", "Of one instance, reads alone."),
    [STORAGE_WRITE_BANDWIDTH] = BANDWIDTH_ROW("write_bandwidth", "Of one instance, fills and updates alone."),
    [STORAGE_ACCESS_ENERGY] = ENERGY_ROW(ARCH_STORAGE, "access_energy", "none",
                                         "Of one access of a block, whether read, fill or update.", NOWHERE),
    [STORAGE_READ_ENERGY] =
        ENERGY_ROW(ARCH_STORAGE, "read_energy", "access_energy", "Of one read of a block.", NOWHERE),
    [STORAGE_WRITE_ENERGY] = ENERGY_ROW(ARCH_STORAGE, "write_energy", "access_energy",
                                        "Of one block that arrives from the level outside.", NOWHERE),
    [STORAGE_UPDATE_ENERGY] =
        ENERGY_ROW(ARCH_STORAGE, "update_energy", "write_energy",
                   "Of one block of partial sums or results that arrives from inside.", NOWHERE),
    [STORAGE_ADDRESS_ENERGY] = ENERGY_ROW(ARCH_STORAGE, "address_energy", "0 pJ", "Of one generated address.",
                                          LEVEL(address_energy_j)),
    [STORAGE_RULE_REFERENCE] = {ARCH_STORAGE, "energy_rule.reference", ARCH_VALUE_QUANTITY, UNIT_BYTE,
                                UNIT_WORD, ARCH_POSITIVE, 0, 0x1p50, "none",
                                "Capacity at which the access energies hold as written.", NOWHERE},
    [STORAGE_RULE_EXPONENT] = {ARCH_STORAGE, "energy_rule.exponent", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT, 0,
                               0, 4, "none",
                               "Energies scale by fixed + (1 - fixed) * (capacity / reference)^exponent.",
                               NOWHERE},
    [STORAGE_RULE_FIXED] = {ARCH_STORAGE, "energy_rule.fixed", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT, 0, 0, 1,
                            "0", "Share of the energy that does not depend on the capacity.", NOWHERE},
    [STORAGE_RULE_STEP] = {ARCH_STORAGE, "energy_rule.step", ARCH_VALUE_QUANTITY, UNIT_BYTE, UNIT_WORD,
                           ARCH_POSITIVE, 0, 0x1p50, "none",
                           "Instead of exponent: energies scale by factor^(floor(capacity / step) - "
                           "floor(reference / step)).",
                           NOWHERE},
    [STORAGE_RULE_FACTOR] = {ARCH_STORAGE, "energy_rule.factor", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT,
                             ARCH_POSITIVE, 0, 100, "none", "Goes with step.", NOWHERE},
    [STORAGE_RULE_TABLE] =
        CHOICE_ROW(ARCH_STORAGE, "energy_rule.table", energy_table, "none",
                   "Instead of access_energy: by kind and capacity from a table.", NOWHERE),
    [STORAGE_KEEPS] = {ARCH_STORAGE, "keeps", ARCH_VALUE_TENSORS, NO_UNIT, NO_UNIT, 0, 0, 0,
                       "Weights, Inputs, Outputs",
                       "The tensors that may be kept here, by their role or by their name; others pass by.",
                       NOWHERE},
    [STORAGE_REDUCES] = {ARCH_STORAGE, "reduces", ARCH_VALUE_SWITCH, NO_UNIT, NO_UNIT, 0, 0, 0,
                         "on (off for a dram)",
                         "Adds arriving partial sums up itself; else they are read over the network first.",
                         NOWHERE},
    [STORAGE_MULTIPLE_BUFFERING] = {ARCH_STORAGE, "multiple_buffering", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT,
                                    0, 1, 64, "1",
                                    "Usable are floor(capacity / this) words (2: double buffering).",
                                    PLACE(storage_level, multiple_buffering, 1)},
    [STORAGE_MIN_UTILIZATION] = {ARCH_STORAGE, "min_utilization", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT, 0, 0,
                                 1, "0",
                                 "Mappings that fill less than this share of the usable words are refused.",
                                 LEVEL(min_utilization)},
    [STORAGE_CLUSTER] = {ARCH_STORAGE, "cluster", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT,
                         ARCH_POSITIVE | ARCH_WHOLE, 1, 1e6, "1",
                         "Instances behind one access port; they share the energy of an access.",
                         PLACE(storage_level, cluster_size, 1)},

    [STORAGE_AREA] = AREA_ROW(ARCH_STORAGE, "area", "Of one instance, whatever its size.", LEVEL(area_mm2)),
    [STORAGE_AREA_PER_BYTE] =
        AREA_ROW(ARCH_STORAGE, "area_per_byte", "Of one instance, for each byte of its capacity.",
                 LEVEL(byte_area_mm2)),
    [STORAGE_LEAKAGE] = LEAKAGE_ROW(ARCH_STORAGE, "none, or the technology's",
                                    "Power of one instance, whatever it does.", LEVEL(leakage_w)),
    [STORAGE_PORTS] = {ARCH_STORAGE, "ports", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT, ARCH_WHOLE, 1, 2, "1",
                       "With technology: ports of the memory, each for reads and writes.", NOWHERE},
    [STORAGE_BANKS] = {ARCH_STORAGE, "banks", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT, ARCH_WHOLE, 1, 16, "1",
                       "With technology: banks of which the memory is made, all of its own.", NOWHERE},
    [STORAGE_CELL] =
        CHOICE_ROW(ARCH_STORAGE, "cell", cell_kind, "lstp",
                   "With technology: cells of low standby power or of high performance.", NOWHERE),
    [STORAGE_DRAM] = CHOICE_ROW(ARCH_STORAGE, "dram", dram_kind, "none (needed for a dram without energies)",
                                "With technology: what kind of DRAM it is.", NOWHERE),

    MEMORY_ROWS(0, 1),
    MEMORY_ROWS(1, 2),
    MEMORY_ROWS(2, 3),

    [ARRAY_NAME] = NAME_ROW(ARCH_ARRAY, "array", ARCH_REQUIRED, "Name of the fan-out."),
    [ARRAY_MESH] = {ARCH_ARRAY, "mesh", ARCH_VALUE_MESH, NO_UNIT, NO_UNIT, ARCH_REQUIRED, 1, 1 << 20, "",
                    "Columns x rows below one instance of what is outside.", NOWHERE},

    [MACS_NAME] = NAME_ROW(ARCH_MACS, "macs", ARCH_REQUIRED, "Name of the multiply-accumulate units."),
    [MACS_WORD] = {ARCH_MACS, "word", ARCH_VALUE_QUANTITY, UNIT_BIT, NO_UNIT,
                   ARCH_POSITIVE | ARCH_WHOLE | ARCH_REQUIRED, 1, 512, "", "Size of an operand.",
                   PLACE(mac_array, word_bit, 0)},
    [MACS_ENERGY] = ENERGY_ROW(ARCH_MACS, "energy", "required without technology",
                               "Of one multiply-accumulate.", PLACE(mac_array, energy_j, 0)),
    [MACS_AREA] =
        AREA_ROW(ARCH_MACS, "area", "Of one multiply-accumulate unit.", PLACE(mac_array, area_mm2, 0)),

    [GROUP_NAME] = NAME_ROW(ARCH_GROUP, "group", ARCH_REQUIRED, "Name of the group."),
    [GROUP_BANKS] = {ARCH_GROUP, "banks", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT,
                     ARCH_POSITIVE | ARCH_WHOLE | ARCH_REQUIRED, 1, 65536, "",
                     "Banks of one instance, for all its storages together; each of them has at least one.",
                     NOWHERE},
    [GROUP_BANK] = {ARCH_GROUP, "bank", ARCH_VALUE_QUANTITY, UNIT_BYTE, UNIT_WORD,
                    ARCH_POSITIVE | ARCH_REQUIRED, 0, 0x1p50, "",
                    "Size of a bank, which holds words of one storage only.", NOWHERE},

    /* Rows that no code asks for: their place is all. New ones are added here. */
    {ARCH_TOP, "noc.flit", ARCH_VALUE_QUANTITY, UNIT_BIT, NO_UNIT, ARCH_POSITIVE | ARCH_WHOLE, 8, 4096,
     "64 bit", "What a link carries in a cycle.", NOC(NOC_SET_FLIT_BIT)},
    NOC_COUNT_ROW("noc.data_flits", 1, 1000, "4", "Flits of a packet besides its head; also one DRAM access.",
                  NOC_SET_DATA_FLITS),
    NOC_COUNT_ROW("noc.queue", 2, 1024, "data_flits + 3",
                  "Flits that a router's output queue holds: at least a packet.", NOC_SET_QUEUE_FLITS),
    NOC_COUNT_ROW("noc.dram_banks", 1, 65536, "128", "Banks of all ranks together.", NOC_SET_DRAM_BANKS),
    {ARCH_TOP, "noc.dram_row", ARCH_VALUE_QUANTITY, UNIT_BYTE, NO_UNIT, ARCH_POSITIVE | ARCH_WHOLE, 1,
     1 << 24, "8 KiB", "An open row, of all chips of a rank.", NOC(NOC_SET_DRAM_ROW_BYTE)},
    NOC_TIME_ROW("noc.dram_burst", "2 cycle", "One access keeps the data bus busy.",
                 NOC_SET_DRAM_BURST_CYCLE),
    NOC_TIME_ROW("noc.dram_activate", "4 cycle", "To open a row (tRCD).", NOC_SET_DRAM_ACTIVATE_CYCLE),
    NOC_TIME_ROW("noc.dram_precharge", "4 cycle", "To close a row (tRP).", NOC_SET_DRAM_PRECHARGE_CYCLE),
    NOC_TIME_ROW("noc.dram_read", "4 cycle", "From read command to data (CL).", NOC_SET_DRAM_READ_CYCLE),
    NOC_TIME_ROW("noc.dram_write", "3 cycle", "From write command to data (CWL).", NOC_SET_DRAM_WRITE_CYCLE),
    NOC_COUNT_ROW("noc.dram_queue", 1, 65536, "32", "Accesses that may wait.", NOC_SET_DRAM_QUEUE),
    NOC_COUNT_ROW("noc.dram_read_ahead", 1, 65536, "1", "Packets whose data the DRAM port asks for ahead.",
                  NOC_SET_DRAM_READ_AHEAD),
    {ARCH_TOP, "noc.resend_windows", ARCH_VALUE_SWITCH, NO_UNIT, NO_UNIT, 0, 0, 0, "off",
     "With compat: inputs are sent again when a loop over the window (R, S) outside the PEs advances.",
     NOC(NOC_SET_RESEND_WINDOWS)},
    {ARCH_TOP, "noc.compat", ARCH_VALUE_SWITCH, NO_UNIT, NO_UNIT, 0, 0, 0, "off",
     "CoSA's DRAM and traffic instead of the architecture's and the cost model's.", NOC(NOC_SET_COMPAT)},
    ENERGY_ROW(ARCH_ARRAY, "hop_energy", "0 pJ", "Of one word over one hop.", LEVEL(hop_energy_j)),
    ENERGY_ROW(ARCH_ARRAY, "router_energy", "0 pJ", "Of one word through one router.",
               LEVEL(router_energy_j)),
    ENERGY_ROW(ARCH_ARRAY, "ingress_energy", "0 pJ", "Of one word that enters the network.",
               LEVEL(ingress_energy_j)),
    AREA_ROW(ARCH_ARRAY, "area", "Of links and routers at one instance of the array.", LEVEL(hop_area_mm2)),
    LEAKAGE_ROW(ARCH_MACS, "none", "Power of one multiply-accumulate unit, whatever it does.",
                PLACE(mac_array, leakage_w, 0)),
    {ARCH_TOP, "power_gating", ARCH_VALUE_SWITCH, NO_UNIT, NO_UNIT, 0, 0, 0, "off",
     "Instances that a mapping does not use do not leak.", PLACE(architecture, power_gating, 0)},
    AREA_ROW(ARCH_TOP, "max_area", "A machine that takes more is infeasible.",
             PLACE(architecture, max_area_mm2, 0)),
    CHOICE_ROW(
        ARCH_ARRAY, "link", link_kind, "systolic",
        "How words get about in it: from neighbour to neighbour, over a bus, over a bus with adders as "
        "a tree (accounting interstellar).",
        LEVEL(link)),
    LATENCY_ROW("fill_latency", "Added once to the cycles of a layer.", LEVEL(fill_latency_cycle)),
    LATENCY_ROW("drain_latency", "Added once to the cycles of a layer.", LEVEL(drain_latency_cycle)),
    {ARCH_MACS, "capacity", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT, ARCH_WHOLE, 0, 1, "0",
     "1: a MAC holds an operand of each tensor, so the innermost level sees the order of its loops "
     "(accounting interstellar).",
     PLACE(mac_array, capacity, 0)},
    CHOICE_ROW(ARCH_TOP, "fused.keeps", buffer_keeps, "own",
               "What that buffer holds: what it keeps for mappings, or every tensor.",
               PLACE(architecture, fused.keeps_all, 0)),
    {ARCH_TOP, "utilization_threshold", ARCH_VALUE_NUMBER, NO_UNIT, NO_UNIT, 0, 0, 1, "0",
     "The least share of each side of an array, and of the whole, that mappings use (engine interstellar).",
     PLACE(architecture, utilization_threshold, 0)},
};
_Static_assert(sizeof SCHEMA / sizeof SCHEMA[0] <= ARCH_FIELD_MAX, "struct arch_item has room for them");

const struct arch_field *architecture_schema(void)
{
    return SCHEMA;
}

int architecture_n_field(void)
{
    return (int)(sizeof SCHEMA / sizeof SCHEMA[0]);
}

void architecture_schema_placed(struct arch_placed *placed)
{
    memset(placed->n, 0, sizeof placed->n);
    for (int f = 0; f < architecture_n_field(); f++)
        if (SCHEMA[f].place.type != ARCH_PLACE_NONE)
            placed->row[SCHEMA[f].section][placed->n[SCHEMA[f].section]++] = (unsigned char)f;
}

int architecture_schema_find(enum arch_section section, const char *key)
{
    for (int f = 0; f < architecture_n_field(); f++)
        if (SCHEMA[f].section == section && strcmp(SCHEMA[f].key, key) == 0)
            return f;
    return -1;
}

const char *architecture_section_word(enum arch_section section)
{
    static const char *const word[ARCH_SECTION_COUNT] = {"architecture", "storage", "array", "macs", "group"};
    return word[section];
}
