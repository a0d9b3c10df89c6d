/* The faults. Each is the real thing, made so that no compiler can see it coming and take it out. */
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engines/drill/drill.h"
#include "engines/driver/driver_private.h"

enum { PAGE_BYTE = 4096, EXIT_CODE = 3 };

/* The sanitizers would turn these signals into reports of their own. */
#define REAL_FAULT __attribute__((noinline, no_sanitize("undefined", "address")))

const char *const drill_fault_name[DRILL_N_FAULT] = {"none",     "loop",     "leak",       "abort",
                                                     "segfault", "divide",   "float_trap", "throw_away",
                                                     "invalid",  "too_good", "below_bound"};

/* Mapped and not from malloc, so that a leak is none that the leak checker of a test run reports. */
void *drill_take_memory(double byte)
{
    if (!(byte >= 1) || byte > (double)(SIZE_MAX / 2))
        return NULL;
    size_t size = (size_t)byte;
    volatile unsigned char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    for (size_t at = 0; at < size; at += PAGE_BYTE)
        memory[at] = 1;
    return (void *)(uintptr_t)memory;
}

void drill_give_back(void *memory, double byte)
{
    if (memory)
        (void)munmap(memory, (size_t)byte);
}

static void loop(void)
{
    for (volatile uint64_t turn = 0;; turn = turn + 1) /* volatile: an empty loop may be taken to end */
        ;
}

/* In pieces, as a leak comes. */
static enum dse_status leak(double byte, struct dse_error *err)
{
    static const double piece = 64.0 * 1024 * 1024;
    for (double taken = 0; taken < byte; taken += piece)
        if (!drill_take_memory(fmin(piece, byte - taken)))
            return dse_fail(err, DSE_NO_MEMORY, "out of memory after %.0f MiB", taken / (1024 * 1024));
    return DSE_OK;
}

REAL_FAULT static void segfault(void)
{
    volatile uintptr_t nowhere = 64; /* in the first page, which is never mapped */
    *(volatile char *)nowhere = 1;
}

REAL_FAULT static void divide(void)
{
    volatile int zero = 0, quotient = 1;
    quotient = quotient / zero;
    (void)raise(SIGFPE); /* where the processor does not trap */
}

REAL_FAULT static void float_trap(void)
{
    volatile double zero = 0, quotient = 1;
    (void)feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    quotient = quotient / zero;
    (void)raise(SIGFPE);
}

enum dse_status drill_break_down(enum drill_fault fault, double leak_byte, struct dse_error *err)
{
    switch (fault) {
    case DRILL_LOOP:
        loop();
        break;
    case DRILL_LEAK:
        return leak(leak_byte, err);
    case DRILL_ABORT:
        abort();
    case DRILL_SEGFAULT:
        segfault();
        break;
    case DRILL_DIVIDE:
        divide();
        break;
    case DRILL_FLOAT_TRAP:
        float_trap();
        break;
    case DRILL_THROW_AWAY:
        exit(EXIT_CODE);
    case DRILL_NONE:
    case DRILL_INVALID:
    case DRILL_TOO_GOOD:
    case DRILL_BELOW_BOUND:
    case DRILL_N_FAULT:
        break;
    }
    return DSE_OK;
}

/* No engine can do this by the calls it is lent: it writes where only the driver should, as a stray pointer
 * would. */
void drill_lie(enum drill_fault fault, struct engine_context *context)
{
    struct engine_result *result = context->result;
    const struct lower_bound *bound = &result->lower_bound;
    if (!result->feasible)
        return;
    if (fault == DRILL_INVALID)
        result->mapping.level[result->mapping.n_level - 1].temporal[0] *= 2;
    if (fault == DRILL_TOO_GOOD)
        result->cost /= 2;
    if (fault == DRILL_BELOW_BOUND) {
        struct evaluation *claimed = &result->evaluation;
        claimed->latency_s = bound->latency_s / 2;
        claimed->latency_cycle = (uint64_t)(claimed->latency_s * context->arch->clock_hz);
        claimed->energy_j = bound->energy_j / 2;
        claimed->edp_js = claimed->energy_j * claimed->latency_s;
        result->cost = objective_cost(&context->task->objective, claimed);
    }
}
