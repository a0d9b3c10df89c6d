/* The plan of a mapping as the text of a Halide algorithm and schedule. */
#include <inttypes.h>
#include <string.h>

#include "costmodel/interstellar/halide.h"

/* Comments behind splits and behind copies begin in these columns, or three blanks behind a longer line. */
enum { SPLIT_COLUMN = 31, COPY_COLUMN = 47 };

static const char guard[] = ", TailStrategy::GuardWithIf";

/* Go to the comment of the line that begins at `line`. */
static void begin_comment(struct text_buffer *out, size_t line, size_t column)
{
    size_t length = out->length - line;
    text_append(out, "%*s// ", (int)(length + 3 < column ? column - length : 3), "");
}

/* ---------------------------------------- the algorithm */

/* The coefficient of a loop in the rank of the inputs that it lies in. */
static uint32_t coefficient(const struct halide_plan *plan, enum interstellar_loop loop)
{
    for (uint32_t t = 0; t < plan->problem->n_tensor; t++) {
        const struct tensor *tensor = &plan->problem->tensor[t];
        if (tensor->role != TENSOR_INPUT)
            continue;
        for (uint32_t r = 0; r < tensor->n_rank; r++)
            for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
                if ((int)tensor->rank[r].term[i].dim == plan->loops.dim[loop])
                    return tensor->rank[r].term[i].coefficient;
    }
    return 1;
}

static void write_window(const struct halide_plan *plan, enum interstellar_loop o, enum interstellar_loop f,
                         struct text_buffer *out)
{
    uint32_t stride = coefficient(plan, o), dilation = coefficient(plan, f);
    text_append(out, "%s", halide_whole_name(o));
    if (stride > 1)
        text_append(out, " * %" PRIu32, stride);
    text_append(out, " + %s", halide_whole_name(f));
    if (dilation > 1)
        text_append(out, " * %" PRIu32, dilation);
    text_append(out, ", ");
}

static void write_algorithm(const struct halide_plan *plan, struct text_buffer *out)
{
    const uint32_t *bound = plan->bound;
    char name[PROBLEM_NAME_MAX], arch[ARCH_NAME_MAX];
    text_append(out,
                "// %s on %s: Func input, w and output are given; systolic and accelerate extend Halide\n",
                text_excerpt(plan->problem->name, name, sizeof name),
                text_excerpt(plan->arch->name, arch, sizeof arch));
    text_append(out, "Var x, y, k, b;\n");
    text_append(out, "RDom r(0, %" PRIu32 ", 0, %" PRIu32 ", 0, %" PRIu32 ");\n", bound[LOOP_FX],
                bound[LOOP_FY], bound[LOOP_IC]);
    text_append(out, "output(x, y, k, b) += input(");
    write_window(plan, LOOP_OX, LOOP_FX, out);
    write_window(plan, LOOP_OY, LOOP_FY, out);
    text_append(out,
                "r.z, b) * w(r.x, r.y, r.z, k);  // x %" PRIu32 ", y %" PRIu32 ", k %" PRIu32 ", b %" PRIu32
                "\n\n",
                bound[LOOP_OX], bound[LOOP_OY], bound[LOOP_OC], bound[LOOP_ON]);
}

/* ---------------------------------------- loop blocking */

/* "Var x1, k0;  RVar c0;": the parts of loops, those of undivided ones too. */
static void write_variables(const struct halide_plan *plan, struct text_buffer *out)
{
    static const enum interstellar_loop pure[] = {LOOP_OX, LOOP_OY, LOOP_OC, LOOP_ON},
                                        reduced[] = {LOOP_FX, LOOP_FY, LOOP_IC};
    const struct {
        const char *type;
        const enum interstellar_loop *loop;
        uint32_t n;
    } kind[] = {{"Var ", pure, 4}, {"RVar ", reduced, 3}};
    size_t line = out->length;
    for (int k = 0; k < 2; k++) {
        const char *between = kind[k].type;
        for (uint32_t i = 0; i < kind[k].n; i++)
            for (uint32_t place = 0; place < plan->n_place; place++) {
                char name[HALIDE_NAME_MAX];
                if (!halide_present(plan, kind[k].loop[i], place))
                    continue;
                halide_part_name(kind[k].loop[i], place, name);
                text_append(out, "%s%s%s", between[0] != ',' && out->length > line ? "  " : "", between,
                            name);
                between = ", ";
            }
        if (between[0] == ',')
            text_append(out, ";");
    }
    if (out->length > line)
        text_append(out, "\n");
}

