/* Launches as text and as rows of a table. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/loopnest/gpu_schedule.h"

enum { COUNTER_MAX = PROBLEM_DIM_NAME_MAX + 16, TERM_MAX = 96 };

static const char axis_letter[3] = {'x', 'y', 'z'};

/* "c2": the serial loop over C at level 2. */
static const char *counter(const struct problem *problem, uint32_t d, uint32_t l, char *buffer, size_t size)
{
    const char *name = problem->dim_name[d];
    size_t n = 0;
    for (; name[n] && n + 1 < size; n++)
        buffer[n] = (char)tolower((unsigned char)name[n]);
    (void)snprintf(buffer + n, size - n, "%" PRIu32, l);
    return buffer;
}

static void write_axes(const struct problem *problem, const struct gpu_axes *axes, struct text_buffer *out)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        const char *between = "";
        if (axes->size[axis] == 1)
            continue;
        text_append(out, "  %c: ", axis_letter[axis]);
        for (uint32_t i = 0; i < axes->n_part; i++) {
            if (axes->part[i].axis != axis)
                continue;
            text_append(out, "%s%s %" PRIu64, between, problem->dim_name[axes->part[i].dim],
                        axes->part[i].factor);
            between = " x ";
        }
    }
    text_append(out, "\n");
}

/* "Weights 4 + Inputs 4 + Outputs 16" */
static void write_tiles(const struct problem *problem, const uint64_t *word, struct text_buffer *out)
{
    const char *between = "";
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        char digits[40];
        if (word[t] == 0)
            continue;
        text_append(out, "%s%s %s", between, problem->tensor[t].name,
                    text_thousands(word[t], digits, sizeof digits));
        between = " + ";
    }
}

static void write_storages(const struct problem *problem, const struct architecture *arch,
                           const struct gpu_schedule *schedule, struct text_buffer *out)
{
    const struct storage_level *shared = &arch->level[arch->gpu.level];
    char have[40], most[40];
    uint64_t usable = architecture_usable_words(shared);
    text_append(out, "  shared     ");
    write_tiles(problem, schedule->shared_word, out);
    text_append(out, " words, %s B", text_thousands(schedule->shared_byte, have, sizeof have));
    if (usable != ARCH_UNLIMITED)
        text_append(out, " of %s B", text_thousands(usable * shared->word_bit / 8, most, sizeof most));
    text_append(out, "\n  registers  ");
    write_tiles(problem, schedule->register_word, out);
    text_append(out, " = %" PRIu64 " words of a thread, %s B", schedule->register_words,
                text_thousands(schedule->register_byte, have, sizeof have));
    text_append(out, " of %s B of a block\n", text_thousands(arch->gpu.register_bit / 8, most, sizeof most));
}

/* The serial loops of levels `outer` to `inner`, outermost first: "for c2 < 8, r2 < 3". Nothing when there
 * are none. */
static void write_loops(const struct problem *problem, const struct architecture *arch,
                        const struct mapping *mapping, uint32_t outer, uint32_t inner, const char *what,
                        uint32_t *depth, struct text_buffer *out)
{
    const char *between = "for ";
    uint32_t n = 0;
    for (uint32_t l = outer + 1; l-- > inner;) {
        const struct mapping_level *level = &mapping->level[l];
        for (uint32_t i = problem->n_dim; i-- > 0;) {
            uint32_t d = level->temporal_order[i];
            char name[COUNTER_MAX];
            if (level->temporal[d] == 1 || !gpu_loop_is_serial(problem, arch, l, d))
                continue;
            if (n++ == 0)
                text_append(out, "%s%*s", *depth ? "             " : "  loops      ", (int)(2 * *depth), "");
            text_append(out, "%s%s < %" PRIu32, between, counter(problem, d, l, name, sizeof name),
                        level->temporal[d]);
            between = ", ";
        }
    }
    if (n == 0)
        return;
    text_append(out, "  (%s)\n", what);
    ++*depth;
}

/* One summand of an index. */
struct summand {
    uint64_t step;
    char text[TERM_MAX];
};

static void add_summand(struct summand *list, uint32_t *n, uint64_t step, const char *text)
{
    uint32_t i = *n;
    for (; i > 0 && list[i - 1].step < step; i--)
        list[i] = list[i - 1];
    list[i].step = step;
    (void)snprintf(list[i].text, sizeof list[i].text, "%s", text);
    ++*n;
}

