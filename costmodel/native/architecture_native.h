/* The native architecture format (docs/architectures.md): one table of everything a file may say, from which
 * reading, key checks, override paths and the table of the documentation follow. */
#ifndef COSTMODEL_NATIVE_ARCHITECTURE_NATIVE_H
#define COSTMODEL_NATIVE_ARCHITECTURE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "base/units.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"

/* The kinds of entries; each has its own keys. Those of ARCH_GROUP stand in a list of their own. */
enum arch_section { ARCH_TOP, ARCH_STORAGE, ARCH_ARRAY, ARCH_MACS, ARCH_GROUP, ARCH_SECTION_COUNT };

enum arch_value_kind {
    ARCH_VALUE_NAME,     /* a name or free text; cannot be overridden */
    ARCH_VALUE_PART,     /* a nested part (hierarchy); cannot be overridden */
    ARCH_VALUE_QUANTITY, /* a number with a unit */
    ARCH_VALUE_NUMBER,   /* a number without a unit */
    ARCH_VALUE_SWITCH,   /* on or off */
    ARCH_VALUE_CHOICE,   /* one of the row's words */
    ARCH_VALUE_MESH,     /* columns x rows */
    ARCH_VALUE_ROLES,    /* a list of Weights, Inputs, Outputs */
    ARCH_VALUE_TENSORS,  /* the same, or names of tensors */
    ARCH_VALUE_SHAPE     /* a list of three sizes: x, y, z */
};

/* Row numbers of the table that code asks for. The rows behind them have none: a quantity whose `place` says
 * all there is to do with it is a row at the end. */
enum arch_field_id {
    TOP_NAME,
    TOP_TITLE,
    TOP_SOURCE,
    TOP_CLOCK,
    TOP_LINK_TRANSFERS,
    TOP_REPLICATION,
    TOP_GROUPS,
    TOP_HIERARCHY,
    TOP_GPU_THREADS,
    TOP_GPU_THREADS_PER_BLOCK,
    TOP_GPU_THREAD_DIMS,
    TOP_GPU_REGISTERS,
    TOP_FUSED_BUFFER,
    TOP_NOC_MESH,
    TOP_TECHNOLOGY,
    STORAGE_NAME,
    STORAGE_KIND,
    STORAGE_WORD,
    STORAGE_BLOCK,
    STORAGE_CAPACITY,
    STORAGE_GROUP,
    STORAGE_BANDWIDTH,
    STORAGE_READ_BANDWIDTH,
    STORAGE_WRITE_BANDWIDTH,
    STORAGE_ACCESS_ENERGY,
    STORAGE_READ_ENERGY,
    STORAGE_WRITE_ENERGY,
    STORAGE_UPDATE_ENERGY,
    STORAGE_ADDRESS_ENERGY,
    STORAGE_RULE_REFERENCE,
    STORAGE_RULE_EXPONENT,
    STORAGE_RULE_FIXED,
    STORAGE_RULE_STEP,
    STORAGE_RULE_FACTOR,
    STORAGE_RULE_TABLE,
    STORAGE_KEEPS,
    STORAGE_REDUCES,
    STORAGE_MULTIPLE_BUFFERING,
    STORAGE_MIN_UTILIZATION,
    STORAGE_CLUSTER,
    STORAGE_AREA,
    STORAGE_AREA_PER_BYTE,
    STORAGE_LEAKAGE,
    STORAGE_PORTS,
    STORAGE_BANKS,
    STORAGE_CELL,
    STORAGE_DRAM,
    STORAGE_MEMORIES, /* memory i has row STORAGE_MEMORIES + ARCH_MEMORY_ROWS i + enum arch_memory_row */
    STORAGE_MEMORIES_LAST = STORAGE_MEMORIES + 3 * TENSOR_ROLE_COUNT - 1,
    ARRAY_NAME,
    ARRAY_MESH,
    MACS_NAME,
    MACS_WORD,
    MACS_ENERGY,
    MACS_AREA,
    GROUP_NAME,
    GROUP_BANKS,
    GROUP_BANK,
    ARCH_FIELD_NAMED,
    ARCH_FIELD_MAX = 96 /* at most so many rows */
};

/* The rows of one of several memories side by side. */
enum arch_memory_row { ARCH_MEMORY_KEEPS, ARCH_MEMORY_CAPACITY, ARCH_MEMORY_ENERGY, ARCH_MEMORY_ROWS };

/* The words of STORAGE_KIND, and of STORAGE_RULE_TABLE, in their order. */
enum arch_storage_kind { ARCH_KIND_SRAM, ARCH_KIND_DRAM, ARCH_KIND_REGISTER };
enum arch_energy_table { ARCH_TABLE_INTERSTELLAR, ARCH_TABLE_INTERSTELLAR_SHIFTED };

