#ifndef PRESSUREKIT_HAZARDS_H
#define PRESSUREKIT_HAZARDS_H

// What hazard pointers need and Swift lacks: a thread-local variable, a fence for the compiler alone, and membarrier(2).

#include <stdbool.h>

// Initial-exec: one load relative to the thread, in a library too; eight bytes fit into what the loader keeps for that.
extern _Thread_local void *pk_thread_record __attribute__((tls_model("initial-exec")));

/// What was set for the calling thread; NULL before. In the header, to be a load and no call.
static inline void *pk_own_record(void) { return pk_thread_record; }

/// Keeps the compiler from moving memory accesses across. No instruction.
static inline void pk_compiler_fence(void) { __asm__ volatile("" ::: "memory"); }

/// Sets the calling thread's record, and has `leave` called with it when the thread ends. Returns whether that was possible.
bool pk_set_own_record(void *record, void (*leave)(void *record));

/// Has every other thread of the process run a full fence, now or before it goes on: `membarrier(2)` with
/// PRIVATE_EXPEDITED, for which the first call registers. Returns whether the kernel did.
bool pk_fence_all_threads(void);

#endif
