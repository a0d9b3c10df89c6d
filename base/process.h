/* What the system says of processes: small files as in /proc, memory, whether they live, signals. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The first size - 1 bytes of a file, terminated. False when it cannot be read or is empty. */
bool process_read_file(const char *path, char *text, size_t size);

/* State letter and start time (clock ticks since the host started) of a process. False when it is gone. */
bool process_look(long pid, char *state, uint64_t *start);

/* Address space and resident memory of a process in bytes (0: this one). False when it is gone. The other one
 * is for who asks often, and keeps /proc/PID/statm open. */
bool process_memory(long pid, uint64_t *space, uint64_t *resident);
bool process_memory_of(int statm, uint64_t *space, uint64_t *resident);

/* For a child: it is killed when its parent, whose number it is told, ends, or now when that has happened. */
void process_end_with(pid_t parent);

/* Can RLIMIT_AS be set? Not where the program runs under a checker that takes terabytes of address space or
 * keeps memory of its own: AddressSanitizer, ThreadSanitizer, valgrind. */
bool process_can_limit_memory(void);

/* Whether the stack of the main thread, and so by default of others, may grow to `byte` bytes (RLIMIT_STACK);
 * `*has` is what it may. */
bool process_stack_suffices(size_t byte, size_t *has);

/* The process that holds an open file by flock for itself alone, by /proc/locks; 0: none that can be seen. */
long process_with_flock(int fd);

/* How many processes the kernel has ended so far for lack of memory; UINT64_MAX when it does not say. */
uint64_t process_oom_count(void);

/* "SIGSEGV"; "signal 99" for one without a name. Returns `buffer`. */
char *process_signal(int number, char *buffer, size_t size);

/* Is it a signal that a faulty program gets: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP? */
bool process_signal_is_fault(int number);

#endif