/* Properties of a number. */
enum {
    ARCH_POSITIVE = 1,  /* zero is refused */
    ARCH_WHOLE = 2,     /* fractions are refused */
    ARCH_UNBOUNDED = 4, /* the word "unlimited" is accepted and read as INFINITY */
    ARCH_REQUIRED = 8,  /* the entry must say it */
    ARCH_OPEN = 16      /* a name that a path may replace, as it may any number */
};

/* Where a number goes as it is: a member of struct architecture (top), storage_level (storage; array: the one
 * outside) or mac_array, of `type`; `standard` where the file does not say it. ARCH_PLACE_NONE:
 * architecture_assemble.c makes something of it. */
enum arch_place_type { ARCH_PLACE_NONE, ARCH_PLACE_DOUBLE, ARCH_PLACE_U32, ARCH_PLACE_U64, ARCH_PLACE_BOOL };

struct arch_place {
    enum arch_place_type type;
    size_t offset;
    double standard;
};

/* The rows of each section that have a place: found once, as machines are assembled for every point. */
struct arch_placed {
    unsigned n[ARCH_SECTION_COUNT];
    unsigned char row[ARCH_SECTION_COUNT][ARCH_FIELD_MAX]; /* (n) */
};

/* One row: a key with what is accepted. `unit` and `other_unit` are UNIT_* or -1; a quantity may be written
 * in either. `lowest` and `highest` are inclusive and in `unit` (SI); the other unit has no upper limit of
 * its own. */
struct arch_field {
    enum arch_section section;
    const char *key; /* "energy_rule.reference" lies in the nested part energy_rule, "noc.flit" in noc */
    enum arch_value_kind kind;
    int unit, other_unit;
    unsigned property;
    double lowest, highest;
    const char *fallback; /* the default, for people */
    const char *sentence;
    struct arch_place place;
    const char *const *choice; /* ARCH_VALUE_CHOICE: its words, then NULL; the value is a word's number */
};

/* The table, (architecture_n_field()) rows, the first indexed by arch_field_id. */
const struct arch_field *architecture_schema(void);
int architecture_n_field(void);
void architecture_schema_placed(struct arch_placed *placed);

/* The row of `key` in a section, or -1. */
int architecture_schema_find(enum arch_section section, const char *key);

/* "storage", "array", "macs"; "architecture" for the top. */
const char *architecture_section_word(enum arch_section section);

enum arch_origin { ARCH_UNSET, ARCH_FROM_FILE, ARCH_FROM_OVERRIDE };

/* One value as read. `number` is SI in `unit`; switches are 0 or 1, choices an index; a mesh is x, y; a shape
 * is x, y, z; roles are bits in `roles`, and names of tensors stand in the items of `list` (of a file) or in
 * `words` (of an override). `text` is a name's, owned by the document. */
struct arch_value {
    enum arch_origin origin;
    int line; /* of the file, when it comes from there */
    int unit;
    union {
        double number;
        struct {
            uint64_t x, y, z;
        };
        struct {
            uint64_t roles;
            const struct ynode *list;
            const char *words;
        };
        const char *text;
    };
};

/* Two adjacent arrays are refused, so each storage has at most one array below it; plus the MACs. */
enum { ARCH_ITEM_MAX = 2 * ARCH_LEVEL_MAX + 1 };

/* One entry of the hierarchy. `name` is owned by the document. */
struct arch_item {
    bool is_bad; /* with doc->faults: something is wrong in it */
    enum arch_section section;
    const char *name;
    int line;
    /* indexed by row; those of other sections stay unset */
    struct arch_value value[ARCH_FIELD_MAX];
};

/* What a machine is put together from: every value checked by itself. It borrows its entries, so that one
 * with overrides has copies of only what they replace. */
struct arch_spec {
    const char *path;
    const struct arch_placed *placed;
    const struct arch_item *top;
    size_t n_item;
    const struct arch_item *item[ARCH_ITEM_MAX]; /* (n_item) outermost first */
    size_t n_group;
    const struct arch_item *group[ARCH_GROUP_MAX]; /* (n_group) */
    bool is_whole;                                 /* all entries are there, in an order that is one */
    struct dse_faults *faults;                     /* as in struct yaml_doc, for arch_spec_assemble */
};

/* A file as read; texts are the document's. `spec` points into the others, so it is not to be copied
 * about. */
