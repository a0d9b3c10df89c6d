/* A second evaluation of fused schedules without a formula: at each event, whatever may start starts. */
#include "tests/support/fused_plain.h"

#include <string.h>

#include "tests/support/fused_oracle.h"

/* Both engines at a moment: what each does or would do next. */
struct moment {
    const struct fused_schedule *schedule;
    const struct fused_machine *machine;
    struct fused_trace *trace;
    uint64_t now;
    uint32_t tile, transfer; /* next or running: position, place in the DRAM order */
    bool computing, moving;
    uint64_t tile_over, transfer_over;
    bool *tile_done, *tensor_begun, *tensor_done; /* begun and done on the DRAM */
    bool overlap;            /* what is there at a moment lives at none of its positions together */
    uint32_t overlap_tensor; /* what began then */
};

static bool is_store(const struct fused_tensor *tensor)
{
    return tensor->kind == FUSED_OFMAP;
}

static int32_t last_read(const struct fused_tensor *tensor)
{
    if (tensor->first_use < 0)
        return -1;
    return tensor->last_read > tensor->last_use ? tensor->last_read : tensor->last_use;
}

/* Whether enough of a load in pieces is there, when the tile that takes it begins now: each piece comes
 * before its part of the tile's time, if the tile never stalls. */
static bool comes_in_time(const struct moment *m, uint32_t i)
{
    const struct fused_tensor *tensor = &m->schedule->tensor[i];
    uint64_t n = tensor->streamed, compute = m->schedule->tile[m->tile].cycle;
    if (!m->moving || m->schedule->dram_order[m->transfer] != i || tensor->first_use != (int32_t)m->tile)
        return false;
    uint64_t begin = m->trace->tensor_start[i], transfer = m->transfer_over - begin;
    for (uint64_t k = 1; k <= n; k++)
        if (n * begin + k * transfer > n * m->now + (k - 1) * compute)
            return false;
    return n > 1;
}

static bool tile_may_start(const struct moment *m)
{
    const struct fused_schedule *schedule = m->schedule;
    uint32_t p = m->tile;
    for (uint32_t r = 0; r < schedule->n_read[p]; r++)
        if (!m->tensor_done[schedule->read[schedule->first_read[p] + r]] &&
            !comes_in_time(m, schedule->read[schedule->first_read[p] + r]))
            return false;
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        if (schedule->tensor[i].kind != FUSED_LOCAL && schedule->tensor[i].end <= (int32_t)p &&
            !m->tensor_done[i])
            return false;
    return true;
}

static bool transfer_may_start(const struct moment *m)
{
    const struct fused_tensor *tensor = &m->schedule->tensor[m->schedule->dram_order[m->transfer]];
    int32_t after = is_store(tensor) ? tensor->producer_tile : tensor->start - 1;
    return after < 0 || (after < (int32_t)m->schedule->n_tile && m->tile_done[after]);
}

/* Whether a tensor's bytes are really in the buffer: from when its load or its tile begins, until it is
 * stored and the last tile that reads it is over. */
static bool is_there(const struct moment *m, uint32_t i)
{
    const struct fused_tensor *tensor = &m->schedule->tensor[i];
    int32_t made = tensor->producer_tile, last = last_read(tensor) > made ? last_read(tensor) : made;
    bool begun =
        made < 0 ? m->tensor_begun[i] : m->tile_done[made] || (m->computing && m->tile == (uint32_t)made);
    bool used = last < 0 || m->tile_done[last];
    return begun && !(used && (tensor->kind == FUSED_LOCAL || m->tensor_done[i]));
}

static bool all_live_at(const struct moment *m, int32_t p)
{
    for (uint32_t i = 0; i < m->schedule->n_tensor; i++)
        if (is_there(m, i) && (m->schedule->tensor[i].start > p || m->schedule->tensor[i].end <= p))
            return false;
    return true;
}

/* What is in the buffer now lives at the position of the tile that is next or runs, all of it; or, before
 * that tile begins, at the position before. Else more may be there than any position has. */
static void look_for_overlap(struct moment *m, uint32_t began)
{
    int32_t p = (int32_t)m->tile;
    if (m->overlap || (p < (int32_t)m->schedule->n_tile && all_live_at(m, p)) ||
        (!m->computing && all_live_at(m, p - 1)))
        return;
    m->overlap = true;
    m->overlap_tensor = began;
}

static void start_what_may(struct moment *m)
{
    if (!m->computing && m->tile < m->schedule->n_tile && tile_may_start(m)) {
        m->computing = true;
        m->tile_over = m->now + m->schedule->tile[m->tile].cycle;
        m->trace->tile_start[m->tile] = m->now;
        m->trace->tile_finish[m->tile] = m->tile_over;
        look_for_overlap(m, UINT32_MAX);
    }
    if (!m->moving && m->transfer < m->schedule->n_dram && transfer_may_start(m)) {
        uint32_t i = m->schedule->dram_order[m->transfer];
        uint64_t byte = m->schedule->tensor[i].dram_byte;
        m->moving = true;
        m->transfer_over = m->now;
        bool store = is_store(&m->schedule->tensor[i]) && m->machine->differs;
        struct byte_rate rate = store ? m->machine->store_rate : m->machine->dram_rate;
        while ((m->transfer_over - m->now) * rate.byte < byte * rate.cycle)
            m->transfer_over++;
        m->trace->tensor_start[i] = m->now;
        m->trace->tensor_finish[i] = m->transfer_over;
        m->tensor_begun[i] = true;
        look_for_overlap(m, i);
    }
}

