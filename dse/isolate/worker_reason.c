/* Names and meanings of signals and exit codes; the last line that a worker wrote is kept as its own
 * words. */
#include "dse/isolate/worker_reason.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

char *reason_signal(int number, char *buffer, size_t size)
{
    const char *name = sigabbrev_np(number);
    if (name)
        snprintf(buffer, size, "SIG%s", name);
    else
        snprintf(buffer, size, "signal %d", number);
    return buffer;
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

bool reason_is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGABRT || number == SIGSYS || number == SIGTRAP;
}

char *reason_of_status(int status, char *buffer, size_t size)
{
    char name[32];
    if (WIFEXITED(status))
        snprintf(buffer, size, "the engine ended its process with exit code %d", WEXITSTATUS(status));
    else if (reason_is_fault(WTERMSIG(status)))
        snprintf(buffer, size, "the engine crashed (%s%s)",
                 reason_signal(WTERMSIG(status), name, sizeof name), meaning(WTERMSIG(status)));
    else
        snprintf(buffer, size, "the engine's process was ended by %s",
                 reason_signal(WTERMSIG(status), name, sizeof name));
    return buffer;
}

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

const char *last_line_text(const struct last_line *line)
{
    return line->length > 0 ? line->begun : line->last;
}
