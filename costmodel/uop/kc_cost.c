/* MAESTRO's counts of the KC-partition in closed form. The outer level deals output channels out to rows of
 * PEs and walks over folds of input channels and over the pixels; the inner level deals a fold's input
 * channels out to the PEs of a row and walks over the window. */
#include "costmodel/uop/kc_cost.h"

#include <math.h>

static uint64_t ceil_div(uint64_t n, uint64_t by)
{
    return (n + by - 1) / by;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Folds of channels over lanes: how many there are, and the channels of the last one. */
struct folds {
    uint64_t n, full, last;
};

static struct folds folds_of(uint32_t channels, uint32_t lanes)
{
    const uint64_t n = ceil_div(channels, lanes);
    return (struct folds){.n = n, .full = least(channels, lanes), .last = channels - (n - 1) * lanes};
}

uint64_t kc_macs(const struct kc_tile *t)
{
    return (uint64_t)t->r * t->s * t->p * t->q * t->c * t->k * kc_groups(t);
}

/* Cycles that weights and inputs of a fold take on their way to the PEs before its first pixel. */
static uint64_t first_cycle(const struct kc_machine *machine, uint64_t window, uint64_t k, uint64_t c)
{
    return byte_rate_cycle(k * c * window + c * window, machine->delivery);
}

/* Of a pixel and a fold: the MACs of a window on one PE, after the delivery into a row of PEs, which MAESTRO
 * does not overlap. */
static uint64_t inner_cycle(const struct kc_machine *machine, uint64_t window, uint64_t c)
{
    return window + byte_rate_cycle(2 * window * c, machine->delivery);
}

uint64_t kc_pixel_cycle(const struct kc_machine *machine, const struct kc_tile *t)
{
    const struct folds k = folds_of(t->k, machine->k_lane), c = folds_of(t->c, machine->c_lane);
    return kc_groups(t) * k.n * c.n * inner_cycle(machine, (uint64_t)t->r * t->s, c.full);
}

uint64_t kc_cycle(const struct kc_machine *machine, const struct kc_tile *t)
{
    if (machine->pricer.guess)
        return machine->pricer.guess(machine->pricer.self, t);
    const uint64_t window = (uint64_t)t->r * t->s;
    const struct folds k = folds_of(t->k, machine->k_lane), c = folds_of(t->c, machine->c_lane);
    const uint64_t inner = inner_cycle(machine, window, c.full);
    uint64_t cycle = k.n * c.n * t->p * t->q * inner + first_cycle(machine, window, k.full, c.full);
    /* the others overlap with one pixel of the fold before; four kinds of them at most */
    for (int last_k = 0; last_k < 2; last_k++)
        for (int last_c = 0; last_c < 2; last_c++) {
            const uint64_t n = (last_k ? 1 : k.n - 1) * (last_c ? 1 : c.n - 1);
            const uint64_t is_first = last_k == (k.n == 1) && last_c == (c.n == 1);
            const uint64_t first =
                first_cycle(machine, window, last_k ? k.last : k.full, last_c ? c.last : c.full);
            cycle += (n - is_first) * (first > inner ? first - inner : 0);
        }
    return kc_groups(t) * cycle;
}

/* Words of inputs that a row of PEs gets for all pixels of one fold, of one channel: a whole window at the
 * start of each line, then only what the stride brings. */
static uint64_t pixel_words(const struct kc_tile *t)
{
    const uint64_t window = (uint64_t)t->r * t->s;
    if (t->q > 1)
        return t->p * (window + (t->q - 1) * t->r * least(t->stride_h, t->s));
    return window + (t->p - 1) * t->s * least(t->stride_v, t->r);
}

void kc_count(const struct kc_machine *machine, const struct kc_tile *t, struct kc_counts *out)
{
    const uint64_t window = (uint64_t)t->r * t->s, macs = kc_macs(t), g = kc_groups(t);
    const struct folds k = folds_of(t->k, machine->k_lane), c = folds_of(t->c, machine->c_lane);
    const uint64_t charged = c.n * c.full; /* a short last fold counts as a full one */
    const uint64_t height = (uint64_t)(t->p - 1) * t->stride_v + t->r;
    const uint64_t width = (uint64_t)(t->q - 1) * t->stride_h + t->s;
    const uint64_t inputs = g * (k.n * charged * pixel_words(t) - (k.n - 1) * c.full * window);
    *out = (struct kc_counts){
        .input_l1_read = macs,
        .input_l1_write = inputs,
        .input_l2_read = inputs,
        .input_l2_write = g * t->c * height * width,
        .filter_l1_read = macs,
        .filter_l1_write = g * t->k * charged * window,
        .filter_l2_read = g * t->k * charged * window,
        .filter_l2_write = g * t->k * t->c * window,
        .output_l1_read = macs,
        .output_l1_write = macs,
        /* as if the stride were 1 */
        .output_l2_read = g * t->k * (height - t->r + 1) * (width - t->s + 1),
        .output_l2_write = g * t->k * t->p * t->q * c.n,
        .l2_req = 2 * c.full * window * (k.full + 1) + 2 * k.full,
        .l1_req = 6 * window,
    };
}

enum dse_status kc_tile_check(const struct kc_machine *machine, const struct kc_tile *t,
                              struct dse_error *err)
{
    static const double most = 0x1p53;
    if (!t->r || !t->s || !t->stride_v || !t->stride_h || !t->p || !t->q || !t->c || !t->k)
        return dse_fail(err, DSE_LIMIT, "a uop has sizes of 1 and more");
    const double window = (double)t->r * t->s, pixels = (double)t->p * t->q;
    const double area = ((t->p - 1.0) * t->stride_v + t->r) * ((t->q - 1.0) * t->stride_h + t->s);
    /* lanes that stand idle are charged, and each delivery takes a cycle at least */
    const double channels = ((double)t->c + machine->c_lane) * ((double)t->k + machine->k_lane);
    const double slow = fmax(1, (double)machine->delivery.cycle / (double)machine->delivery.byte);
    const double groups = kc_groups(t);
    if (6 * window * pixels * channels * groups * slow < most && area * groups * fmax(t->c, t->k) < most)
        return DSE_OK;
    return dse_fail(err, DSE_LIMIT,
                    "a uop of R %u S %u P %u Q %u C %u K %u has counts beyond 2^53; divide it", t->r, t->s,
                    t->p, t->q, t->c, t->k);
}

struct kc_energy kc_energy_of(const struct kc_machine *machine, uint64_t n_mac, const struct kc_counts *n)
{
    const double l1_read = (double)n->input_l1_read + (double)n->filter_l1_read + (double)n->output_l1_read;
    const double l1_write =
        (double)n->input_l1_write + (double)n->filter_l1_write + (double)n->output_l1_write;
    const double l2_read = (double)n->input_l2_read + (double)n->filter_l2_read + (double)n->output_l2_read;
    const double l2_write =
        (double)n->input_l2_write + (double)n->filter_l2_write + (double)n->output_l2_write;
    return (struct kc_energy){
        .mac_j = (double)n_mac * machine->mac_energy_j,
        .l1_j = l1_read * machine->l1_read_energy_j + l1_write * machine->l1_write_energy_j,
        .l2_j = l2_read * machine->l2_read_energy_j + l2_write * machine->l2_write_energy_j,
    };
}