/* The next place inside `place` where the loop has a variable, or `place` itself when there is none. */
static uint32_t place_inside(const struct halide_plan *plan, uint32_t loop, uint32_t place)
{
    for (uint32_t i = place; i-- > 0;)
        if (halide_present(plan, loop, i))
            return i;
    return place;
}

/* "6 temporal x 16 PEs x 2": the parts of a loop at places first, first - 1, ... last. Returns how many. */
static uint32_t write_parts(const struct halide_plan *plan, uint32_t loop, uint32_t first, uint32_t last,
                            struct text_buffer *out)
{
    uint32_t n = 0;
    for (uint32_t i = first + 1; i-- > last;) {
        uint32_t temporal = plan->temporal[loop][i], spatial = plan->spatial[loop][i];
        if (temporal > 1)
            text_append(out, "%s%" PRIu32 "%s", n++ ? " x " : "", temporal, spatial > 1 ? " temporal" : "");
        if (spatial > 1)
            text_append(out, "%s%" PRIu32 " PEs", n++ ? " x " : "", spatial);
    }
    return n;
}

static void write_split(const struct halide_plan *plan, uint32_t loop, uint32_t place, const char *whole,
                        struct text_buffer *out)
{
    uint32_t inside = place_inside(plan, loop, place);
    bool guarded = halide_guarded(plan, loop, place);
    struct text_buffer parts;
    size_t line = out->length;
    text_init(&parts);
    text_append(out, "  .split(%s, %s, %s, %" PRIu64 "%s)", whole, plan->name[loop][place],
                plan->name[loop][inside], plan->extent[loop][inside], guarded ? guard : "");
    begin_comment(out, line, SPLIT_COLUMN);
    write_parts(plan, loop, place, place, out);
    bool one = write_parts(plan, loop, inside, 0, &parts) == 1;
    text_append(out, one ? " x %s" : " x (%s)", parts.data ? parts.data : "");
    if (guarded)
        text_append(out, ", guarded: %" PRIu64 " > %" PRIu32, plan->extent[loop][place], plan->bound[loop]);
    text_append(out, "\n");
    out->failed |= parts.failed;
    text_free(&parts);
}

/* "fx0=r.x y0=y": what a variable that is not split would be called. */
static void write_undivided(const struct halide_plan *plan, size_t line, struct text_buffer *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->n_loop; i++) {
        const struct halide_loop *at = &plan->nest[i];
        char part[HALIDE_NAME_MAX];
        halide_part_name(at->loop, at->place, part);
        if (strcmp(part, plan->name[at->loop][at->place]) == 0)
            continue;
        if (n++ == 0)
            begin_comment(out, line, 0);
        text_append(out, "%s=%s ", part, plan->name[at->loop][at->place]);
    }
    if (n) {
        out->length -= !out->failed;
        text_append(out, ": not split, %s", n == 1 ? "keeps its name" : "keep their names");
    }
}

static void write_blocking(const struct halide_plan *plan, struct text_buffer *out)
{
    if (plan->n_loop == 0)
        return;
    write_variables(plan, out);
    text_append(out, "output.update()\n");
    for (uint32_t loop = 0; loop < LOOP_COUNT; loop++) {
        const char *whole = halide_whole_name(loop);
        for (uint32_t place = plan->n_place; place-- > 0;)
            if (halide_present(plan, loop, place) && place_inside(plan, loop, place) != place) {
                write_split(plan, loop, place, whole, out);
                whole = plan->name[loop][place_inside(plan, loop, place)];
            }
    }
    size_t line = out->length;
    text_append(out, "  .reorder(");
    for (uint32_t i = 0; i < plan->n_loop; i++)
        text_append(out, "%s%s", i ? ", " : "", plan->name[plan->nest[i].loop][plan->nest[i].place]);
    text_append(out, ");");
    write_undivided(plan, line, out);
    text_append(out, "\n");
}

