/* What is said of the two algorithms, their machine in an architecture, and their problems. */
#include "engines/mindmappings/mm_machine.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/model/network.h"

/* Orders of dimensions, counts of values and where the private block stands: the authors' program. Energies:
 * those of its two templates, 2.24 pJ for one word and for two. */
static const struct mm_algorithm algorithm[MM_ALGORITHM_COUNT] = {
    [MM_CNN] = {.name = "cnn",
                .n_dim = 7,
                .n_tensor = 3,
                .dim = {"N", "C", "K", "R", "S", "P", "Q"},
                .n_value = 62,
                .n_cost = 12,
                .n_attribute = 12,
                .loops_innermost = true,
                .private_pj = 2.24},
    [MM_MTTKRP] = {.name = "mttkrp",
                   .n_dim = 4,
                   .n_tensor = 4,
                   .dim = {"I", "J", "K", "L"},
                   .n_value = 40,
                   .n_cost = 15,
                   .n_attribute = 9,
                   .loops_innermost = false,
                   .private_pj = 1.12},
};

const struct mm_algorithm *mm_algorithm(enum mm_algorithm_id id)
{
    return &algorithm[id];
}

/* ---------------------------------------- problems */

/* Dimensions of a tensor, one a rank. */
static void add_tensor(struct problem *problem, const char *name, const char *dims)
{
    struct tensor *tensor = &problem->tensor[problem->n_tensor];
    text_copy(tensor->name, sizeof tensor->name, name);
    tensor->role = problem->n_tensor++ == 0 ? TENSOR_OUTPUT : TENSOR_INPUT;
    tensor->read_write = tensor->role == TENSOR_OUTPUT;
    for (; *dims; dims++)
        tensor->rank[tensor->n_rank++] = (struct tensor_rank){
            .n_term = 1, .term = {{.dim = (uint32_t)(strchr("IJKL", *dims) - "IJKL"), .coefficient = 1}}};
}

static enum dse_status mttkrp_problem(const uint32_t *size, struct problem *out, struct dse_error *err)
{
    memset(out, 0, sizeof *out);
    text_copy(out->name, sizeof out->name, "mttkrp");
    out->n_dim = algorithm[MM_MTTKRP].n_dim;
    for (uint32_t d = 0; d < out->n_dim; d++) {
        text_copy(out->dim_name[d], sizeof out->dim_name[d], algorithm[MM_MTTKRP].dim[d]);
        out->bound[d] = size[d];
    }
    add_tensor(out, "A", "IJ");
    add_tensor(out, "B", "IKL");
    add_tensor(out, "C", "JK");
    add_tensor(out, "D", "JL");
    return problem_check(out, err);
}

enum dse_status mm_problem(const struct mm_algorithm *of, const uint32_t *size, struct problem *out,
                           struct dse_error *err)
{
    for (uint32_t d = 0; d < of->n_dim; d++)
        if (size[d] < 1 || size[d] > MM_SIZE_MAX)
            return dse_fail(err, DSE_BAD_INPUT, "the size of %s is %" PRIu32 ", must lie between 1 and %d",
                            of->dim[d], size[d], MM_SIZE_MAX);
    if (of == &algorithm[MM_MTTKRP])
        return mttkrp_problem(size, out, err);
    const struct layer layer = {.name = "cnn",
                                .type = LAYER_CONV,
                                .c = size[1],
                                .k = size[2],
                                .r = size[3],
                                .s = size[4],
                                .p = size[5],
                                .q = size[6],
                                .stride = {1, 1},
                                .dilation = {1, 1},
                                .groups = 1,
                                .count = 1};
    return layer_problem(&layer, size[0], out, err);
}

enum dse_status mm_problem_sizes(const struct mm_algorithm *of, const struct problem *problem, uint32_t *size,
                                 struct dse_error *err)
{
    struct problem same;
    bool found = problem->n_dim == of->n_dim;
    for (uint32_t i = 0; i < of->n_dim; i++) {
        int d = problem_find_dim(problem, of->dim[i]);
        found = found && d >= 0;
        size[i] = d >= 0 ? problem->bound[d] : 1;
    }
    if (found)
        DSE_TRY(mm_problem(of, size, &same, err));
    if (found && problem_hash(&same) == problem_hash(problem))
        return DSE_OK;
    return dse_fail(
        err, DSE_BAD_INPUT, "%s is none of the problems of %s vectors: %s", problem->name, of->name,
        of == &algorithm[MM_CNN] ? "a convolution with stride and dilation 1 and one group (N C K R S P Q)"
                                 : "A[i,j] += B[i,k,l] C[j,k] D[j,l], with dimensions I J K L");
}

