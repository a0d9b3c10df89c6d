/* How many threads to use. */
#ifndef DSE_THREADS_H
#define DSE_THREADS_H

/* The processors this process may run on (sched_getaffinity), at most SLURM_CPUS_PER_TASK and OMP_NUM_THREADS where they are
 * set to a number; at least 1. */
int threads_available(void);

#endif
