#ifndef PRESSUREKIT_CALLOCATIONCOUNTER_H
#define PRESSUREKIT_CALLOCATIONCOUNTER_H

// Counts heap allocations by taking the place of malloc and its family in the executable that links this target.
// For tests and benchmarks only; the library does not link it.

#include <stdbool.h>
#include <stdint.h>

/// Heap allocations the calling thread has made so far; only differences mean something.
uint64_t pk_thread_allocations(void);

/// Whether allocations are counted: false under a sanitizer, which needs malloc for itself, and without glibc.
bool pk_allocations_are_counted(void);

/// Bytes of the C heap that are in use, in all arenas; mappings of their own are not counted. -1 where the C library is
/// not glibc 2.33 or later. Takes each arena's lock.
long long pk_heap_in_use(void);

/// Bytes of blocks that are mappings of their own, in whole pages; -1 as above.
long long pk_heap_mapped(void);

#endif