/* "blockIdx.x", or "(threadIdx.x / 14 % 4)" where several loops share the axis. */
static void add_parts(const struct gpu_axes *axes, uint32_t d, const char *index, struct summand *list,
                      uint32_t *n)
{
    for (uint32_t i = 0; i < axes->n_part; i++) {
        const struct gpu_part *part = &axes->part[i];
        bool first = part->stride == 1, last = part->stride * part->factor == axes->size[part->axis];
        char text[TERM_MAX], divide[32] = "", modulo[32] = "";
        if (part->dim != d)
            continue;
        if (!first)
            (void)snprintf(divide, sizeof divide, " / %" PRIu64, part->stride);
        if (!last)
            (void)snprintf(modulo, sizeof modulo, " %% %" PRIu64, part->factor);
        (void)snprintf(text, sizeof text, "%s%s.%c%s%s%s", first && last ? "" : "(", index,
                       axis_letter[part->axis], divide, modulo, first && last ? "" : ")");
        add_summand(list, n, part->step, text);
    }
}

/* "K = 32 * blockIdx.z + 4 * threadIdx.z + k0" for every dimension that has loops. */
static void write_indices(const struct problem *problem, const struct architecture *arch,
                          const struct mapping *mapping, const struct gpu_schedule *schedule,
                          struct text_buffer *out)
{
    bool first = true;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        struct summand list[2 * GPU_PART_MAX + ARCH_LEVEL_MAX];
        uint64_t step = 1;
        uint32_t n = 0;
        add_parts(&schedule->grid, d, "blockIdx", list, &n);
        add_parts(&schedule->block, d, "threadIdx", list, &n);
        for (uint32_t l = 0; l < arch->n_level; l++) {
            char name[COUNTER_MAX];
            step *= mapping->level[l].spatial[d];
            if (mapping->level[l].temporal[d] > 1 && gpu_loop_is_serial(problem, arch, l, d))
                add_summand(list, &n, step, counter(problem, d, l, name, sizeof name));
            step *= mapping->level[l].temporal[d];
        }
        if (n == 0)
            continue;
        text_append(out, "%s%s =", first ? "  indices    " : "             ", problem->dim_name[d]);
        for (uint32_t i = 0; i < n; i++) {
            text_append(out, i ? " + " : " ");
            if (list[i].step > 1)
                text_append(out, "%" PRIu64 " * ", list[i].step);
            text_append(out, "%s", list[i].text);
        }
        if (step > problem->bound[d]) /* a padded bound */
            text_append(out, ", while < %" PRIu32, problem->bound[d]);
        text_append(out, "\n");
        first = false;
    }
}

/* Who must add up, beyond a thread's own sums. */
static void write_note(const struct problem *problem, const struct gpu_axes *axes, uint32_t dims,
                       const char *who, const char *how, struct text_buffer *out)
{
    uint64_t n = 1;
    const char *between = "";
    char digits[40];
    if (!dims)
        return;
    for (uint32_t i = 0; i < axes->n_part; i++)
        if (dims >> axes->part[i].dim & 1u)
            n *= axes->part[i].factor;
    text_append(out, "  note       %s %s along ", text_thousands(n, digits, sizeof digits), who);
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        if (!(dims >> d & 1u))
            continue;
        text_append(out, "%s%s", between, problem->dim_name[d]);
        between = ", ";
    }
    text_append(out, " add into the same outputs: %s\n", how);
}

static enum dse_status accepts(const struct problem *problem, const struct architecture *arch,
                               struct dse_error *err)
{
    (void)problem;
    return arch->gpu.present
               ? DSE_OK
               : dse_fail(err, DSE_BAD_USAGE,
                          "%s is no GPU; its file has no part gpu that names the threads of a block",
                          arch->name);
}

