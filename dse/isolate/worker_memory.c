/* Memory by the least of the machine, its control groups and Slurm, shared out among the slots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "dse/isolate/worker.h"

enum { GROUPS_MAX_BYTE = 16384, PATH_MAX_BYTE = 4600 };

static const uint64_t mib = 1024 * 1024;

static void lower(uint64_t *least, uint64_t value)
{
    if (value < *least)
        *least = value;
}

/* A file with one number; "max" and what is no number leave `least` as it is. */
static void lower_by_file(uint64_t *least, const char *path)
{
    char text[64];
    uint64_t value;
    if (!process_read_file(path, text, sizeof text))
        return;
    text[strcspn(text, "\n")] = '\0';
    if (text_parse_u64(text, &value))
        lower(least, value);
}

/* The limit of a control group holds for all below it. `where` begins with a slash. */
static void lower_by_group(uint64_t *least, const char *root, const char *where, const char *file)
{
    char path[PATH_MAX_BYTE];
    size_t length = strlen(where);
    do {
        while (length > 0 && where[length - 1] == '/')
            length--;
        snprintf(path, sizeof path, "%s%.*s/%s", root, (int)length, where, file);
        lower_by_file(least, path);
        while (length > 0 && where[length - 1] != '/')
            length--;
    } while (length > 0);
}

/* Lines of /proc/self/cgroup: "0::/path" (version 2) and "7:memory:/path" (version 1). */
static void lower_by_groups(uint64_t *least)
{
    char text[GROUPS_MAX_BYTE], *rest = text;
    if (!process_read_file("/proc/self/cgroup", text, sizeof text))
        return;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        char *where = strchr(line, '/');
        if (!where || where[-1] != ':')
            continue;
        where[-1] = '\0';
        if (strcmp(line, "0:") == 0) {
            lower_by_group(least, "/sys/fs/cgroup", where, "memory.max");
            lower_by_group(least, "/sys/fs/cgroup/unified", where, "memory.max");
        } else if (strstr(line, "memory")) {
            lower_by_group(least, "/sys/fs/cgroup/memory", where, "memory.limit_in_bytes");
        }
    }
}

/* What Slurm gives a job on this node, in MiB. */
static void lower_by_slurm(uint64_t *least)
{
    const char *node = getenv("SLURM_MEM_PER_NODE"), *cpu = getenv("SLURM_MEM_PER_CPU");
    const char *cpus = getenv("SLURM_CPUS_ON_NODE");
    uint64_t value, n;
    if (node && text_parse_u64(node, &value) && value > 0 && value < UINT64_MAX / mib)
        lower(least, value * mib);
    if (cpu && cpus && text_parse_u64(cpu, &value) && text_parse_u64(cpus, &n) && value > 0 && n > 0 &&
        value < UINT64_MAX / mib / n)
        lower(least, value * n * mib);
}

uint64_t worker_memory_share(size_t n_slot)
{
    struct rlimit limit;
    long pages = sysconf(_SC_PHYS_PAGES), page_byte = sysconf(_SC_PAGESIZE);
    uint64_t least = UINT64_MAX;
    if (pages > 0 && page_byte > 0)
        least = (uint64_t)pages * (uint64_t)page_byte;
    lower_by_groups(&least);
    lower_by_slurm(&least);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        lower(&least, limit.rlim_cur);
    return least / 10 * 9 / (n_slot ? n_slot : 1);
}
