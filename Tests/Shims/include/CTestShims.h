#ifndef PRESSUREKIT_CTESTSHIMS_H
#define PRESSUREKIT_CTESTSHIMS_H

// What tests ask of the system and the library does not.

#include <stdbool.h>

/// `fork(2)`, which Swift declares unavailable; for tests of what a child finds.
int pk_fork(void);

/// `unshare(2)` with CLONE_NEWPID: the next child is 1 in a namespace of its own. For the same tests.
int pk_unshare_processes(void);

/// Has the kernel refuse `membarrier(2)` to this process from now on, all its threads, as a container's seccomp filter may.
bool pk_refuse_membarrier(void);

/// Has the calling thread's requests for memory refused that are made of the system by `mmap(2)`, or for an inflate stream
/// of zlib: the one with number `first`, counted from 1, and with `lasts` all that follow. 0 ends it. Both functions are
/// replaced in the executable that links this target, but not under ThreadSanitizer, which needs `mmap` for itself.
void pk_refuse_memory(int first, bool lasts);

/// How many requests were refused since then.
int pk_refused_memory(void);

#endif