static void write_text(const struct mapping *mapping, const struct problem *problem,
                       const struct architecture *arch, struct text_buffer *out)
{
    const struct gpu_limits *gpu = &arch->gpu;
    struct gpu_schedule s;
    char digits[40], most[40], reason[128];
    uint32_t depth = 0;
    gpu_schedule_of(problem, arch, mapping, &s);
    text_append(out, "  gridDim    (%" PRIu64 ", %" PRIu64 ", %" PRIu64 "), %s block%s", s.grid.size[0],
                s.grid.size[1], s.grid.size[2], text_thousands(s.blocks, digits, sizeof digits),
                s.blocks == 1 ? "" : "s");
    write_axes(problem, &s.grid, out);
    text_append(out,
                "  blockDim   (%" PRIu64 ", %" PRIu64 ", %" PRIu64 "), %s of %s threads in (%" PRIu32
                ", %" PRIu32 ", %" PRIu32 ")",
                s.block.size[0], s.block.size[1], s.block.size[2],
                text_thousands(s.threads, digits, sizeof digits),
                text_thousands(gpu->threads_per_block, most, sizeof most), gpu->thread_dim[0],
                gpu->thread_dim[1], gpu->thread_dim[2]);
    write_axes(problem, &s.block, out);
    write_storages(problem, arch, &s, out);
    write_loops(problem, arch, mapping, arch->n_level - 1, gpu->level + 1, "filling the shared memory",
                &depth, out);
    write_loops(problem, arch, mapping, gpu->level, gpu->level, "in shared memory", &depth, out);
    write_loops(problem, arch, mapping, gpu->level - 1, 0, "in registers", &depth, out);
    write_indices(problem, arch, mapping, &s, out);
    if (s.unfinished)
        text_append(
            out, "  note       blocks come back to sums that they left: they add to the outputs in memory\n");
    if (!gpu_schedule_check(arch, &s, reason, sizeof reason))
        text_append(out, "  invalid    %s\n", reason);
    write_note(problem, &s.grid, s.shared_by_blocks, "blocks", "atomically, from 0", out);
    write_note(problem, &s.block, s.shared_by_threads, "threads of a block",
               "together, before they are written", out);
}

/* ---------------------------------------- as a table */

static void csv_header(struct text_buffer *out)
{
    text_append(out,
                "grid_x,grid_y,grid_z,block_x,block_y,block_z,blocks,threads,grid_loops_x,grid_loops_y,"
                "grid_loops_z,block_loops_x,block_loops_y,block_loops_z,shared_byte,register_word_per_thread,"
                "register_byte_per_block,loops_filling,loops_shared,loops_register");
}

static void csv_axes(const struct problem *problem, const struct gpu_axes *axes, struct text_buffer *out)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        const char *between = ",";
        for (uint32_t i = 0; i < axes->n_part; i++) {
            if (axes->part[i].axis != axis)
                continue;
            text_append(out, "%s%s=%" PRIu64, between, problem->dim_name[axes->part[i].dim],
                        axes->part[i].factor);
            between = " ";
        }
        if (between[0] == ',')
            text_append(out, ",");
    }
}

/* Outermost first. */
static void csv_loops(const struct problem *problem, const struct architecture *arch,
                      const struct mapping *mapping, uint32_t outer, uint32_t inner, struct text_buffer *out)
{
    const char *between = ",";
    for (uint32_t l = outer + 1; l-- > inner;)
        for (uint32_t i = problem->n_dim; i-- > 0;) {
            uint32_t d = mapping->level[l].temporal_order[i];
            if (mapping->level[l].temporal[d] == 1 || !gpu_loop_is_serial(problem, arch, l, d))
                continue;
            text_append(out, "%s%s=%" PRIu32, between, problem->dim_name[d], mapping->level[l].temporal[d]);
            between = " ";
        }
    if (between[0] == ',')
        text_append(out, ",");
}

static void csv_row(const struct mapping *mapping, const struct problem *problem,
                    const struct architecture *arch, struct text_buffer *out)
{
    uint32_t threads = arch->gpu.level;
    struct gpu_schedule s;
    gpu_schedule_of(problem, arch, mapping, &s);
    text_append(
        out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
        s.grid.size[0], s.grid.size[1], s.grid.size[2], s.block.size[0], s.block.size[1], s.block.size[2],
        s.blocks, s.threads);
    csv_axes(problem, &s.grid, out);
    csv_axes(problem, &s.block, out);
    text_append(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, s.shared_byte, s.register_words, s.register_byte);
    csv_loops(problem, arch, mapping, arch->n_level - 1, threads + 1, out);
    csv_loops(problem, arch, mapping, threads, threads, out);
    csv_loops(problem, arch, mapping, threads - 1, 0, out);
}

const struct mapping_text mapping_text_gpu = {
    .name = "gpu",
    .sentence = "for a GPU: every mapping as a CUDA launch, also as csv",
    .accepts = accepts,
    .write = write_text,
    .csv_header = csv_header,
    .csv_row = csv_row,
};
