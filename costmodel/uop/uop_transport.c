/* Picks the network; one that takes no time is links without a width. */
#include "costmodel/uop/uop_transport.h"

#include "costmodel/uop/uop_flits.h"
#include "costmodel/uop/uop_links.h"
#include "costmodel/uop/uop_stream.h"

const char *const uop_transport_name[3] = {"ideal", "links", "flits"};
const char *const uop_memory_name[2] = {"free", "dram"};
const char *const uop_firing_name[3] = {"static", "dynamic", "rounds"};

/* Of a uop in slices. */
static void add_stream(const struct uop_stream *stream, uint64_t result_word, uint64_t finish,
                       struct uop_dram_use *use)
{
    use->n_message += stream->n_read + stream->n_written;
    use->read_word += stream->read_word;
    use->received_word += stream->read_word;
    use->written_word += stream->written_word;
    use->sent_word += stream->written_word;
    use->spilled_word += stream->written_word - result_word;
    use->busy_cycle += stream->busy_cycle;
    use->cycle = finish > use->cycle ? finish : use->cycle;
}

/* What passes between DRAM and mesh, and messages: as flits a SEND is one, else one to each core. */
static void add_use(const struct uop_needs *needs, const struct kc_machine *machine,
                    const struct uop_steps *steps, uint32_t step, uint64_t finish, bool is_tree,
                    struct uop_dram_use *use)
{
    const struct uop_step *s = &steps->step[step];
    const uint32_t *to = steps->to + s->first_to, columns = machine->columns;
    const uint64_t word = steps->word[s->item];
    switch ((enum uop_step_kind)s->kind) {
    case UOP_RUN:
        if (steps->stream && steps->stream[s->item])
            add_stream(steps->stream[s->item], needs->is_result[s->item] ? word : 0, finish, use);
        return;
    case UOP_SEND:
        use->n_message += is_tree ? 1 : s->n_to;
        use->sent_word += word * (is_tree ? 1 : s->n_to);
        use->received_word += word * s->n_to;
        return;
    case UOP_READ:
        use->read_word += word;
        use->received_word += word * s->n_to;
        for (uint32_t k = 0; k < s->n_to; k++)
            use->n_message += k == 0 || to[k] / columns != to[k - 1] / columns;
        break;
    case UOP_WRITE:
        use->written_word += word;
        use->sent_word += word;
        use->spilled_word += needs->is_result[s->item] ? 0 : word;
        use->cycle = finish > use->cycle ? finish : use->cycle;
        use->n_message++;
        break;
    }
    use->busy_cycle += kc_dram_cycle(machine, word, s->kind == UOP_WRITE);
}

static enum dse_status run_dram(const struct uop_graph *graph, const struct kc_machine *machine,
                                const struct uop_schedule *schedule, const struct uop_setting *setting,
                                struct arena *scratch, struct uop_times *out, struct uop_link *link,
                                struct dse_error *err)
{
    struct uop_needs needs;
    struct uop_steps steps;
    DSE_TRY(uop_needs_of(graph, machine, setting->sram, scratch, &needs, err));
    DSE_TRY(uop_streams_of(graph, machine, setting->cancel, scratch, &needs, err));
    DSE_TRY(uop_memory_plan(graph, &needs, schedule, scratch, &steps, err));
    const struct uop_step_times times = {
        .start = arena_alloc_unset(scratch, steps.n_step, sizeof *times.start),
        .finish = arena_alloc_unset(scratch, steps.n_step, sizeof *times.finish)};
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    if (setting->transport == UOP_FLITS)
        DSE_TRY(uop_steps_flits(graph, machine, &steps, setting->cancel, scratch, &times, link, err));
    else
        DSE_TRY(uop_steps_run(graph, machine, &steps, scratch, &times, link, err));
    out->dram = (struct uop_dram_use){0};
    out->cycle = 0;
    for (uint32_t i = 0; i < steps.n_step; i++) {
        const struct uop_step *s = &steps.step[i];
        add_use(&needs, machine, &steps, i, times.finish[i], setting->transport == UOP_FLITS, &out->dram);
        if (s->kind != UOP_RUN)
            continue;
        out->start[s->item] = times.start[i];
        out->finish[s->item] = times.finish[i];
        out->cycle = times.finish[i] > out->cycle ? times.finish[i] : out->cycle;
    }
    out->cycle = out->dram.cycle > out->cycle ? out->dram.cycle : out->cycle;
    return DSE_OK;
}

enum dse_status uop_setting_check(const struct uop_setting *setting, enum uop_firing firing,
                                  struct dse_error *err)
{
    if (setting->transport == UOP_FLITS && firing == UOP_ROUNDS)
        return dse_fail(err, DSE_BAD_INPUT,
                        "the simulator of flits has no rounds; firing=rounds takes transport=ideal or links");
    if (setting->memory == UOP_DRAM && setting->sram == UOP_SRAM_SLICES && setting->transport != UOP_IDEAL)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "with memory=dram uops in slices have all their words from the DRAM at once, which is "
            "no message that transport=%s could time; take transport=ideal, sram=all or memory=free",
            uop_transport_name[setting->transport]);
    if (setting->memory == UOP_DRAM && firing != UOP_STATIC)
        return dse_fail(err, DSE_BAD_INPUT,
                        "memory=dram plans ahead what accelerators hold, by the order of their lists, so it "
                        "takes firing=static, not %s",
                        uop_firing_name[firing]);
    return DSE_OK;
}

enum dse_status uop_run(const struct uop_graph *graph, const struct kc_machine *machine,
                        const struct uop_schedule *schedule, const struct uop_setting *setting,
                        struct arena *scratch, struct uop_times *out, struct uop_link *link,
                        struct dse_error *err)
{
    struct kc_machine at = *machine;
    DSE_TRY(uop_setting_check(setting, schedule->firing, err));
    if (setting->transport == UOP_IDEAL)
        at.noc.flit_bit = 0;
    if (setting->memory == UOP_DRAM)
        return run_dram(graph, &at, schedule, setting, scratch, out, link, err);
    if (setting->transport == UOP_FLITS)
        return uop_run_flits(graph, machine, schedule, setting->cancel, scratch, out, link, err);
    if (schedule->firing == UOP_DYNAMIC)
        DSE_TRY(uop_run_ideal(graph, schedule, scratch, out, err));
    return uop_run_links(graph, &at, schedule, scratch, out, link, err);
}

enum dse_status uop_run_guess(const struct uop_graph *graph, const struct kc_machine *machine,
                              const struct uop_schedule *schedule, const struct uop_setting *setting,
                              struct arena *scratch, struct uop_times *out, struct uop_link *link,
                              struct dse_error *err)
{
    struct uop_setting cheap = *setting;
    if (setting->transport == UOP_FLITS && setting->memory == UOP_FREE)
        return uop_run_trees(graph, machine, schedule, scratch, out, err);
    if (setting->transport == UOP_FLITS)
        cheap.transport = UOP_LINKS;
    return uop_run(graph, machine, schedule, &cheap, scratch, out, link, err);
}
