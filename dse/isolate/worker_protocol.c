/* Sends and receives whole messages, and checks every field of an answer before it is believed: the
 * worker's memory may be damaged. */
#include "dse/isolate/worker_protocol.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static const uint64_t answer_magic = 0x6473652d616e7331;            /* "dse-ans1" */
static const uint64_t schedule_most = (uint64_t)1024 * 1024 * 1024; /* bytes */

bool protocol_send(int fd, const void *data, size_t size)
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

bool protocol_receive(int fd, void *data, size_t size)
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

/* Room for two descriptors beside a message. */
union control {
    struct cmsghdr header;
    char byte[CMSG_SPACE(2 * sizeof(int))];
};

bool protocol_send_message(int fd, const void *data, size_t size, const int *descriptor)
{
    union control control = {0};
    char *copy = malloc(size); /* iov_base is not const */
    if (!copy)
        return false;
    memcpy(copy, data, size);
    struct iovec part = {copy, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor) {
        message.msg_control = control.byte;
        message.msg_controllen = sizeof control.byte;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(2 * sizeof(int));
        memcpy(CMSG_DATA(header), descriptor, 2 * sizeof(int));
    }
    ssize_t n;
    do
        n = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    free(copy);
    return n == (ssize_t)size;
}

bool protocol_receive_message(int fd, void *data, size_t size, int *descriptor)
{
    union control control = {0};
    struct iovec part = {data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    message.msg_control = control.byte;
    message.msg_controllen = sizeof control.byte;
    if (descriptor)
        descriptor[0] = descriptor[1] = -1;
    ssize_t n;
    do
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (descriptor && header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(2 * sizeof(int)))
        memcpy(descriptor, CMSG_DATA(header), 2 * sizeof(int));
    return n == (ssize_t)size;
}

bool protocol_answer(int fd, uint64_t number, uint64_t resident, const struct solve_result *result)
{
    const struct engine_schedule *schedule = &result->found.schedule;
    bool has_text = result->outcome == RESULT_OK && result->schedule;
    struct worker_answer answer = {.magic = answer_magic, .number = number, .resident = resident};
    answer.n_schedule = has_text ? schedule->text_length : 0;
    answer.n_accounting = has_text && schedule->accounting ? strlen(schedule->accounting) : 0;
    return protocol_send(fd, &answer, sizeof answer) && protocol_send(fd, result, sizeof *result) &&
           protocol_send(fd, result->schedule, answer.n_schedule) &&
           protocol_send(fd, schedule->accounting, answer.n_accounting);
}

size_t protocol_answer_size(const struct worker_answer *answer, uint64_t number)
{
    if (answer->magic != answer_magic || answer->number != number || answer->n_schedule > schedule_most ||
        answer->n_accounting > WORKER_ACCOUNTING_MAX)
        return 0;
    return sizeof(struct solve_result) + (size_t)answer->n_schedule + (size_t)answer->n_accounting;
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
    return is_mapping(&result->found.mapping) && e->fit.what == FITS && e->cycle > 0 &&
           is_amount(e->latency_s) && is_amount(e->energy_j) && is_amount(e->edp_js) &&
           is_amount(e->n_compute) && e->n_compute < 1.8e19;
}

static bool is_sound(const struct solve_result *result, const struct worker_answer *answer)
{
    const struct engine_result *found = &result->found;
    if ((unsigned)result->outcome >= RESULT_STATUS_COUNT || !has_end(result->reason, SOLVE_REASON_MAX) ||
        !has_end(found->reason, ENGINE_REASON_MAX) || (unsigned)found->stop > STOP_SOLVER_LIMIT ||
        found->n_trace > ENGINE_TRACE_MAX || !is_amount(found->seconds) || !is_bool(&found->feasible) ||
        !is_bool(&found->padded) || !is_bool(&result->bounded))
        return false;
    return result->outcome != RESULT_OK || is_solution(result, answer);
}

bool protocol_read_result(const struct worker_answer *answer, const void *data, struct solve_result *result)
{
    const char *text = (const char *)data + sizeof *result;
    size_t n_schedule = (size_t)answer->n_schedule, n_accounting = (size_t)answer->n_accounting;
    memcpy(result, data, sizeof *result);
    struct engine_schedule *schedule = &result->found.schedule;
    result->schedule = NULL;
    schedule->text = NULL;
    schedule->accounting = NULL;
    if (!is_sound(result, answer))
        return false;
    if (n_schedule == 0)
        return true;
    /* the name of the accounting lies behind the text, so that it lives as long and is freed with it */
    char *copy = malloc(n_schedule + n_accounting + 2);
    if (!copy)
        return false;
    memcpy(copy, text, n_schedule);
    copy[n_schedule] = '\0';
    memcpy(copy + n_schedule + 1, text + n_schedule, n_accounting);
    copy[n_schedule + 1 + n_accounting] = '\0';
    result->schedule = copy;
    schedule->text = copy;
    schedule->accounting = copy + n_schedule + 1;
    return true;
}
