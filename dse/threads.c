#include "dse/threads.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"

enum { CPU_MAX = 65536 };

int threads_available(void)
{
    static const char *const variable[] = {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS"};
    size_t size = CPU_ALLOC_SIZE(CPU_MAX);
    cpu_set_t *set = CPU_ALLOC(CPU_MAX);
    int n = 1;
    if (set && sched_getaffinity(0, size, set) == 0)
        n = CPU_COUNT_S(size, set);
    CPU_FREE(set);
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; i++) {
        const char *text = getenv(variable[i]);
        uint64_t value;
        if (text && text_parse_u64(text, &value) && value >= 1 && value < (uint64_t)n)
            n = (int)value;
    }
    return n > 0 ? n : 1;
}
