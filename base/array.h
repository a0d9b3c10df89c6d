/* Arrays of unknown length that grow as they are filled. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* `old` (NULL or from malloc, (capacity) items of `size` bytes) with room for at least `n` items, by
 * doubling: what the caller keeps instead of `old` and frees. NULL when out of memory or on overflow: `old`
 * and `capacity` are as they were. */
void *array_grow(void *old, size_t n, size_t *capacity, size_t size);

#endif
