#define _GNU_SOURCE
#include "CTestShims.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int pk_fork(void) { return fork(); }

int pk_unshare_processes(void) { return unshare(CLONE_NEWPID); }

bool pk_refuse_membarrier(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

static _Thread_local struct {
    int first;
    bool lasts;
    int asked;
    int refused;
} refusal;

void pk_refuse_memory(int first, bool lasts) {
    refusal.first = first;
    refusal.lasts = lasts;
    refusal.asked = 0;
    refusal.refused = 0;
}

int pk_refused_memory(void) { return refusal.refused; }

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PK_SANITIZED 1
#endif
#endif

#if !defined(PK_SANITIZED)

// Counts a request of the calling thread.
static bool is_refused(void) {
    if (refusal.first == 0) return false;
    refusal.asked++;
    bool is_refused = refusal.lasts ? refusal.asked >= refusal.first : refusal.asked == refusal.first;
    if (is_refused) refusal.refused++;
    return is_refused;
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    if ((flags & MAP_ANONYMOUS) != 0 && is_refused()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

// As zlib.h declares it.
int inflateInit2_(void *stream, int bits, const char *version, int size) {
    if (is_refused()) return -4;  // Z_MEM_ERROR
    int (*next)(void *, int, const char *, int) = dlsym(RTLD_NEXT, "inflateInit2_");
    return next(stream, bits, version, size);
}

#endif
