/* Banks with their rows, timing windows and refreshes; an access that has just been queued can be taken
 * back, so that a steady stream can be tried. */
#include "costmodel/noc/noc_mesh.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void noc_dram_init(struct noc_dram_state *dram, const struct noc_dram *timing, struct arena *arena)
{
    *dram = (struct noc_dram_state){.timing = timing};
    dram->refresh_due = timing->refresh_interval_cycle ? timing->refresh_interval_cycle : UINT64_MAX;
    dram->bank = arena_alloc(arena, timing->n_bank, sizeof *dram->bank);
}

/* All banks are closed as soon as the last open one may be, then rest for tRFC. */
static void refresh(struct noc_dram_state *dram)
{
    const struct noc_dram *timing = dram->timing;
    uint64_t precharge = dram->refresh_due, ready = dram->refresh_due;
    bool any_open = false;
    for (uint32_t b = 0; b < timing->n_bank; b++) {
        const struct noc_bank *bank = &dram->bank[b];
        if (bank->open) {
            any_open = true;
            precharge = later(precharge, bank->precharge_ok);
        }
        ready = later(ready, bank->activate_ok);
    }
    if (any_open)
        ready = later(ready, precharge + timing->precharge_cycle);
    for (uint32_t b = 0; b < timing->n_bank; b++) {
        dram->bank[b].open = false;
        dram->bank[b].activate_ok = ready + timing->refresh_cycle;
    }
    dram->refresh_due += timing->refresh_interval_cycle;
}

/* Refreshes of a long idle time: the first closes all rows; of the others only the last can still be felt.
 * Each is over before the next is due (noc_check). */
static void skip_refreshes(struct noc_dram_state *dram, uint64_t now)
{
    uint64_t interval = dram->timing->refresh_interval_cycle;
    if (now <= dram->refresh_due || now - dram->refresh_due <= 4 * interval ||
        dram->command_ok > dram->refresh_due)
        return;
    refresh(dram);
    dram->refresh_due += (now - dram->refresh_due) / interval * interval;
}

/* Whether limit k holds for an access. */
static bool is_limited(const struct noc_dram_state *dram, uint32_t k, bool write)
{
    return dram->timing->limit[k].access != 0 && k != (write ? NOC_READS : NOC_WRITES);
}

/* The data of one access begin in cycle `data`, or what is left of the cycle before it. When the bandwidth
 * has brought them. */
static uint64_t take(struct noc_limit_state *state, struct noc_limit limit, uint64_t data)
{
    uint64_t ahead = data == state->free ? state->ahead : 0;
    uint64_t n = (limit.cycle + limit.access - 1 - ahead) / limit.access;
    state->free = data + n;
    state->ahead = n * limit.access + ahead - limit.cycle;
    return state->free;
}

/* The earliest column command that the data bus, its turnarounds and the bandwidth allow. */
static uint64_t column_after_bus(const struct noc_dram_state *dram, bool write)
{
    const struct noc_dram *timing = dram->timing;
    uint64_t delay = write ? timing->write_cycle : timing->read_cycle;
    uint64_t data = dram->bus_free + (write && dram->last_was_read ? timing->read_to_write_cycle : 0);
    for (uint32_t k = 0; k < NOC_LIMITS; k++)
        if (is_limited(dram, k, write))
            data = later(data, dram->limited[k].free);
    uint64_t column = data > delay ? data - delay : 0;
    return write ? column : later(column, dram->read_ok);
}

static uint64_t issue_column(struct noc_dram_state *dram, struct noc_bank *bank, bool write, uint64_t column)
{
    const struct noc_dram *timing = dram->timing;
    uint64_t data = column + (write ? timing->write_cycle : timing->read_cycle);
    uint64_t end = data + timing->burst_cycle, done = later(end, dram->done);
    for (uint32_t k = 0; k < NOC_LIMITS; k++)
        if (is_limited(dram, k, write))
            done = later(done, take(&dram->limited[k], timing->limit[k], data));
    if (write) {
        dram->read_ok = end + timing->write_to_read_cycle;
        bank->precharge_ok = later(bank->precharge_ok, end + timing->write_recovery_cycle);
    } else {
        bank->precharge_ok = later(bank->precharge_ok, column + timing->read_to_precharge_cycle);
    }
    dram->command_ok = column + 1;
    dram->bus_free = end;
    dram->last_was_read = !write;
    dram->done = done;
    return done;
}

/* Consecutive bursts go to consecutive banks. */
static struct noc_bank *bank_of(const struct noc_dram_state *dram, uint64_t byte)
{
    return &dram->bank[byte / dram->timing->burst_byte % dram->timing->n_bank];
}

uint64_t noc_dram_access(struct noc_dram_state *dram, uint64_t now, bool write, uint64_t byte)
{
    const struct noc_dram *timing = dram->timing;
    uint64_t burst = byte / timing->burst_byte;
    struct noc_bank *bank = bank_of(dram, byte);
    uint64_t row = burst / timing->n_bank / (timing->row_byte / timing->burst_byte);
    uint64_t earliest = later(now + 1, dram->command_ok);
    uint64_t column_bus = column_after_bus(dram, write);
    bool missed = false;
    if (write)
        dram->n_write++;
    else
        dram->n_read++;
    skip_refreshes(dram, now);
    for (;;) {
        if (bank->open && bank->row == row) {
            uint64_t column = later(later(earliest, bank->column_ok), column_bus);
            if (column < dram->refresh_due) {
                dram->n_row_miss += missed;
                return issue_column(dram, bank, write, column);
            }
            refresh(dram);
        } else if (bank->open) {
            uint64_t precharge = later(earliest, bank->precharge_ok);
            if (precharge < dram->refresh_due) {
                bank->open = false;
                bank->activate_ok = later(bank->activate_ok, precharge + timing->precharge_cycle);
                earliest = precharge + 1;
            } else {
                refresh(dram);
            }
        } else {
            uint64_t activate = later(earliest, bank->activate_ok);
            if (activate < dram->refresh_due) {
                bank->open = true;
                bank->row = row;
                bank->column_ok = activate + timing->activate_cycle;
                bank->precharge_ok = activate + timing->row_active_cycle;
                earliest = activate + 1;
                missed = true;
            } else {
                refresh(dram);
            }
        }
    }
}

bool noc_dram_access_if(struct noc_dram_state *dram, uint64_t now, bool write, uint64_t byte, uint64_t done,
                        struct noc_dram_undo *undo)
{
    const struct noc_dram *timing = dram->timing;
    struct noc_bank *bank = bank_of(dram, byte);
    /* No command of the access is later than this. */
    uint64_t latest = later(later(now + 1, dram->command_ok), later(dram->bus_free, dram->read_ok));
    latest = later(latest, later(bank->precharge_ok, later(bank->activate_ok, bank->column_ok)));
    for (uint32_t k = 0; k < NOC_LIMITS; k++)
        latest = later(latest, dram->limited[k].free);
    latest += timing->precharge_cycle + timing->activate_cycle + timing->read_to_write_cycle;
    if (latest >= dram->refresh_due)
        return false;
    *undo = (struct noc_dram_undo){*dram, bank, *bank};
    if (noc_dram_access(dram, now, write, byte) == done)
        return true;
    noc_dram_undo(dram, undo);
    return false;
}

void noc_dram_undo(struct noc_dram_state *dram, const struct noc_dram_undo *undo)
{
    *dram = undo->state;
    *undo->at = undo->bank;
}
