#define _GNU_SOURCE
#include "hazards.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local void *pk_thread_record;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;
static _Thread_local void (*on_leave)(void *record);

static void leave(void *record) {
    // Destructors that run later may read a cache: they begin anew.
    pk_thread_record = NULL;
    on_leave(record);
}

static void make_key(void) { has_key = pthread_key_create(&key, leave) == 0; }

bool pk_set_own_record(void *record, void (*callback)(void *record)) {
    on_leave = callback;
    pthread_once(&once, make_key);
    if (!has_key || pthread_setspecific(key, record) != 0) return false;
    pk_thread_record = record;
    return true;
}

bool pk_fence_all_threads(void) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return true;
    // Not registered yet, or the process is another one by now.
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0
        && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
