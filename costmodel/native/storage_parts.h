/* The numbers of one storage of a native architecture file, in four parts: architecture_storage.c (sizes,
 * bandwidths, memories side by side), architecture_groups.c (banks that it shares with others),
 * architecture_energy.c (energies and their rules) and architecture_technology.c (what a technology says).
 * Nobody else includes this. */
#ifndef COSTMODEL_NATIVE_STORAGE_PARTS_H
#define COSTMODEL_NATIVE_STORAGE_PARTS_H

#include "costmodel/native/architecture_native.h"

/* Whole words of a size written in bytes or words; INFINITY where it is unlimited. */
double storage_words_of(const struct arch_value *size, uint32_t word_bit);

/* Bytes of a size written in bytes or words. */
double storage_bytes_of(const struct arch_value *size, uint32_t word_bit);

/* The row of memory `i`, counted from 0. */
static inline int storage_memory_row(uint32_t i, enum arch_memory_row row)
{
    return STORAGE_MEMORIES + (int)i * (int)ARCH_MEMORY_ROWS + (int)row;
}

/* A storage that shares the banks of a group. */
DSE_MUST_CHECK enum dse_status storage_join_group(const struct arch_spec *spec, const struct arch_item *item,
                                                  const struct architecture *arch,
                                                  struct storage_level *level, struct dse_error *err);

/* The energies of the level, or of its memories, with the rule applied; its sizes are set. */
DSE_MUST_CHECK enum dse_status storage_set_energies(const struct arch_spec *spec,
                                                    const struct arch_item *item, struct storage_level *level,
                                                    struct dse_error *err);

/* The energies and the area of a level that gives no energy, where the file names a technology; `*done` says
 * whether that is so. DSE_BAD_INPUT where the tables do not cover it. */
DSE_MUST_CHECK enum dse_status storage_set_technology(const struct arch_spec *spec,
                                                      const struct arch_item *item,
                                                      struct storage_level *level, bool *done,
                                                      struct dse_error *err);

#endif
