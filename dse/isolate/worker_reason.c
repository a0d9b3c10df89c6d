/* Why a search in a worker has no result, in words for its row: how the process ended, which limit it hit,
 * and the last line that it wrote. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/process.h"
#include "base/text.h"
#include "dse/isolate/worker.h"

static const double nearly_all = 0.9; /* of max_memory, at a crash: it is the cause */

void last_line_add(struct last_line *line, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c == '\n' || c == '\r') {
            line->begun[line->length] = '\0';
            if (line->length > 0)
                memcpy(line->last, line->begun, line->length + 1);
            line->length = 0;
        } else if (line->length + 1 < sizeof line->begun) {
            line->begun[line->length++] = c < 0x20 || c > 0x7e ? '?' : (char)c;
        }
    }
    line->begun[line->length] = '\0';
}

static const char *meaning(int number)
{
    switch (number) {
    case SIGSEGV:
    case SIGBUS:
        return ": invalid memory access";
    case SIGFPE:
        return ": arithmetic fault";
    case SIGILL:
        return ": illegal instruction";
    case SIGSYS:
        return ": forbidden system call";
    default:
        return "";
    }
}

/* "the engine crashed (SIGSEGV: invalid memory access)". */
static void tell_end(const struct worker_end *end, char *text, size_t size)
{
    char name[32];
    int number = WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
    if (end->forced)
        snprintf(text, size, "the engine closed its connection to the run");
    else if (number == 0)
        snprintf(text, size, "the engine ended its process with exit code %d", WEXITSTATUS(end->status));
    else if (process_signal_is_fault(number))
        snprintf(text, size, "the engine crashed (%s%s)", process_signal(number, name, sizeof name),
                 meaning(number));
    else
        snprintf(text, size, "the engine's process was ended by %s",
                 process_signal(number, name, sizeof name));
}

/* "needed more than max_memory = 1 GiB", then what is behind it. */
static void tell_memory(const struct worker_memory *memory, const char *more, char *text, size_t size)
{
    char amount[48];
    text_bytes((double)memory->most, amount, sizeof amount);
    if (memory->is_share)
        snprintf(
            text, size,
            "needed more than %s of memory, an even share of what there is (max_memory sets another limit)%s",
            amount, more);
    else
        snprintf(text, size, "needed more than max_memory = %s%s", amount, more);
}

static bool is_about_memory(const char *text)
{
    return strstr(text, "out of memory") || strstr(text, "bad_alloc") ||
           strstr(text, "annot allocate memory");
}

/* Why a worker that died did, and its last words. */
static void tell_death(const struct worker_failure *failure, char *text, size_t size)
{
    char how[128], more[sizeof how + 2];
    const struct last_line *line = failure->line;
    const char *words = line->length > 0 ? line->begun : line->last;
    uint64_t peak = failure->end.peak, before = failure->memory.before;
    double growth = peak > before ? (double)(peak - before) : 0;
    tell_end(&failure->end, how, sizeof how);
    snprintf(more, sizeof more, ": %s", how);
    if (failure->by_kernel)
        tell_memory(&failure->memory, ", or than the machine had: ended by the kernel", text, size);
    else if (is_about_memory(words) || growth > nearly_all * (double)failure->memory.most)
        tell_memory(&failure->memory, more, text, size);
    else
        snprintf(text, size, "%s", how);
    size_t used = strlen(text);
    if (words[0])
        snprintf(text + used, size - used, ": %s", words);
}

void worker_tell_failure(const struct worker_failure *failure, enum verdict verdict,
                         struct solve_result *result)
{
    char *text = result->reason;
    size_t size = sizeof result->reason;
    memset(result, 0, sizeof *result);
    measure_values_init(&result->measured);
    result->outcome = verdict == LATE ? RESULT_TIMEOUT : RESULT_FAILED;
    result->found.stop = verdict == LATE ? STOP_MAX_SECONDS : STOP_RUNNING;
    result->found.seconds = failure->used_s;
    if (verdict == LATE)
        snprintf(text, size, "did not stop within max_seconds = %.6g s and %.6g s of grace",
                 failure->seconds_max, failure->grace_s);
    else if (verdict == TOO_LARGE)
        tell_memory(&failure->memory, "", text, size);
    else if (verdict == NONSENSE)
        snprintf(text, size, "the engine damaged the memory of its process: what came back makes no sense");
    else
        tell_death(failure, text, size);
}

void worker_name_limit(const struct worker_memory *memory, struct solve_result *result)
{
    char more[304];
    if (result->outcome != RESULT_FAILED || !is_about_memory(result->reason))
        return;
    snprintf(more, sizeof more, ": %.300s", result->reason);
    tell_memory(memory, more, result->reason, sizeof result->reason);
}
