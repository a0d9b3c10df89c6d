/* One command per cycle, each allowed when its timing windows say so. */
#include "tests/support/noc_plain_dram.h"

#include <stdlib.h>

static const int64_t long_ago = -((int64_t)1 << 40);

bool plain_dram_init(struct plain_dram *dram, const struct noc_dram *timing)
{
    *dram = (struct plain_dram){.timing = timing, .write_end = long_ago, .refresh_end = long_ago};
    dram->refresh_due = timing->refresh_interval_cycle;
    dram->bank = calloc(timing->n_bank, sizeof *dram->bank);
    for (uint32_t b = 0; dram->bank && b < timing->n_bank; b++) {
        struct plain_bank *bank = &dram->bank[b];
        bank->activated = bank->precharged = bank->read = bank->written = long_ago;
    }
    return dram->bank != NULL;
}

void plain_dram_free(struct plain_dram *dram)
{
    free(dram->bank);
    free(dram->access);
}

size_t plain_dram_queue(struct plain_dram *dram, int64_t now, bool write, uint64_t byte)
{
    if (dram->n_access == dram->capacity) {
        size_t capacity = 2 * dram->capacity + 64;
        struct plain_access *more = realloc(dram->access, capacity * sizeof *more);
        if (!more)
            return SIZE_MAX;
        dram->access = more;
        dram->capacity = capacity;
    }
    dram->access[dram->n_access] = (struct plain_access){write, byte, now, -1, false};
    return dram->n_access++;
}

bool plain_dram_is_done(const struct plain_dram *dram, size_t access, int64_t now)
{
    return dram->access[access].done >= 0 && dram->access[access].done <= now;
}

uint32_t plain_dram_waiting(const struct plain_dram *dram, int64_t now)
{
    uint32_t n = 0;
    for (size_t i = dram->n_access; i-- > 0 && !plain_dram_is_done(dram, i, now);)
        n++;
    return n;
}

static bool may_precharge(const struct noc_dram *t, const struct plain_bank *bank, int64_t now)
{
    return now - bank->activated >= t->row_active_cycle && now - bank->read >= t->read_to_precharge_cycle &&
           now - bank->written >= (int64_t)t->write_cycle + t->burst_cycle + t->write_recovery_cycle;
}

/* True when the cycle belongs to a refresh. */
static bool refresh_tick(struct plain_dram *dram, int64_t now)
{
    const struct noc_dram *t = dram->timing;
    bool any_open = false, all_ready = true, all_rested = true;
    if (t->refresh_interval_cycle == 0 || now < dram->refresh_due)
        return false;
    for (uint32_t b = 0; b < t->n_bank; b++) {
        const struct plain_bank *bank = &dram->bank[b];
        any_open |= bank->open;
        all_ready &= !bank->open || may_precharge(t, bank, now);
        all_rested &= now - bank->precharged >= t->precharge_cycle;
    }
    if (any_open && all_ready)
        for (uint32_t b = 0; b < t->n_bank; b++)
            if (dram->bank[b].open) {
                dram->bank[b].open = false;
                dram->bank[b].precharged = now;
            }
    if (!any_open && all_rested) {
        dram->refresh_end = now + t->refresh_cycle;
        dram->refresh_due += t->refresh_interval_cycle;
    }
    return true;
}

/* Whole cycles until limit k is free; 0 when it is none of this access. */
static int64_t limit_end(const struct plain_dram *dram, int k, bool write)
{
    int64_t unit = (int64_t)dram->timing->limit[k].access;
    if (unit == 0 || (k == NOC_READS && write) || (k == NOC_WRITES && !write))
        return 0;
    return (dram->limit_end[k] + unit - 1) / unit;
}

static bool may_use_bus(const struct plain_dram *dram, bool write, int64_t now)
{
    const struct noc_dram *t = dram->timing;
    for (int k = 0; k < NOC_LIMITS; k++)
        if (now + (write ? t->write_cycle : t->read_cycle) < limit_end(dram, k, write))
            return false;
    if (write)
        return now + t->write_cycle >= dram->bus_end + (dram->last_read ? t->read_to_write_cycle : 0);
    return now + t->read_cycle >= dram->bus_end && now >= dram->write_end + t->write_to_read_cycle;
}

static void column(struct plain_dram *dram, struct plain_access *access, struct plain_bank *bank, int64_t now)
{
    const struct noc_dram *t = dram->timing;
    int64_t data = now + (access->write ? t->write_cycle : t->read_cycle);
    access->done = dram->bus_end = data + t->burst_cycle;
    dram->last_read = !access->write;
    for (int k = 0; k < NOC_LIMITS; k++) {
        int64_t unit = (int64_t)t->limit[k].access;
        if (unit == 0 || (k == NOC_READS && access->write) || (k == NOC_WRITES && !access->write))
            continue;
        if (limit_end(dram, k, access->write) < data)
            dram->limit_end[k] = data * unit;
        dram->limit_end[k] += (int64_t)t->limit[k].cycle;
        if (limit_end(dram, k, access->write) > access->done)
            access->done = limit_end(dram, k, access->write);
    }
    if (dram->current > 0 && access->done < dram->access[dram->current - 1].done)
        access->done = dram->access[dram->current - 1].done; /* data come in order */
    if (access->write) {
        dram->write_end = dram->bus_end;
        bank->written = now;
    } else {
        bank->read = now;
    }
    dram->n_miss += access->missed;
    dram->current++;
}

void plain_dram_tick(struct plain_dram *dram, int64_t now)
{
    const struct noc_dram *t = dram->timing;
    if (refresh_tick(dram, now) || dram->current == dram->n_access ||
        dram->access[dram->current].queued >= now)
        return;
    struct plain_access *access = &dram->access[dram->current];
    uint64_t burst = access->byte / t->burst_byte;
    struct plain_bank *bank = &dram->bank[burst % t->n_bank];
    uint64_t row = burst / t->n_bank * t->burst_byte / t->row_byte;
    if (bank->open && bank->row != row) {
        if (may_precharge(t, bank, now)) {
            bank->open = false;
            bank->precharged = now;
        }
    } else if (!bank->open) {
        if (now - bank->precharged >= t->precharge_cycle && now >= dram->refresh_end) {
            bank->open = true;
            bank->row = row;
            bank->activated = now;
            access->missed = true;
        }
    } else if (now - bank->activated >= t->activate_cycle && may_use_bus(dram, access->write, now)) {
        column(dram, access, bank, now);
    }
}
