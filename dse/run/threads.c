/* The processors that this process may use, not more than Slurm or OMP_NUM_THREADS say. */
#include "dse/run/threads.h"

#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"

enum { CPU_MAX = 65536 };

/* The processors of all places, which are there only when OpenMP binds threads; an empty set otherwise.
 * `size` bytes. */
static void places(cpu_set_t *set, size_t size)
{
    CPU_ZERO_S(size, set);
    for (int place = 0; place < omp_get_num_places(); place++) {
        int n = omp_get_place_num_procs(place);
        int *id = n > 0 ? calloc((size_t)n, sizeof *id) : NULL;
        if (!id)
            continue;
        omp_get_place_proc_ids(place, id);
        for (int i = 0; i < n; i++)
            if (id[i] >= 0 && id[i] < CPU_MAX)
                CPU_SET_S((size_t)id[i], size, set);
        free(id);
    }
}

static int processors(void)
{
    size_t size = CPU_ALLOC_SIZE(CPU_MAX);
    cpu_set_t *set = CPU_ALLOC(CPU_MAX);
    int n = 0;
    if (set) {
        places(set, size);
        n = CPU_COUNT_S(size, set);
        if (n > omp_get_num_procs())
            n = omp_get_num_procs(); /* a place may name processors that the process has not got */
        if (n == 0 && sched_getaffinity(0, size, set) == 0)
            n = CPU_COUNT_S(size, set);
    }
    CPU_FREE(set);
    return n;
}

int threads_available(void)
{
    static const char *const variable[] = {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS"};
    int n = processors();
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; i++) {
        const char *text = getenv(variable[i]);
        uint64_t value;
        if (text && text_parse_u64(text, &value) && value >= 1 && value < (uint64_t)n)
            n = (int)value;
    }
    return n > 0 ? n : 1;
}