/* ---------------------------------------- memories */

/* Words of one instance of level v along a loop. */
static uint64_t tile(const struct halide_plan *plan, uint32_t loop, uint32_t v)
{
    return plan->extent[loop][v + 1] / plan->spatial[loop][v + 1];
}

static uint64_t window(const struct halide_plan *plan, enum interstellar_loop o, enum interstellar_loop f,
                       uint32_t v)
{
    return (tile(plan, o, v) - 1) * coefficient(plan, o) + (tile(plan, f, v) - 1) * coefficient(plan, f) + 1;
}

static void write_tile(const struct halide_plan *plan, enum tensor_role role, uint32_t v,
                       struct text_buffer *out)
{
    uint64_t n[4] = {tile(plan, LOOP_OX, v), tile(plan, LOOP_OY, v), tile(plan, LOOP_OC, v),
                     tile(plan, LOOP_ON, v)};
    bool per_pe = false;
    if (role == TENSOR_INPUT) {
        n[0] = window(plan, LOOP_OX, LOOP_FX, v);
        n[1] = window(plan, LOOP_OY, LOOP_FY, v);
        n[2] = tile(plan, LOOP_IC, v);
    } else if (role == TENSOR_WEIGHT) {
        n[3] = n[2];
        n[0] = tile(plan, LOOP_FX, v);
        n[1] = tile(plan, LOOP_FY, v);
        n[2] = tile(plan, LOOP_IC, v);
    }
    for (uint32_t loop = 0; loop < LOOP_COUNT; loop++)
        for (uint32_t place = v + 1; place < plan->n_place; place++)
            per_pe = per_pe || plan->spatial[loop][place] > 1;
    text_append(out, "%" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64 "%s", n[0], n[1], n[2], n[3],
                per_pe ? " per PE" : "");
}

static bool is_kept(const struct halide_plan *plan, enum tensor_role role, uint32_t v)
{
    for (uint32_t t = 0; t < plan->problem->n_tensor; t++)
        if (plan->problem->tensor[t].role == role)
            return plan->mapping->level[v].keep >> t & 1;
    return false;
}

static void write_copy(const struct halide_plan *plan, enum tensor_role role, uint32_t v, uint32_t depth,
                       struct text_buffer *out)
{
    char level[ARCH_NAME_MAX];
    size_t line = out->length;
    int anchor = halide_anchor(plan, role, v);
    text_append(out, "%s", role == TENSOR_INPUT ? "input" : "w");
    for (uint32_t i = 0; i < depth; i++)
        text_append(out, ".in()");
    if (anchor < 0)
        text_append(out, ".compute_root();");
    else
        text_append(out, ".compute_at(output, %s);",
                    plan->name[plan->nest[anchor].loop][plan->nest[anchor].place]);
    begin_comment(out, line, COPY_COLUMN);
    text_append(out, "%s: ", text_excerpt(plan->arch->level[v].name, level, sizeof level));
    write_tile(plan, role, v, out);
    text_append(out, "\n");
}

/* Copies of the outermost level but one first; then a comment, as Listing 1 places no copy of outputs. */
static void write_memories(const struct halide_plan *plan, struct text_buffer *out)
{
    static const enum tensor_role read[2] = {TENSOR_INPUT, TENSOR_WEIGHT};
    uint32_t depth[2] = {0, 0};
    const char *between = "// output tile ";
    for (uint32_t v = plan->arch->n_level - 1; v-- > 0;)
        for (int i = 0; i < 2; i++)
            if (is_kept(plan, read[i], v))
                write_copy(plan, read[i], v, ++depth[i], out);
    for (uint32_t v = plan->arch->n_level - 1; v-- > 0;) {
        if (!is_kept(plan, TENSOR_OUTPUT, v))
            continue;
        text_append(out, "%slevel %" PRIu32 ": ", between, v);
        write_tile(plan, TENSOR_OUTPUT, v, out);
        between = ", ";
    }
    if (between[0] == ',')
        text_append(out, "\n");
}