/* End what ends now; false when nothing did. */
static bool end_what_is_over(struct moment *m)
{
    bool ended = false;
    if (m->computing && m->tile_over == m->now) {
        m->tile_done[m->tile++] = true;
        m->computing = false;
        ended = true;
    }
    if (m->moving && m->transfer_over == m->now) {
        m->tensor_done[m->schedule->dram_order[m->transfer++]] = true;
        m->moving = false;
        ended = true;
    }
    return ended;
}

static void run(struct moment *m)
{
    for (;;) {
        do
            start_what_may(m);
        while (end_what_is_over(m));
        if (!m->computing && !m->moving)
            return;
        if (!m->computing && m->moving &&
            m->schedule->tensor[m->schedule->dram_order[m->transfer]].streamed > 1)
            m->now++; /* the tile may begin before it is over */
        else if (m->computing && m->moving)
            m->now = m->tile_over < m->transfer_over ? m->tile_over : m->transfer_over;
        else
            m->now = m->computing ? m->tile_over : m->transfer_over;
    }
}

/* The first tensor that is not alive where it is made or used, or does not live within the schedule. */
static bool find_dead(const struct fused_schedule *schedule, uint32_t *dead)
{
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        bool alive =
            tensor->start >= -1 && tensor->end > tensor->start && tensor->end <= (int32_t)schedule->n_tile;
        for (int32_t p = 0; p < (int32_t)schedule->n_tile; p++) {
            bool used = tensor->first_use >= 0 && p >= tensor->first_use && p <= last_read(tensor);
            if ((used || p == tensor->producer_tile) && !(tensor->start <= p && p < tensor->end))
                alive = false;
        }
        if (tensor->streamed &&
            (is_store(tensor) ? tensor->end > tensor->limit : tensor->start < tensor->limit))
            alive = false;
        *dead = i;
        if (!alive)
            return true;
    }
    return false;
}

/* The first load of the DRAM order that does not find all of its source layer stored. */
static bool find_too_early(const struct fused_schedule *schedule, uint32_t *early)
{
    for (uint32_t k = 0; k < schedule->n_dram; k++) {
        const struct fused_tensor *load = &schedule->tensor[schedule->dram_order[k]];
        uint32_t n_before = 0, n_after = 0;
        if (load->kind != FUSED_IFMAP || load->source < 0)
            continue;
        for (uint32_t j = 0; j < schedule->n_dram; j++) {
            const struct fused_tensor *store = &schedule->tensor[schedule->dram_order[j]];
            if (is_store(store) && (int64_t)store->layer == load->source)
                *(j < k ? &n_before : &n_after) += 1;
        }
        *early = schedule->dram_order[k];
        if (n_before == 0 || n_after > 0)
            return true;
    }
    return false;
}

static bool count_living(const struct fused_schedule *schedule, const struct fused_machine *machine,
                         struct fused_trace *trace, struct fused_result *result)
{
    bool fits = true;
    for (int32_t p = -1; p < (int32_t)schedule->n_tile; p++) {
        uint64_t living = 0;
        for (uint32_t i = 0; i < schedule->n_tensor; i++)
            if (schedule->tensor[i].start <= p && p < schedule->tensor[i].end)
                living += schedule->tensor[i].byte;
        trace->living_byte[p + 1] = living;
        if (living > result->buffer_max_byte)
            result->buffer_max_byte = living;
        if (living > machine->buffer_byte && fits) {
            result->fault_position = p;
            fits = false;
        }
    }
    return fits;
}

bool fused_plain(const struct fused_schedule *schedule, const struct fused_machine *machine,
                 struct arena *scratch, struct fused_trace *trace, struct fused_result *result)
{
    struct moment m = {.schedule = schedule, .machine = machine, .trace = trace};
    m.tile_done = arena_alloc(scratch, (size_t)schedule->n_tile + 1, sizeof *m.tile_done);
    m.tensor_done = arena_alloc(scratch, (size_t)schedule->n_tensor + 1, sizeof *m.tensor_done);
    m.tensor_begun = arena_alloc(scratch, (size_t)schedule->n_tensor + 1, sizeof *m.tensor_begun);
    if (!m.tile_done || !m.tensor_done || !m.tensor_begun)
        return false;
    memset(result, 0, sizeof *result);
    for (uint32_t p = 0; p < schedule->n_tile; p++)
        trace->tile_start[p] = trace->tile_finish[p] = FUSED_NEVER;
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        trace->tensor_start[i] = trace->tensor_finish[i] =
            schedule->tensor[i].kind == FUSED_LOCAL ? 0 : FUSED_NEVER;
    run(&m);
    bool ends = m.tile == schedule->n_tile && m.transfer == schedule->n_dram;
    bool fits = count_living(schedule, machine, trace, result);
    result->cycle = ends ? m.now : FUSED_NEVER;
    if (find_dead(schedule, &result->fault_tensor)) {
        result->fault = FUSED_LIFETIME;
    } else if (find_too_early(schedule, &result->fault_tensor)) {
        result->fault = FUSED_ORDER;
    } else if (!ends) {
        result->fault = FUSED_DEADLOCK;
        result->fault_tensor = schedule->dram_order[m.transfer];
    } else if (m.overlap) {
        result->fault = FUSED_OVERLAP;
        result->fault_tensor = m.overlap_tensor;
    } else {
        result->fault = fits ? FUSED_OK : FUSED_BUFFER;
        result->fault_tensor = 0;
    }
    if (result->fault != FUSED_BUFFER)
        result->fault_position = 0;
    return true;
}