struct arch_file {
    struct arch_spec spec;
    char name[ARCH_NAME_MAX]; /* of a machine whose file gives it none */
    struct arch_placed placed;
    struct arch_item top;
    struct arch_item item[ARCH_ITEM_MAX];   /* (spec.n_item) */
    struct arch_item group[ARCH_GROUP_MAX]; /* (spec.n_group) */
};

/* Parse one scalar by its row; `what` names it in messages ("GlobalBuffer.capacity"). `err` gets no place. */
DSE_MUST_CHECK enum dse_status arch_value_parse(const struct arch_field *field, const char *what,
                                                const char *text, struct arch_value *value,
                                                struct dse_error *err);

/* The names of tensors in a value of ARCH_VALUE_TENSORS, `i` from 0: the text of number i, in `name` if it
 * comes from an override; NULL after the last. */
const char *arch_value_tensor(const struct arch_value *value, size_t i, char name[ARCH_NAME_MAX]);

/* Is there a value, whoever gave it? Is it an axis' or --set's? */
static inline bool arch_is_set(const struct arch_item *item, int field)
{
    return item->value[field].origin != ARCH_UNSET;
}

static inline bool arch_is_override(const struct arch_item *item, int field)
{
    return item->value[field].origin == ARCH_FROM_OVERRIDE;
}

static inline double arch_number_or(const struct arch_item *item, int field, double fallback)
{
    return arch_is_set(item, field) ? item->value[field].number : fallback;
}

/* The numbers of an entry that have a place, put into `out`, the struct of its section. */
void arch_set_numbers(const struct arch_spec *spec, const struct arch_item *item, void *out);

/* Storage l of `arch` below x by y instances: sizes, bandwidths, energies, their rules. The groups of `arch`
 * are set; what a storage of a group can hold is left to arch_set_groups. */
DSE_MUST_CHECK enum dse_status arch_set_storage(const struct arch_spec *spec, const struct arch_item *item,
                                                uint64_t x, uint64_t y, struct architecture *arch, uint32_t l,
                                                struct dse_error *err);

/* What a multiply-accumulate takes: as written, or from the technology. */
DSE_MUST_CHECK enum dse_status arch_set_macs(const struct arch_spec *spec, const struct arch_item *item,
                                             struct mac_array *mac, struct dse_error *err);

/* The groups of banks: their names and counts. */
void arch_begin_groups(const struct arch_spec *spec, struct architecture *arch);

/* When all storages are there: what each of a group can hold. */
DSE_MUST_CHECK enum dse_status arch_set_groups(const struct arch_spec *spec, struct architecture *arch,
                                               struct dse_error *err);

/* Joules of one access of `access_bit` to a memory of `byte` by Table 3 of X. Yang et al., "Interstellar",
 * ASPLOS 2020, which is for 16 bit: registers .03 pJ per 16 B; SRAM 6 pJ at 32 KiB and 1.5 times as much for
 * each doubling, also between and beyond the rows; DRAM 200 pJ. Shifted: SRAM as in the row below, as the
 * authors' files have it (the cost of twice the size, for double buffers). Exact at the rows: .96 pJ for a
 * register file of 512 B. */
double arch_table_energy_j(enum arch_energy_table table, enum arch_storage_kind kind, double byte,
                           double access_bit);

/* A file as read that has no entries yet. `path` is for messages. */
void arch_file_init(struct arch_file *file, const char *path);

/* Read the entries of a native file. */
DSE_MUST_CHECK enum dse_status arch_file_read(const struct yaml_doc *doc, struct arch_file *file,
                                              struct dse_error *err);

/* Replace values by path; of two with the same path the later one wins. Entries that change are copied to
 * copy (as many as there are overrides, or 1 + n_item + n_group if that is less), to which `spec` then
 * points. */
DSE_MUST_CHECK enum dse_status arch_spec_override(struct arch_spec *spec,
                                                  const struct arch_override *override, size_t n_override,
                                                  struct arch_item *copy, struct dse_error *err);

/* Put the levels together: units to words and cycles, defaults, cumulative meshes, energy rules,
 * cross-checks. */
DSE_MUST_CHECK enum dse_status arch_spec_assemble(const struct arch_spec *spec, struct architecture *arch,
                                                  struct dse_error *err);

/* An error that blames the line of a value, or its override. `field` -1 blames the entry. */
enum dse_status arch_spec_fail(const struct arch_spec *spec, const struct arch_item *item, int field,
                               struct dse_error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* readers.h's architecture_path_unit. */
DSE_MUST_CHECK enum dse_status arch_spec_path_unit(const struct arch_spec *spec, const char *path, int *unit,
                                                   struct dse_error *err);

#endif