/* ---------------------------------------- the array */

/* Whether position i of a level's spatial_order begins another side of the array than the position before. */
static bool begins_side(const struct mapping_level *level, uint32_t i)
{
    return i == level->split || level->further >> i & 1;
}

static int loop_of(const struct halide_plan *plan, uint32_t d)
{
    for (int loop = 0; loop < LOOP_COUNT; loop++)
        if (plan->loops.dim[loop] == (int)d)
            return loop;
    return -1;
}

/* The loops of the array at a place, near ones first, side by side: side[i] is loop[i]'s. Returns how
 * many. */
static uint32_t unrolled_at(const struct halide_plan *plan, uint32_t place, int *loop, uint32_t *side)
{
    const struct mapping_level *level = &plan->mapping->level[place];
    uint32_t n = 0, current = 0;
    for (uint32_t i = 0; i < plan->problem->n_dim; i++) {
        int l = loop_of(plan, level->spatial_order[i]);
        current += begins_side(level, i);
        if (l < 0 || plan->spatial[l][place] == 1)
            continue;
        loop[n] = l;
        side[n++] = current;
    }
    return n;
}

static void write_unrolls(const struct halide_plan *plan, uint32_t place, const int *loop, uint32_t n,
                          struct text_buffer *out)
{
    text_append(out, "output.update()");
    for (uint32_t i = 0; i < n; i++)
        text_append(out, ".unroll(%s, %" PRIu32 "%s)", plan->name[loop[i]][place],
                    plan->spatial[loop[i]][place],
                    halide_guarded(plan, (uint32_t)loop[i], place) ? guard : "");
    text_append(out, ";\n");
}

/* One call for all loops; where loops share a side, a call for each side. */
static void write_systolic(const struct halide_plan *plan, uint32_t place, const int *loop,
                           const uint32_t *side, uint32_t n, struct text_buffer *out)
{
    bool shared = false;
    for (uint32_t i = 1; i < n; i++)
        shared = shared || side[i] == side[i - 1];
    for (uint32_t i = 0; i < n; i++) {
        bool begins = i == 0 || (shared && side[i] != side[i - 1]);
        bool ends = i + 1 == n || (shared && side[i] != side[i + 1]);
        text_append(out, "%s%s%s", begins ? "output.update().systolic({" : ", ", plan->name[loop[i]][place],
                    ends ? "});\n" : "");
    }
}

static void write_arrays(const struct halide_plan *plan, struct text_buffer *out)
{
    int loop[LOOP_COUNT];
    uint32_t side[LOOP_COUNT];
    for (uint32_t place = plan->arch->n_level; place-- > 0;) {
        uint32_t n = unrolled_at(plan, place, loop, side);
        if (n == 0)
            continue;
        write_unrolls(plan, place, loop, n, out);
        if (plan->arch->level[place].link == ARRAY_SYSTOLIC)
            write_systolic(plan, place, loop, side, n, out);
    }
}

static void write_halide(const struct mapping *mapping, const struct problem *problem,
                         const struct architecture *arch, struct text_buffer *out)
{
    struct halide_plan plan;
    halide_plan_of(mapping, problem, arch, &plan);
    write_algorithm(&plan, out);
    write_blocking(&plan, out);
    write_memories(&plan, out);
    text_append(out, "output.accelerate({input, w});\n");
    write_arrays(&plan, out);
}

const struct mapping_text mapping_text_halide = {
    .name = "halide",
    .sentence = "as a Halide algorithm and schedule (convolutions; docs/interstellar-halide.md)",
    .accepts = halide_accepts,
    .write = write_halide,
};
