/* Sends and receives whole messages, and checks every field of an answer before it is believed: the worker's
 * memory may be damaged. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

#include "dse/isolate/worker.h"

static const uint64_t schedule_most = (uint64_t)1024 * 1024 * 1024; /* bytes */
static const uint64_t accounting_most = 64;
static const uint32_t front_most = 1000000;

bool worker_send(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool worker_receive(int fd, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = recv(fd, at, size, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool worker_send_answer(int fd, uint64_t number, uint64_t resident, const struct solve_result *result)
{
    const struct engine_schedule *schedule = &result->found.schedule;
    bool has_text = result->outcome == RESULT_OK && result->schedule;
    struct worker_answer answer = {.number = number, .resident = resident};
    answer.n_schedule = has_text ? schedule->text_length : 0;
    answer.n_accounting = has_text && schedule->accounting ? strlen(schedule->accounting) : 0;
    return worker_send(fd, &answer, sizeof answer) && worker_send(fd, result, sizeof *result) &&
           worker_send(fd, result->schedule, answer.n_schedule) &&
           worker_send(fd, schedule->accounting, answer.n_accounting) &&
           worker_send(fd, result->front, result->n_front * sizeof *result->front);
}

bool worker_answer_is_sound(const struct worker_answer *answer, uint64_t number)
{
    return answer->number == number && answer->n_schedule <= schedule_most &&
           answer->n_accounting <= accounting_most;
}

/* A byte of a bool that is neither 0 nor 1 is undefined to read, so it is looked at as a byte. */
static bool is_bool(const bool *value)
{
    unsigned char byte;
    memcpy(&byte, value, 1);
    return byte <= 1;
}

static bool has_end(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static bool is_mapping(const struct mapping *mapping)
{
    if (mapping->n_level < 1 || mapping->n_level > ARCH_LEVEL_MAX || mapping->n_dim < 1 ||
        mapping->n_dim > PROBLEM_DIM_MAX)
        return false;
    for (uint32_t l = 0; l < mapping->n_level; l++)
        for (uint32_t d = 0; d < mapping->n_dim; d++) {
            const struct mapping_level *level = &mapping->level[l];
            if (level->temporal[d] < 1 || level->spatial[d] < 1 || level->split > mapping->n_dim ||
                level->temporal_order[d] >= mapping->n_dim || level->spatial_order[d] >= mapping->n_dim)
                return false;
        }
    return true;
}

static bool is_amount(double value)
{
    return isfinite(value) && value >= 0;
}

/* What a row with the outcome "ok" takes from it. */
static bool is_solution(const struct solve_result *result, const struct worker_answer *answer)
{
    const struct evaluation *e = &result->found.evaluation;
    const struct engine_schedule *s = &result->found.schedule;
    if (answer->n_schedule > 0)
        return s->text_length == answer->n_schedule && answer->n_accounting > 0 && s->latency_cycle > 0 &&
               is_amount(s->latency_s) && is_amount(s->energy_j);
    return is_mapping(&result->found.mapping) && e->fit.what == FITS && e->latency_cycle > 0 &&
           is_amount(e->latency_s) && is_amount(e->energy_j) && is_amount(e->edp_js) &&
           is_amount(e->n_compute) && e->n_compute < 1.8e19;
}

bool worker_result_is_sound(const struct worker_answer *answer, const struct solve_result *result)
{
    const struct engine_result *found = &result->found;
    if ((unsigned)result->outcome >= RESULT_STATUS_COUNT || !has_end(result->reason, SOLVE_REASON_MAX) ||
        !has_end(found->reason, ENGINE_REASON_MAX) || (unsigned)found->stop > STOP_SOLVER_LIMIT ||
        found->n_trace > ENGINE_TRACE_MAX || !is_amount(found->seconds) || !is_amount(result->beaten) ||
        !is_bool(&found->feasible) || !is_bool(&found->padded) || !is_bool(&result->bounded) ||
        result->n_front > (result->outcome == RESULT_OK ? front_most : 0))
        return false;
    return result->outcome != RESULT_OK || is_solution(result, answer);
}
