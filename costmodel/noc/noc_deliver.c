/* Writes the transactions of a step with the cost model's traffic: each buffer has two places for tiles, and
 * a tile comes again whenever the loops need it again. */
#include <string.h>

#include "costmodel/noc/noc_writer.h"

void noc_deliver_init(struct noc_writer *w)
{
    struct noc_delivery *d = &w->delivery;
    memset(d, 0xff, sizeof *d);
    for (uint32_t i = 0; i < PROBLEM_TENSOR_MAX; i++)
        d->pe[i].n = d->buffer[i].n = 0;
    for (uint32_t h = 0; h < 2; h++)
        memset(w->left[h], 0xff, w->plan->n_pe * sizeof **w->left);
}

static uint32_t moved(const struct noc_plan *plan, const uint32_t *table, uint32_t whole, uint32_t loop)
{
    return loop == plan->n_loop ? whole : table[loop];
}

/* Whether these outputs have been here before, so that their sums come back. */
static bool has_sums(const struct noc_writer *w, const struct noc_stream *stream)
{
    for (uint32_t j = 0; j < w->plan->n_loop; j++)
        if ((stream->reduced >> j & 1u) && w->digit[j] != 0)
            return true;
    return false;
}

/* A new tile begins; the first count of the last step that used what was in its place, or NOC_NONE. */
static uint32_t turn_over(struct noc_writer *w, struct noc_tiles *tiles)
{
    uint32_t free_after = tiles->before;
    tiles->before = w->delivery.old_counts;
    tiles->n++;
    return free_after;
}

/* Memory to global buffer. */
static void fetch(struct noc_writer *w, uint32_t i, uint32_t advanced)
{
    const struct noc_plan *plan = w->plan;
    const struct noc_stream *stream = &plan->stream[i];
    struct noc_delivery *d = &w->delivery;
    uint32_t size = moved(plan, stream->fetch, stream->buffer_packets, advanced);
    if (!stream->buffered || size == 0)
        return;
    uint32_t free_after = turn_over(w, &d->buffer[i]), place = d->buffer[i].n % 2;
    if (stream->is_output && !has_sums(w, stream))
        return;
    noc_begin(w, NOC_UNICAST, plan->dram_port, size);
    noc_to(w, plan->buffer_port);
    if (free_after != NOC_NONE)
        for (uint32_t pe = 0; pe < plan->n_pe; pe++)
            noc_after(w, free_after + pe);
    if (stream->is_output && d->written[place] != NOC_NONE)
        noc_after(w, d->written[place]);
    d->fetched[i] = noc_end(w);
}

/* Into the PEs that share a tile. */
static void send(struct noc_writer *w, uint32_t i, uint32_t advanced)
{
    const struct noc_plan *plan = w->plan;
    const struct noc_stream *stream = &plan->stream[i];
    struct noc_delivery *d = &w->delivery;
    uint32_t size = moved(plan, stream->send, stream->pe_packets, advanced);
    w->sent[i] = NOC_NONE;
    if (size == 0)
        return;
    uint32_t free_after = turn_over(w, &d->pe[i]), place = d->pe[i].n % 2;
    if (stream->is_output && !has_sums(w, stream))
        return;
    w->sent[i] = w->program->n_transaction;
    for (uint32_t g = 0; g < stream->n_group; g++) {
        uint32_t first = stream->first_member[g], last = stream->first_member[g + 1];
        noc_begin(w, last - first > 1 ? NOC_MULTICAST : NOC_UNICAST,
                  stream->buffered ? plan->buffer_port : plan->dram_port, size);
        for (uint32_t k = first; k < last; k++)
            noc_to(w, stream->member[k]);
        for (uint32_t k = first; free_after != NOC_NONE && k < last; k++)
            noc_after(w, free_after + stream->member[k]);
        if (stream->buffered && d->fetched[i] != NOC_NONE)
            noc_after(w, d->fetched[i]);
        if (stream->is_output && d->stores[place] != NOC_NONE)
            noc_after(w, d->stores[place] + g);
        noc_end(w);
    }
}