/* ---------------------------------------- the machine */

static enum dse_status refuse(const struct architecture *arch, const char *what, const char *why,
                              struct dse_error *err)
{
    return dse_fail(
        err, DSE_BAD_INPUT,
        "%s is no machine of Mind Mappings, as mindmappings_banks and mindmappings_mttkrp_banks are: "
        "%s %s",
        arch->name, what, why);
}

/* The only tensor that level l may keep; n_tensor when there is none or more. */
static uint32_t only_tensor(const struct architecture *arch, const struct problem *problem, uint32_t l)
{
    uint32_t found = problem->n_tensor, n = 0;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (architecture_keeps(arch, l, &problem->tensor[t])) {
            found = t;
            n++;
        }
    return n == 1 ? found : problem->n_tensor;
}

/* Buffer i, from the outermost, of one of the two memories. */
static enum dse_status find_buffer(enum mm_memory memory, uint32_t i, struct mm_machine *out,
                                   struct dse_error *err)
{
    const struct architecture *arch = out->arch;
    const uint32_t n = out->algorithm->n_tensor, first = memory == MM_MEMORY_SHARED ? 2 * n - 1 : n - 1;
    const uint32_t l = first - i, t = only_tensor(arch, &out->shape, l);
    const struct storage_level *level = &arch->level[l];
    if (t == n)
        return refuse(arch, level->name, "does not keep one tensor", err);
    for (uint32_t k = 0; k < i; k++)
        if (out->tensor[memory][k] == t)
            return refuse(arch, level->name, "keeps the tensor of another buffer beside it", err);
    if (level->bank_group == 0 || level->bank_group != arch->level[first].bank_group)
        return refuse(arch, level->name, "does not share the banks of the buffers beside it", err);
    uint64_t x, y;
    architecture_fanout(arch, l, &x, &y);
    const bool is_array = memory == MM_MEMORY_SHARED && i + 1 == n;
    if (!is_array && x * y > 1)
        return refuse(arch, level->name, "has an array inside it, where none is expected", err);
    if (is_array && (y > 1 || x > MM_PE_MAX))
        return refuse(arch, level->name, "must have its PEs in one row, at most 1024 of them", err);
    if (is_array)
        out->n_pe = (uint32_t)x;
    out->level[memory][i] = l;
    out->tensor[memory][i] = t;
    out->bank_word[memory][i] = level->bank_word;
    out->banks[memory] = arch->group[level->bank_group - 1].banks;
    return DSE_OK;
}

static enum dse_status find_machine(enum mm_algorithm_id id, struct mm_machine *out, struct dse_error *err)
{
    static const uint32_t ones[MM_DIM_MAX] = {1, 1, 1, 1, 1, 1, 1};
    const struct architecture *arch = out->arch;
    uint64_t x, y;
    out->algorithm = &algorithm[id];
    out->dram = 2 * algorithm[id].n_tensor;
    DSE_TRY(mm_problem(out->algorithm, ones, &out->shape, err));
    for (int m = 0; m < MM_MEMORY_COUNT; m++)
        for (uint32_t i = 0; i < algorithm[id].n_tensor; i++)
            DSE_TRY(find_buffer((enum mm_memory)m, i, out, err));
    architecture_fanout(arch, out->dram, &x, &y);
    if (x * y > 1)
        return refuse(arch, arch->level[out->dram].name, "has an array inside it, where none is expected",
                      err);
    if (arch->level[0].bank_group == arch->level[algorithm[id].n_tensor].bank_group)
        return refuse(arch, arch->level[0].name, "shares banks with the buffers outside the array", err);
    return DSE_OK;
}

enum dse_status mm_machine_of(const struct architecture *arch, struct mm_machine *out, struct dse_error *err)
{
    *out = (struct mm_machine){.arch = arch};
    for (int i = 0; i < MM_ALGORITHM_COUNT; i++)
        if (arch->n_level == 2 * algorithm[i].n_tensor + 1)
            return find_machine((enum mm_algorithm_id)i, out, err);
    return refuse(arch, "it", "has not one shared and one private buffer for each tensor below a DRAM", err);
}
