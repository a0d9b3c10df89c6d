/* Slots that each thread writes without a lock, the watchdog's look at them, and the marks that the
 * supervisor draws from them after a crash: searches, then engines, then everything goes into workers. */
#include "dse/isolate/crash_board.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SUSPECT_MAX = 65536,  /* more than that: everything is isolated */
    ENGINE_CRASH_MAX = 3, /* of one engine: then all its searches are isolated */
    FRUITLESS_MAX = 3,    /* crashes in a row without a search finished in between: everything is isolated */
    SLOT_BYTE = 64,       /* one cache line each */
    INTERRUPTED = 130,
};

static const double gap_most_s = 1; /* ticks come ten times a second; a longer gap: the process was stopped */

/* Written by one thread of the run; read by its watchdog, and by the supervisor when the run is gone.
 * tests/hammer/kill.py reads it as it stands. */
struct board_slot {
    _Alignas(SLOT_BYTE) atomic_uint_fast32_t active;
    atomic_uint_fast32_t engine;
    atomic_uint_fast64_t key;
    _Atomic double deadline_s;
    atomic_uint_fast64_t n_done;
};

/* A search that the watchdog found late; the thread may have gone on meanwhile. */
struct board_late {
    uint64_t key;
    uint32_t engine;
};

struct crash_board {
    bool supervised;
    bool returned;
    int code; /* when it has returned */
    unsigned n_restart, n_fruitless;
    uint64_t n_done; /* at the start of the run */
    bool all;
    unsigned n_crash[BOARD_ENGINE_MAX];
    size_t n_suspect, n_late;
    uint64_t suspect[SUSPECT_MAX];
    struct board_late late[BOARD_SLOT_MAX];
    struct board_slot slot[BOARD_SLOT_MAX];
};

enum dse_status board_new(bool supervised, struct crash_board **board, struct dse_error *err)
{
    void *memory = mmap(NULL, sizeof **board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *board = memory == MAP_FAILED ? NULL : memory; /* all zero */
    if (!*board)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the crash board");
    (*board)->supervised = supervised;
    return DSE_OK;
}

void board_free(struct crash_board *board)
{
    if (board)
        munmap(board, sizeof *board);
}

/* ---------------------------------------- the run's threads */

unsigned board_restarts(const struct crash_board *board)
{
    return board->n_restart;
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

/* ---------------------------------------- the run's watchdog */

/* Other threads still run: nothing may be released or closed. */
static _Noreturn void leave(const struct watchdog *watchdog)
{
    watchdog->flush(watchdog->user);
    fflush(watchdog->err);
    _exit(INTERRUPTED);
}

/* Note the searches in flight beyond their deadlines; returns how many. */
static size_t note_late(struct watchdog *watchdog, double now_s)
{
    struct crash_board *board = watchdog->board;
    board->n_late = 0;
    for (size_t i = 0; i < watchdog->n_slot; i++) {
        const struct board_slot *slot = &board->slot[i];
        double deadline_s = atomic_load_explicit(&slot->deadline_s, memory_order_relaxed);
        if (is_active(slot) && deadline_s > 0 && now_s > deadline_s)
            board->late[board->n_late++] =
                (struct board_late){atomic_load(&slot->key), (uint32_t)atomic_load(&slot->engine)};
    }
    return board->n_late;
}

void watchdog_tick(struct watchdog *watchdog, double now_s, bool stopping)
{
    double gap_s = watchdog->last_s > 0 ? now_s - watchdog->last_s : 0;
    watchdog->last_s = now_s;
    if (gap_s > gap_most_s) {
        watchdog->quiet_s = now_s + watchdog->grace_s;
        watchdog->stopping_s += watchdog->stopping_s > 0 ? gap_s : 0;
    }
    if (stopping) {
        watchdog->stopping_s = watchdog->stopping_s > 0 ? watchdog->stopping_s : now_s;
        if (now_s - watchdog->stopping_s <= watchdog->grace_s)
            return;
        fprintf(watchdog->err, "dse: not stopped in time; ending at once, finished points are kept\n");
        leave(watchdog);
    }
    if (now_s < watchdog->quiet_s || note_late(watchdog, now_s) == 0)
        return;
    if (watchdog->board->supervised)
        leave(watchdog);
    if (!watchdog->said)
        fprintf(watchdog->err, "dse: a search does not stop at its max_seconds, and cannot be ended in a "
                               "thread; waiting for it (isolation: process ends such searches)\n");
    watchdog->said = true;
}

/* ---------------------------------------- the supervisor */

void board_set_returned(struct crash_board *board, int code)
{
    board->code = code;
    board->returned = true;
}

bool board_has_returned(const struct crash_board *board, int *code)
{
    if (board->returned)
        *code = board->code;
    return board->returned;
}

bool board_has_overrun(const struct crash_board *board)
{
    return board->n_late > 0;
}

/* Isolate the search from now on. Only the supervisor changes what the threads of a run look up. */
static void mark(struct crash_board *board, uint64_t key)
{
    if (board->n_suspect == SUSPECT_MAX)
        board->all = true;
    else
        board->suspect[board->n_suspect++] = key;
}

/* Each search that overran counts against its engine. */
static size_t blame_late(struct crash_board *board)
{
    for (size_t i = 0; i < board->n_late; i++) {
        mark(board, board->late[i].key);
        board->n_crash[engine_place(board->late[i].engine)]++;
    }
    return board->n_late;
}

/* Only one of those in flight has crashed: it counts once against each of their engines. */
static size_t blame_active(struct crash_board *board)
{
    bool crashed[BOARD_ENGINE_MAX] = {false};
    size_t n = 0;
    for (size_t i = 0; i < BOARD_SLOT_MAX; i++)
        if (is_active(&board->slot[i])) {
            mark(board, atomic_load(&board->slot[i].key));
            crashed[engine_place(atomic_load(&board->slot[i].engine))] = true;
            n++;
        }
    for (size_t e = 0; e < BOARD_ENGINE_MAX; e++)
        board->n_crash[e] += crashed[e];
    return n;
}

/* The next start: nothing is in flight, and what was finished until now counts as got on with. */
static void begin_again(struct crash_board *board)
{
    uint64_t n_done = 0;
    for (size_t i = 0; i < BOARD_SLOT_MAX; i++) {
        n_done += atomic_load(&board->slot[i].n_done);
        atomic_store(&board->slot[i].active, 0);
    }
    board->n_late = 0;
    board->n_fruitless = n_done > board->n_done ? 0 : board->n_fruitless + 1;
    board->n_done = n_done;
    board->n_restart++;
    board->all = board->all || board->n_fruitless >= FRUITLESS_MAX;
}

size_t board_blame(struct crash_board *board, bool overrun)
{
    size_t n = overrun ? blame_late(board) : blame_active(board);
    begin_again(board);
    return n;
}
