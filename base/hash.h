/* 64-bit content hashes (XXH3 from libxxhash) fed field by field, so that a key never depends on padding or
 * addresses. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* What was fed is kept until it is too long: most keys are of some hundred bytes and are hashed in one go. */
enum { HASH_KEPT_MAX = 2048 };

struct hash_state {
    void *xxh; /* owned; NULL while everything is in `byte` */
    size_t n_byte;
    int failed; /* out of memory */
    unsigned char byte[HASH_KEPT_MAX];
};

/* A fresh state. Release with hash_end. */
void hash_begin(struct hash_state *state);
void hash_bytes(struct hash_state *state, const void *bytes, size_t length);
/* The text with its length, so that "ab"+"c" and "a"+"bc" differ. NULL counts as the empty text. */
void hash_text(struct hash_state *state, const char *text);
void hash_u64(struct hash_state *state, uint64_t value);
/* The bits of `value`; -0 counts as +0. */
void hash_double(struct hash_state *state, double value);
/* The hash of all that was fed, or 0 when memory ran out on the way; frees the state. */
uint64_t hash_end(struct hash_state *state);

/* The 128-bit hash instead, where it stands for all that was fed and is compared with nothing else. */
struct hash_128 {
    uint64_t low, high;
};
struct hash_128 hash_end_128(struct hash_state *state);

/* One-shot hash of a byte string. */
uint64_t hash_of_bytes(const void *bytes, size_t length);

#endif
