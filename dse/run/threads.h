/* How many threads to use. */
#ifndef DSE_RUN_THREADS_H
#define DSE_RUN_THREADS_H

/* The processors this process may run on, at most SLURM_CPUS_PER_TASK and OMP_NUM_THREADS where they are set
 * to a number; at least 1. With OMP_PROC_BIND the OpenMP library has bound the first thread to its own place
 * before main begins, so that its affinity says too little: then the processors of all places count. */
int threads_available(void);

#endif
