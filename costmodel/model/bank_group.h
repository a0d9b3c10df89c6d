/* Storages that share the banks of one memory (Mind Mappings' buffer allocation: K. Hegde et al., ASPLOS
 * 2021, section 3.2): a bank holds words of one storage only, each storage has at least one, and a mapping
 * fits when the banks that its storages need are no more than there are. */
#ifndef COSTMODEL_MODEL_BANK_GROUP_H
#define COSTMODEL_MODEL_BANK_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/misfit.h"

/* Banks of `bank_word` words for `words`, at least one: 1 for 0 and for bank_word, 2 for bank_word + 1. */
static inline uint64_t bank_group_need(uint64_t words, uint64_t bank_word)
{
    return words <= bank_word ? 1 : (words - 1) / bank_word + 1;
}

/* Do the groups of `arch` hold together: members that stand side by side in the hierarchy, below the
 * outermost storage and with the same number of instances, no more than there are banks, sizes that follow
 * from the banks? DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status bank_group_check(const struct architecture *arch, struct dse_error *err);

/* What is left for one storage when every other of its group has one bank: its size_word. */
uint64_t bank_group_size_word(const struct architecture *arch, const struct storage_level *level);

/* Banks that the storages of group g, counted from 1, need together when they hold words[l] (n_level). */
uint64_t bank_group_needed(const struct architecture *arch, uint32_t g, const uint64_t *words);

/* Do levels with words[l] (n_level) fit the banks of every group? False with `fit` (may be NULL) set: the
 * first group that is short, by its member that needs most. */
bool bank_groups_fit(const struct architecture *arch, const uint64_t *words, struct misfit_info *fit);

#endif
