// What processes share: files of one user's with locks that go with their holders. See CLinuxShims.h.

#define _GNU_SOURCE

#include "CLinuxShims.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

int pk_open_shared(const char *path, bool create) {
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT : 0);
    int descriptor = open(path, flags, 0600);
    if (descriptor < 0) return -1;
    struct stat information;
    if (fstat(descriptor, &information) == 0 && S_ISREG(information.st_mode) && information.st_uid == geteuid() &&
        (information.st_mode & 077) == 0) {
        return descriptor;
    }
    close(descriptor);
    errno = EEXIST;
    return -1;
}

int pk_identity(int descriptor, uint64_t *device, uint64_t *inode, uint64_t *links, int64_t *size) {
    struct stat information;
    if (fstat(descriptor, &information) != 0) return -1;
    *device = information.st_dev;
    *inode = information.st_ino;
    *links = information.st_nlink;
    *size = information.st_size;
    return 0;
}

int pk_path_identity(const char *path, uint64_t *device, uint64_t *inode) {
    struct stat information;
    if (stat(path, &information) != 0) return -1;
    *device = information.st_dev;
    *inode = information.st_ino;
    return 0;
}

// The lock belongs to the open file, so that it ends with the last descriptor of it, however that is closed.
static int lock_range(int descriptor, int command, short kind, int64_t offset, int64_t length, struct flock *lock) {
    *lock = (struct flock){.l_type = kind, .l_whence = SEEK_SET, .l_start = offset, .l_len = length};
    int result;
    do result = fcntl(descriptor, command, lock);
    while (result != 0 && errno == EINTR);
    return result;
}

int pk_hold_range(int descriptor, int64_t offset, int64_t length) {
    struct flock lock;
    return lock_range(descriptor, F_OFD_SETLK, F_WRLCK, offset, length, &lock);
}

int pk_release_range(int descriptor, int64_t offset, int64_t length) {
    struct flock lock;
    return lock_range(descriptor, F_OFD_SETLK, F_UNLCK, offset, length, &lock);
}

int pk_is_range_held(int descriptor, int64_t offset, int64_t length) {
    struct flock lock;
    if (lock_range(descriptor, F_OFD_GETLK, F_WRLCK, offset, length, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

int pk_touch(int descriptor) { return futimens(descriptor, NULL); }

int pk_watch_touches(int descriptor) {
    int watcher = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watcher < 0) return -1;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (inotify_add_watch(watcher, path, IN_ATTRIB) >= 0) return watcher;
    int reason = errno;
    close(watcher);
    errno = reason;
    return -1;
}

void pk_drain(int descriptor) {
    char buffer[4096];
    while (read(descriptor, buffer, sizeof buffer) > 0) {}
}

// Descriptors that a child of fork(2) is to close. Some come and go: a place that is free has -1.
enum { most_inherited = 256 };
static _Atomic int inherited[most_inherited];
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void close_inherited(void) {
    for (int place = 0; place < most_inherited; place++) {
        int descriptor = atomic_exchange(&inherited[place], -1);
        if (descriptor >= 0) close(descriptor);
    }
}

static void prepare_inherited(void) {
    for (int place = 0; place < most_inherited; place++) atomic_store(&inherited[place], -1);
    pthread_atfork(NULL, NULL, close_inherited);
}

void pk_close_in_children(int descriptor) {
    pthread_once(&prepared, prepare_inherited);
    for (int place = 0; place < most_inherited; place++) {
        int free_place = -1;
        if (atomic_compare_exchange_strong(&inherited[place], &free_place, descriptor)) return;
    }
}

void pk_close_shared(int descriptor) {
    pthread_once(&prepared, prepare_inherited);
    for (int place = 0; place < most_inherited; place++) {
        int known = descriptor;
        // Before it is closed: the number may be another file's a moment later.
        if (atomic_compare_exchange_strong(&inherited[place], &known, -1)) break;
    }
    close(descriptor);
}
