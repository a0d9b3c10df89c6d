/* Slots that each thread writes without a lock, and the marks that the supervisor draws from them after a
 * crash: searches, then engines, then everything goes into workers. */
#include "dse/isolate/crash_board.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    SUSPECT_MAX = 65536,  /* more than that: everything is isolated */
    ENGINE_CRASH_MAX = 3, /* of one engine: then all its searches are isolated */
    FRUITLESS_MAX = 3,    /* crashes in a row without a search finished in between: everything is isolated */
    SLOT_BYTE = 64,       /* one cache line each */
};

static const double echo_s = 1; /* signal and echo are no further apart */

/* Written by one thread of the run; read by its watchdog, and by the supervisor when the run is gone. */
struct board_slot {
    _Alignas(SLOT_BYTE) atomic_uint_fast32_t active;
    atomic_uint_fast32_t engine;
    atomic_uint_fast64_t key;
    _Atomic double deadline_s;
    atomic_uint_fast64_t n_done;
    atomic_uint_fast64_t late_key; /* of the search that the watchdog found late */
    atomic_uint_fast32_t late;     /* 0: none, else the number of its engine + 1 */
};

struct crash_board {
    bool supervised, returned;
    unsigned n_restart, n_fruitless, n_marked;
    uint64_t n_done; /* at the start of the run */
    bool all;
    unsigned n_crash[BOARD_ENGINE_MAX];
    struct {
        int number;
        bool passed_on;
        double at_s;
    } taken; /* the last signal that was no echo */
    size_t n_suspect;
    uint64_t suspect[SUSPECT_MAX];
    struct board_slot slot[BOARD_SLOT_MAX];
};

enum dse_status board_new(struct crash_board **board, struct dse_error *err)
{
    void *memory = mmap(NULL, sizeof **board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *board = memory == MAP_FAILED ? NULL : memory; /* all zero */
    return *board ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for the crash board");
}

void board_free(struct crash_board *board)
{
    if (board)
        munmap(board, sizeof *board);
}

void board_set_supervised(struct crash_board *board)
{
    board->supervised = true;
}

void board_set_returned(struct crash_board *board)
{
    board->returned = true;
}

bool board_has_returned(const struct crash_board *board)
{
    return board->returned;
}

unsigned board_restarts(const struct crash_board *board)
{
    return board->n_restart;
}

bool board_is_supervised(const struct crash_board *board)
{
    return board->supervised;
}

unsigned board_count_marked(const struct crash_board *board)
{
    return board->n_marked;
}

void board_enter(struct crash_board *board, size_t slot, uint64_t key, uint32_t engine, double deadline_s)
{
    struct board_slot *s = &board->slot[slot];
    atomic_store_explicit(&s->key, key, memory_order_relaxed);
    atomic_store_explicit(&s->engine, engine, memory_order_relaxed);
    atomic_store_explicit(&s->deadline_s, deadline_s, memory_order_relaxed);
    atomic_store_explicit(&s->active, 1, memory_order_release);
}

void board_leave(struct crash_board *board, size_t slot)
{
    struct board_slot *s = &board->slot[slot];
    uint64_t n_done = atomic_load_explicit(&s->n_done, memory_order_relaxed);
    atomic_store_explicit(&s->active, 0, memory_order_release);
    atomic_store_explicit(&s->n_done, n_done + 1, memory_order_relaxed);
}

static bool is_active(const struct board_slot *slot)
{
    return atomic_load_explicit(&slot->active, memory_order_acquire) != 0;
}

bool board_isolates(const struct crash_board *board)
{
    return board->all || board->n_suspect > 0;
}

static unsigned engine_place(uint64_t engine)
{
    return engine < BOARD_ENGINE_MAX ? (unsigned)engine : BOARD_ENGINE_MAX - 1;
}

bool board_must_isolate(const struct crash_board *board, uint64_t key, uint32_t engine)
{
    if (!board_isolates(board))
        return false;
    if (board->all || board->n_crash[engine_place(engine)] >= ENGINE_CRASH_MAX)
        return true;
    for (size_t i = 0; i < board->n_suspect; i++)
        if (board->suspect[i] == key)
            return true;
    return false;
}

bool board_is_late(const struct crash_board *board, size_t slot, double now_s)
{
    const struct board_slot *s = &board->slot[slot];
    double deadline_s = atomic_load_explicit(&s->deadline_s, memory_order_relaxed);
    return is_active(s) && deadline_s > 0 && now_s > deadline_s;
}

/* Isolate the search from now on. Only the supervisor changes what the threads of a run look up. */
static void mark(struct crash_board *board, uint64_t key)
{
    board->n_marked++;
    if (board->n_suspect == SUSPECT_MAX)
        board->all = true;
    else
        board->suspect[board->n_suspect++] = key;
}

void board_overrun(struct crash_board *board, size_t slot)
{
    struct board_slot *s = &board->slot[slot];
    atomic_store(&s->late_key, atomic_load(&s->key));
    atomic_store(&s->late, atomic_load(&s->engine) + 1);
}

/* The next start: nothing is in flight, and what was finished until now counts as got on with. */
static void begin_again(struct crash_board *board)
{
    uint64_t n_done = 0;
    for (size_t i = 0; i < BOARD_SLOT_MAX; i++) {
        n_done += atomic_load(&board->slot[i].n_done);
        atomic_store(&board->slot[i].active, 0);
        atomic_store(&board->slot[i].late, 0);
    }
    board->n_fruitless = n_done > board->n_done ? 0 : board->n_fruitless + 1;
    board->n_done = n_done;
    board->n_restart++;
    board->all = board->all || board->n_fruitless >= FRUITLESS_MAX;
    memset(&board->taken, 0, sizeof board->taken);
}

bool board_take_overrun(struct crash_board *board)
{
    board->n_marked = 0;
    for (size_t i = 0; i < BOARD_SLOT_MAX; i++) {
        struct board_slot *s = &board->slot[i];
        uint_fast32_t late = atomic_exchange(&s->late, 0);
        if (late == 0)
            continue;
        mark(board, atomic_load(&s->late_key));
        board->n_crash[engine_place(late - 1)]++;
    }
    if (board->n_marked == 0)
        return false;
    begin_again(board);
    return true;
}

bool board_blame(struct crash_board *board)
{
    bool crashed[BOARD_ENGINE_MAX] = {false};
    board->n_marked = 0;
    for (size_t i = 0; i < BOARD_SLOT_MAX; i++)
        if (is_active(&board->slot[i])) {
            mark(board, atomic_load(&board->slot[i].key));
            crashed[engine_place(atomic_load(&board->slot[i].engine))] = true;
        }
    for (size_t e = 0; e < BOARD_ENGINE_MAX; e++)
        board->n_crash[e] += crashed[e];
    begin_again(board);
    return board->n_marked > 0;
}

/* The two come in either order. Two of the same kind are two signals. */
bool board_is_echo(struct crash_board *board, const siginfo_t *info)
{
    bool passed_on = board->supervised && info->si_code == SI_QUEUE && info->si_pid == getppid();
    double now_s = clock_wall_s();
    if (board->taken.number == info->si_signo && board->taken.passed_on != passed_on &&
        now_s - board->taken.at_s < echo_s)
        return true;
    board->taken.number = info->si_signo;
    board->taken.passed_on = passed_on;
    board->taken.at_s = now_s;
    return false;
}
