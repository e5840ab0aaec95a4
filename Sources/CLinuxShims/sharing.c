// What threads share without a lock: a word that they sleep on, and values that one publishes and all read.
#define _GNU_SOURCE

#include "CLinuxShims.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t pk_word(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

void pk_change_word(uint32_t *word) {
    __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool pk_wait_for_word(const uint32_t *word, uint32_t seen, int64_t until) {
    // FUTEX_WAIT_BITSET takes an absolute time of the monotonic clock, so that setting the date makes no wait longer.
    struct timespec end = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, &end, NULL, FUTEX_BITSET_MATCH_ANY);
    return !(result == -1 && errno == ETIMEDOUT);
}

uint64_t pk_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

void pk_store(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

void pk_add(uint64_t *word, uint64_t value) { __atomic_add_fetch(word, value, __ATOMIC_SEQ_CST); }

void pk_subtract(uint64_t *word, uint64_t value) { __atomic_sub_fetch(word, value, __ATOMIC_SEQ_CST); }

// A box is a counter and two places. The one that the counter names is read while the other is written; a reader whose
// place was begun anew meanwhile sees another counter, and reads again. (A seqlock whose writer keeps nobody waiting, however
// long it gets no processor.)

void pk_publish(uint64_t *box, const void *value, size_t words) {
    uint64_t count = __atomic_load_n(box, __ATOMIC_RELAXED) + 1;
    uint64_t *place = box + 1 + (count & 1) * words;
    // Whoever sees one of these words sees the counter of before as well.
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (size_t index = 0; index < words; index++) {
        uint64_t word;
        memcpy(&word, (const char *)value + index * sizeof word, sizeof word);
        __atomic_store_n(place + index, word, __ATOMIC_RELAXED);
    }
    __atomic_store_n(box, count, __ATOMIC_RELEASE);
}

void pk_read_published(const uint64_t *box, void *value, size_t words) {
    while (true) {
        uint64_t count = __atomic_load_n(box, __ATOMIC_ACQUIRE);
        const uint64_t *place = box + 1 + (count & 1) * words;
        for (size_t index = 0; index < words; index++) {
            uint64_t word = __atomic_load_n(place + index, __ATOMIC_RELAXED);
            memcpy((char *)value + index * sizeof word, &word, sizeof word);
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(box, __ATOMIC_RELAXED) == count) return;
    }
}
