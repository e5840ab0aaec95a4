#include "CAllocationCounter.h"

#include <errno.h>
#include <features.h>
#include <malloc.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define PK_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(PK_SANITIZED)

// glibc documents replacing malloc by defining the whole family ("Replacing malloc" in its manual) and keeps
// these entry points to its own allocator.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static __thread uint64_t allocations __attribute__((tls_model("initial-exec")));

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    allocations++;
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    void *result = memalign(alignment, size);
    if (result == NULL) return ENOMEM;
    *block = result;
    return 0;
}

void free(void *block) { __libc_free(block); }

uint64_t pk_thread_allocations(void) { return allocations; }
bool pk_allocations_are_counted(void) { return true; }

#else

uint64_t pk_thread_allocations(void) { return 0; }
bool pk_allocations_are_counted(void) { return false; }

#endif


#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
long long pk_heap_in_use(void) { return (long long)mallinfo2().uordblks; }
long long pk_heap_mapped(void) { return (long long)mallinfo2().hblkhd; }
#else
long long pk_heap_in_use(void) { return -1; }
long long pk_heap_mapped(void) { return -1; }
#endif
