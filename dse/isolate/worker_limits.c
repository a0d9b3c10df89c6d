/* Memory by the least of the machine, its control groups and Slurm, shared out among the slots; and what a
 * process uses, from /proc. */
#include "dse/isolate/worker_limits.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"

enum { LINE_MAX_BYTE = 4096, PATH_MAX_BYTE = 4600 };

static const uint64_t mib = 1024 * 1024;

static void lower(uint64_t *least, uint64_t value)
{
    if (value < *least)
        *least = value;
}

/* A file with one number; "max" and what is no number leave `least` as it is. */
static void lower_by_file(uint64_t *least, const char *path)
{
    char line[64];
    uint64_t value;
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (text_parse_u64(line, &value))
            lower(least, value);
    }
    fclose(file);
}

/* The limit of a control group holds for all below it. `where` begins with a slash. */
static void lower_by_group(uint64_t *least, const char *root, const char *where, const char *file)
{
    char path[PATH_MAX_BYTE], at[LINE_MAX_BYTE];
    snprintf(at, sizeof at, "%s", where);
    for (;;) {
        snprintf(path, sizeof path, "%s%s/%s", root, strcmp(at, "/") == 0 ? "" : at, file);
        lower_by_file(least, path);
        char *slash = strrchr(at, '/');
        if (!slash || at[0] == '\0' || strcmp(at, "/") == 0)
            return;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup: "0::/path" (version 2) and "7:memory:/path" (version 1). */
static void lower_by_groups(uint64_t *least)
{
    char line[LINE_MAX_BYTE];
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *where = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!where)
            continue;
        *where++ = '\0';
        if (controllers[1] == '\0') {
            lower_by_group(least, "/sys/fs/cgroup", where, "memory.max");
            lower_by_group(least, "/sys/fs/cgroup/unified", where, "memory.max");
        } else if (strstr(controllers, "memory")) {
            lower_by_group(least, "/sys/fs/cgroup/memory", where, "memory.limit_in_bytes");
        }
    }
    fclose(file);
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

uint64_t worker_memory_all(void)
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
    return least;
}

uint64_t worker_memory_share(size_t n_slot)
{
    uint64_t all = worker_memory_all();
    return all / 10 * 9 / (n_slot ? n_slot : 1);
}

bool worker_memory_of(int pid, uint64_t *space, uint64_t *resident)
{
    char path[64], text[128];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (pid == 0)
        snprintf(path, sizeof path, "/proc/self/statm");
    else
        snprintf(path, sizeof path, "/proc/%d/statm", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    if (sscanf(text, "%" SCNu64 " %" SCNu64, space, resident) != 2)
        return false;
    *space *= page;
    *resident *= page;
    return true;
}

uint64_t worker_oom_count(void)
{
    char line[128];
    uint64_t count = UINT64_MAX;
    FILE *file = fopen("/proc/vmstat", "re");
    if (!file)
        return count;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "oom_kill %" SCNu64, &count) == 1)
            break;
    fclose(file);
    return count;
}
