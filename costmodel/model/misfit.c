/* The sentences, one form for each group of reasons; numbers as users know them, bytes where words are
 * whole bytes. */
#include "costmodel/model/misfit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* "Inputs+Outputs" */
static void print_tensors(const struct problem *problem, uint32_t mask, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (uint32_t t = 0; t < problem->n_tensor && used < size; t++)
        if (mask >> t & 1u) {
            int n = snprintf(buffer + used, size - used, "%s%s", used ? "+" : "", problem->tensor[t].name);
            used += n > 0 ? (size_t)n : 0;
        }
}

/* Words as bytes when they are whole bytes, else as words: "133,888 B". */
static void print_words(uint64_t words, uint32_t word_bit, char *buffer, size_t size)
{
    char digits[40];
    if (word_bit % 8 == 0)
        snprintf(buffer, size, "%s B", text_thousands(words * (word_bit / 8), digits, sizeof digits));
    else
        snprintf(buffer, size, "%s words of %u bit", text_thousands(words, digits, sizeof digits), word_bit);
}

static void print_tile_misfit(const struct misfit_info *fit, const struct problem *problem,
                              const struct storage_level *level, char *buffer, size_t size)
{
    char tensors[256], needed[64], available[64];
    print_tensors(problem, fit->tensors, tensors, sizeof tensors);
    print_words(fit->needed, level->word_bit, needed, sizeof needed);
    print_words(fit->available, level->word_bit, available, sizeof available);
    if (fit->what == MISFIT_CAPACITY)
        snprintf(buffer, size, "%s needs %s for %s, has %s", level->name, needed, tensors, available);
    else
        snprintf(buffer, size, "%s holds %s of %s, less than its minimum utilisation of %s", level->name,
                 needed, tensors[0] ? tensors : "nothing", available);
}

/* `level` is one of the group; those that keep nothing need a bank too, so the tensors are not said. */
static void print_bank_misfit(const struct misfit_info *fit, const struct architecture *arch, char *buffer,
                              size_t size)
{
    const struct storage_level *level = &arch->level[fit->level];
    snprintf(buffer, size, "%s needs %" PRIu64 " banks, most of them for %s, has %" PRIu64,
             arch->group[level->bank_group - 1].name, fit->needed, level->name, fit->available);
}

static void print_mesh_misfit(const struct misfit_info *fit, const char *name, char *buffer, size_t size)
{
    const char *what = fit->what == MISFIT_MESH_X   ? "columns"
                       : fit->what == MISFIT_MESH_Y ? "rows"
                                                    : "instances";
    snprintf(buffer, size, "%s needs %" PRIu64 " %s (spatial loops on %s), has %" PRIu64, name, fit->needed,
             what,
             fit->what == MISFIT_MESH_X   ? "X"
             : fit->what == MISFIT_MESH_Y ? "Y"
                                          : "X and Y",
             fit->available);
}

static void print_gpu_misfit(const struct misfit_info *fit, const struct gpu_limits *gpu, const char *tensors,
                             char *buffer, size_t size)
{
    char needed[40], available[40];
    text_thousands(fit->needed, needed, sizeof needed);
    text_thousands(fit->available, available, sizeof available);
    if (fit->what == MISFIT_REGISTERS)
        snprintf(buffer, size, "the threads of a block need %s B of registers for %s, the block has %s B",
                 needed, tensors, available);
    else if (fit->what == MISFIT_THREADS)
        snprintf(buffer, size, "a block has %s threads, at most %s", needed, available);
    else
        snprintf(buffer, size,
                 "a block has %s threads, which no x, y, z up to %" PRIu32 ", %" PRIu32 ", %" PRIu32
                 " multiply to",
                 needed, gpu->thread_dim[0], gpu->thread_dim[1], gpu->thread_dim[2]);
}

char *misfit_print(const struct misfit_info *fit, const struct problem *problem,
                   const struct architecture *arch, char *buffer, size_t size)
{
    const char *name = fit->level >= 0 ? arch->level[fit->level].name : arch->mac.name;
    char tensors[256];
    print_tensors(problem, fit->tensors, tensors, sizeof tensors);
    switch (fit->what) {
    case FITS:
        snprintf(buffer, size, "fits");
        break;
    case MISFIT_FACTORS:
        snprintf(buffer, size, "the factors of dimension %s multiply to %" PRIu64 "%s, its bound is %" PRIu64,
                 problem->dim_name[fit->dim], fit->needed, fit->needed > fit->available ? " or more" : "",
                 fit->available);
        break;
    case MISFIT_CAPACITY:
    case MISFIT_UTILIZATION:
        print_tile_misfit(fit, problem, &arch->level[fit->level], buffer, size);
        break;
    case MISFIT_BANKS:
        print_bank_misfit(fit, arch, buffer, size);
        break;
    case MISFIT_MESH_X:
    case MISFIT_MESH_Y:
    case MISFIT_INSTANCES:
        print_mesh_misfit(fit, name, buffer, size);
        break;
    case MISFIT_FANOUT:
        snprintf(buffer, size,
                 "the spatial loops at %s need a fan-out of %" PRIu64 " in one direction, it has %" PRIu64,
                 name, fit->needed, fit->available);
        break;
    case MISFIT_BYPASS:
        snprintf(buffer, size, "%s is bypassed at every level", tensors);
        break;
    case MISFIT_ROLE:
        snprintf(buffer, size, "%s cannot keep %s", name, tensors);
        break;
    case MISFIT_THREADS:
    case MISFIT_SHAPE:
    case MISFIT_REGISTERS:
        print_gpu_misfit(fit, &arch->gpu, tensors, buffer, size);
        break;
    case MISFIT_ORDER:
        snprintf(buffer, size, "the loop orders of %s are not permutations of the problem's %u dimensions",
                 name, problem->n_dim);
        break;
    }
    return buffer;
}
