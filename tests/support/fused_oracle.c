/* Reads the tables line by line into a schedule, the attributes it was made from, and the times that it
 * must have. */
#include "tests/support/fused_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *const fused_oracle_name[FUSED_N_ORACLE] = {
    "gpt2_small_prefill_8MB_16GBs_s1",
    "gpt2_small_prefill_8MB_16GBs_s2",
    "ires_8MB_16GBs_s1",
    "ires_8MB_16GBs_s2",
    "r50_4MB_16GBs_s1",
    "r50_4MB_16GBs_s2",
    "r50_8MB_16GBs_cocco",
    "r50_8MB_16GBs_s1",
    "r50_8MB_16GBs_s2",
    "r50_coccolfa_8MB_16GBs_s2",
    "tiny_cocco_s1",
    "tiny_cocco_s2",
    "tiny_flg_s1",
    "tiny_flg_s2",
    "tiny_fused_s1",
    "tiny_fused_s2",
};

enum { N_FIELD_MAX = 16, LINE_BYTE_MAX = 4096 };

static const double J_PER_PJ = 1e-12;

bool fused_trace_allocate(const struct fused_schedule *schedule, struct arena *arena,
                          struct fused_trace *trace)
{
    uint64_t **of_tile[] = {&trace->tile_start, &trace->tile_finish, &trace->tile_stall, &trace->living_byte};
    uint64_t **of_tensor[] = {&trace->tensor_start, &trace->tensor_finish};
    bool all = true;
    for (size_t a = 0; a < sizeof of_tile / sizeof of_tile[0]; a++)
        all &= (*of_tile[a] = arena_alloc(arena, (size_t)schedule->n_tile + 1, sizeof(uint64_t))) != NULL;
    for (size_t a = 0; a < sizeof of_tensor / sizeof of_tensor[0]; a++)
        all &= (*of_tensor[a] = arena_alloc(arena, (size_t)schedule->n_tensor + 1, sizeof(uint64_t))) != NULL;
    return all;
}

static bool reads(const struct fused_tensor *tensor, const struct fused_tile *tile, uint32_t p)
{
    bool loaded = tensor->kind == FUSED_IFMAP || tensor->kind == FUSED_WEIGHT;
    return loaded && tensor->layer == tile->layer && tensor->first_use >= 0 &&
           tensor->first_use <= (int32_t)p && tensor->last_use >= (int32_t)p;
}

bool fused_schedule_list_reads(struct fused_schedule *schedule, struct arena *arena)
{
    uint32_t n = 0;
    schedule->n_read = arena_alloc(arena, (size_t)schedule->n_tile + 1, sizeof *schedule->n_read);
    schedule->first_read = arena_alloc(arena, (size_t)schedule->n_tile + 1, sizeof *schedule->first_read);
    for (uint32_t p = 0; p < schedule->n_tile; p++)
        for (uint32_t i = 0; i < schedule->n_tensor; i++)
            n += reads(&schedule->tensor[i], &schedule->tile[p], p);
    schedule->read = arena_alloc(arena, (size_t)n + 1, sizeof *schedule->read);
    if (!schedule->n_read || !schedule->first_read || !schedule->read)
        return false;
    n = 0;
    for (uint32_t p = 0; p < schedule->n_tile; p++) {
        schedule->first_read[p] = n;
        for (uint32_t i = 0; i < schedule->n_tensor; i++)
            if (reads(&schedule->tensor[i], &schedule->tile[p], p))
                schedule->read[n++] = i;
        schedule->n_read[p] = n - schedule->first_read[p];
    }
    return true;
}

/* Cut a line at its commas, in place; the last field takes the rest. Returns how many fields. */
static int split(char *line, char *field[N_FIELD_MAX])
{
    int n = 1;
    field[0] = line;
    line[strcspn(line, "\n")] = '\0';
    for (char *comma = strchr(line, ','); comma && n < N_FIELD_MAX; comma = strchr(comma + 1, ',')) {
        *comma = '\0';
        field[n++] = comma + 1;
    }
    return n;
}

