/* What the parts of the reader of architectures share: json_architecture.c (the file, arrays, MACs) and
 * json_memories.c. Nobody else includes this. */
#ifndef COSTMODEL_INTERSTELLAR_JSON_JSON_PARTS_H
#define COSTMODEL_INTERSTELLAR_JSON_JSON_PARTS_H

#include "costmodel/interstellar_json/interstellar_json.h"

/* As DSE_NOTE: where all errors are wanted, go on after one. */
#define JSON_NOTE(reader, call) DSE_TRY(dse_note((reader)->doc->faults, (call), (reader)->err))

/* Numbers by level, 0 innermost. */
struct json_reader {
    const struct yaml_doc *doc;
    struct arch_file *file;
    struct dse_error *err;
    uint32_t n;
    bool half_full;
    uint64_t count[ARCH_LEVEL_MAX], mode[ARCH_LEVEL_MAX], dim[ARCH_LEVEL_MAX];
    double hop_pj[ARCH_LEVEL_MAX];
    /* Lists of n; partition: NULL for everything in one memory; with doc->faults all may be NULL. */
    const struct ynode *capacity, *cost, *partition, *parallel;
};

/* The value of a row, from the line of `node`. */
struct arch_value *json_put(struct arch_item *item, int field, const struct ynode *node);
void json_put_number(struct arch_item *item, int field, const struct ynode *node, double number);

/* The double nearest to so many pJ, as a native file has it. */
DSE_MUST_CHECK enum dse_status json_put_energy(const struct json_reader *r, struct arch_item *item, int field,
                                               const struct ynode *node, const char *what, double pj);

/* Find r->partition, with a row of three for each level; NULL: everything lies in one memory. */
DSE_MUST_CHECK enum dse_status json_read_partitions(struct json_reader *r);

/* Capacities, energies and tensors of level `v`. */
DSE_MUST_CHECK enum dse_status json_set_memories(const struct json_reader *r, uint32_t v,
                                                 struct arch_item *item);

#endif