/* One step after the other, each with what it receives and, for new outputs, room for them. */
static void compute(struct noc_writer *w, bool new_outputs)
{
    const struct noc_plan *plan = w->plan;
    struct noc_delivery *d = &w->delivery;
    uint32_t *left = w->left[d->pe[0].n % 2];
    d->counts = w->program->n_transaction;
    for (uint32_t pe = 0; pe < plan->n_pe; pe++) {
        noc_begin(w, NOC_COUNT, pe, plan->pe_cycle);
        for (uint32_t i = plan->n_stream; i-- > 0;)
            if (w->sent[i] != NOC_NONE && plan->stream[i].group[pe] != NOC_NONE)
                noc_after(w, w->sent[i] + plan->stream[i].group[pe]);
        if (d->old_counts != NOC_NONE)
            noc_after(w, d->old_counts + pe);
        if (new_outputs && left[pe] != NOC_NONE)
            noc_after(w, left[pe]);
        noc_end(w);
    }
    if (new_outputs)
        memset(left, 0xff, plan->n_pe * sizeof *left);
}

/* Sum up between the PEs. */
static void reduce(struct noc_writer *w, uint32_t size)
{
    const struct noc_plan *plan = w->plan;
    uint32_t *left = w->left[w->delivery.pe[0].n % 2];
    w->first_link = w->program->n_transaction;
    for (uint32_t i = 0; i < plan->n_link; i++) {
        const struct noc_link *link = &plan->link[i];
        noc_begin(w, NOC_UNICAST, link->from, size);
        noc_to(w, link->to);
        noc_after(w, w->delivery.counts + link->from);
        if (link->row_before != NOC_NONE)
            noc_after(w, w->first_link + link->row_before);
        if (link->column_before != NOC_NONE)
            noc_after(w, w->first_link + link->column_before);
        left[link->from] = noc_end(w);
    }
}

/* The sums to the buffer, when its place is free, or to memory. */
static void store(struct noc_writer *w, uint32_t size)
{
    const struct noc_plan *plan = w->plan;
    const struct noc_stream *output = &plan->stream[0];
    struct noc_delivery *d = &w->delivery;
    uint32_t *left = w->left[d->pe[0].n % 2], room = d->written[d->buffer[0].n % 2];
    d->stores[d->pe[0].n % 2] = w->program->n_transaction;
    for (uint32_t g = 0; g < output->n_group; g++) {
        uint32_t pe = plan->sum_pe[g];
        noc_begin(w, NOC_UNICAST, pe, size);
        noc_to(w, output->buffered ? plan->buffer_port : plan->dram_port);
        noc_after(w, d->counts + pe);
        for (uint32_t i = 0; i < plan->n_link; i++)
            if (plan->link[i].to == pe)
                noc_after(w, w->first_link + i);
        if (output->buffered && room != NOC_NONE)
            noc_after(w, room);
        left[pe] = noc_end(w);
    }
}

/* Global buffer to memory. */
static void write_back(struct noc_writer *w, uint32_t size)
{
    const struct noc_plan *plan = w->plan;
    const struct noc_stream *output = &plan->stream[0];
    struct noc_delivery *d = &w->delivery;
    uint32_t first = d->stores[d->pe[0].n % 2];
    noc_begin(w, NOC_UNICAST, plan->buffer_port, size);
    noc_to(w, plan->dram_port);
    for (uint32_t g = 0; g < output->n_group; g++)
        noc_after(w, first + g);
    d->written[d->buffer[0].n % 2] = noc_end(w);
}

void noc_deliver_step(struct noc_writer *w, uint32_t advanced, uint32_t next)
{
    const struct noc_plan *plan = w->plan;
    const struct noc_stream *output = &plan->stream[0];
    uint32_t out = moved(plan, output->send, output->pe_packets, next);
    uint32_t back = moved(plan, output->fetch, output->buffer_packets, next);
    w->delivery.old_counts = w->delivery.counts;
    for (uint32_t i = 0; i < plan->n_stream; i++)
        fetch(w, i, advanced);
    for (uint32_t i = 0; i < plan->n_stream; i++)
        send(w, i, advanced);
    compute(w, moved(plan, output->send, output->pe_packets, advanced) > 0);
    if (out > 0) {
        reduce(w, out);
        store(w, out);
    }
    if (output->buffered && back > 0)
        write_back(w, back);
}