static uint32_t read_list(const char *text, uint32_t list[FUSED_ORACLE_LIST_MAX])
{
    uint32_t n = 0;
    for (char *end; *text && n < FUSED_ORACLE_LIST_MAX; text = *end == ',' ? end + 1 : end) {
        list[n++] = (uint32_t)strtoul(text, &end, 10);
        if (end == text)
            return 0;
        if (*end == '\n')
            break;
    }
    return n;
}

static bool read_attribute(const char *line, struct fused_oracle *oracle)
{
    if (strncmp(line, "order,", 6) == 0)
        oracle->n_layer = read_list(line + 6, oracle->order);
    else if (strncmp(line, "groups,", 7) == 0)
        oracle->n_group = read_list(line + 7, oracle->group);
    else if (strncmp(line, "fine,", 5) == 0)
        oracle->n_fine = read_list(line + 5, oracle->fine);
    else if (strncmp(line, "tiling,", 7) == 0)
        return read_list(line + 7, oracle->tiling) == oracle->n_fine;
    else
        return false;
    return true;
}

static bool all_u64(char *const *field, int n, uint64_t *value)
{
    for (int i = 0; i < n; i++)
        if (!text_parse_u64(field[i], &value[i]))
            return false;
    return true;
}

static bool read_totals(char *const *field, struct fused_oracle *oracle)
{
    oracle->machine.dram_rate.cycle = 1;
    return all_u64(&field[1], 1, &oracle->machine.buffer_byte) &&
           all_u64(&field[2], 1, &oracle->machine.dram_rate.byte) && all_u64(&field[3], 1, &oracle->cycle) &&
           text_parse_double(field[4], &oracle->core_energy_j) && all_u64(&field[5], 1, &oracle->dram_byte) &&
           text_parse_double(field[6], &oracle->dram_energy_j) &&
           all_u64(&field[7], 1, &oracle->dram_cycle) && all_u64(&field[8], 1, &oracle->buffer_max_byte) &&
           text_parse_double(field[9], &oracle->byte_cycle) &&
           all_u64(&field[10], 1, &oracle->trace.living_byte[0]);
}

static bool read_tile(char *const *field, struct fused_oracle *oracle)
{
    uint64_t v[9];
    uint32_t p = oracle->schedule.n_tile++;
    struct fused_tile *tile = &oracle->schedule.tile[p];
    if (!all_u64(field + 1, 9, v) || !text_parse_double(field[10], &tile->energy_j))
        return false;
    tile->energy_j *= J_PER_PJ;
    tile->layer = (uint32_t)v[0];
    tile->index = (uint32_t)v[1];
    tile->layer_group = (uint32_t)v[2];
    tile->flc = (uint32_t)v[3];
    tile->b = (uint32_t)v[4];
    tile->k = (uint32_t)v[5];
    tile->h = (uint32_t)v[6];
    tile->w = (uint32_t)v[7];
    tile->cycle = v[8];
    return all_u64(&field[11], 1, &oracle->trace.tile_start[p]) &&
           all_u64(&field[12], 1, &oracle->trace.tile_finish[p]) &&
           all_u64(&field[13], 1, &oracle->trace.living_byte[p + 1]);
}

