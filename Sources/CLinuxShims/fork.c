#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

// What a child of fork(2) finds as 0: a page of its own that the kernel wipes, or `fallback`, which a handler does.
static _Atomic(uint64_t) fallback;
static _Atomic(uint64_t) *mark = &fallback;
// Grows from parent to child, which inherits it: no process has the number of one that it descends from.
static _Atomic(uint64_t) generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void wipe_fallback(void) { atomic_store(&fallback, 0); }

static void find_page(void) {
    size_t length = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        if (madvise(page, length, MADV_WIPEONFORK) == 0) {
            mark = page;
            return;
        }
        munmap(page, length);
    }
    pthread_atfork(NULL, NULL, wipe_fallback);
}

uint64_t pk_process_generation(void) {
    pthread_once(&once, find_page);
    uint64_t found = atomic_load_explicit(mark, memory_order_acquire);
    if (found != 0) return found;
    uint64_t mine = atomic_fetch_add(&generation, 1) + 1;
    return atomic_compare_exchange_strong(mark, &found, mine) ? mine : found;
}