static bool read_tensor(char *const *field, struct fused_oracle *oracle)
{
    static const char letter[] = "IWOL"; /* in the order of enum fused_tensor_kind */
    struct fused_schedule *schedule = &oracle->schedule;
    uint32_t i = schedule->n_tensor++;
    struct fused_tensor *tensor = &schedule->tensor[i];
    const char *kind = strchr(letter, field[1][0]);
    int64_t source = INT32_MIN, v[6];
    uint64_t u[2];
    if (!kind || !*kind || !all_u64(field + 2, 2, u) || !all_u64(&field[5], 1, &tensor->byte))
        return false;
    for (int a = 0; a < 6; a++)
        if (!text_parse_i64(field[6 + a], &v[a]))
            return false;
    if (field[4][0] && !text_parse_i64(field[4], &source))
        return false;
    tensor->kind = (enum fused_tensor_kind)(kind - letter);
    tensor->layer = (uint32_t)u[0];
    tensor->index = (uint32_t)u[1];
    tensor->source = (int32_t)source;
    tensor->start = (int32_t)v[1];
    tensor->end = (int32_t)v[2];
    tensor->producer_tile = (int32_t)v[3];
    tensor->first_use = (int32_t)v[4];
    tensor->last_use = (int32_t)v[5];
    if (v[0] < 0)
        return tensor->kind == FUSED_LOCAL;
    tensor->dram_byte = tensor->byte;
    schedule->dram_order[v[0]] = i;
    schedule->n_dram++;
    return all_u64(&field[12], 1, &oracle->trace.tensor_start[i]) &&
           all_u64(&field[13], 1, &oracle->trace.tensor_finish[i]);
}

static bool read_line(char *line, struct fused_oracle *oracle)
{
    char *field[N_FIELD_MAX];
    if (read_attribute(line, oracle))
        return true;
    int n = split(line, field);
    if (strcmp(field[0], "totals") == 0)
        return n == 11 && read_totals(field, oracle);
    if (strcmp(field[0], "tile") == 0)
        return n == 14 && read_tile(field, oracle);
    return strcmp(field[0], "tensor") == 0 && n == 14 && read_tensor(field, oracle);
}

/* Arrays large enough for every line of the file. */
static bool allocate(struct fused_oracle *oracle, uint32_t n_line, struct arena *arena)
{
    struct fused_schedule *schedule = &oracle->schedule;
    struct fused_schedule largest = {.n_tile = n_line, .n_tensor = n_line};
    schedule->tile = arena_alloc(arena, n_line, sizeof *schedule->tile);
    schedule->tensor = arena_alloc(arena, n_line, sizeof *schedule->tensor);
    schedule->dram_order = arena_alloc(arena, n_line, sizeof *schedule->dram_order);
    return schedule->tile && schedule->tensor && schedule->dram_order &&
           fused_trace_allocate(&largest, arena, &oracle->trace);
}

static enum dse_status read_lines(FILE *file, const char *path, struct arena *arena,
                                  struct fused_oracle *oracle, struct dse_error *err)
{
    char line[LINE_BYTE_MAX];
    uint32_t n_line = 0;
    while (fgets(line, sizeof line, file))
        n_line++;
    rewind(file);
    if (!allocate(oracle, n_line + 1, arena))
        return dse_fail(err, DSE_NO_MEMORY, "no memory for %s", path);
    for (int number = 1; fgets(line, sizeof line, file); number++)
        if (!read_line(line, oracle))
            return dse_fail_at(err, DSE_BAD_INPUT, path, number, "not a line of an oracle file");
    if (!fused_schedule_list_reads(&oracle->schedule, arena))
        return dse_fail(err, DSE_NO_MEMORY, "no memory for %s", path);
    oracle->core_energy_j *= J_PER_PJ;
    oracle->dram_energy_j *= J_PER_PJ;
    return DSE_OK;
}

enum dse_status fused_oracle_read(const char *name, struct arena *arena, struct fused_oracle *oracle,
                                  struct dse_error *err)
{
    char path[256];
    snprintf(path, sizeof path, "tests/known/soma/oracles/%s.csv", name);
    memset(oracle, 0, sizeof *oracle);
    oracle->name = name;
    oracle->machine.dram_energy_j = 84 * J_PER_PJ; /* 10.5 pJ per bit, the machine of all these schedules */
    FILE *file = fopen(path, "r");
    if (!file)
        return dse_fail(err, DSE_IO, "cannot read %s", path);
    enum dse_status status = read_lines(file, path, arena, oracle, err);
    fclose(file);
    return status;
}
