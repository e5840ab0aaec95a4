#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x00000080
#endif

int pk_open_nameless(const char *directory) {
    return open(directory, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
}

int pk_open_exclusive(const char *path) {
    return open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}

int pk_open_direct(int descriptor) {
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    return open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
}

int pk_open_read(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

int pk_open_directory(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

int pk_punch_hole(int descriptor, int64_t offset, int64_t length) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int pk_start_writeback(int descriptor, int64_t offset, int64_t length) {
    return sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

int pk_drop_cached(int descriptor, int64_t offset, int64_t length) {
    int advised = posix_fadvise(descriptor, offset, length, POSIX_FADV_DONTNEED);
    if (advised == 0) return 0;
    errno = advised;
    return -1;
}

int pk_finish_writeback(int descriptor, int64_t offset, int64_t length) {
    int result = sync_file_range(descriptor, offset, length,
                                 SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    if (result != 0) return result;
    return pk_drop_cached(descriptor, offset, length);
}

int pk_file_system_magic(int descriptor, int64_t *magic) {
    struct statfs information;
    if (fstatfs(descriptor, &information) != 0) return -1;
    *magic = (int64_t)information.f_type;
    return 0;
}

int pk_free_space(int descriptor, uint64_t *available, uint64_t *total) {
    struct statvfs information;
    if (fstatvfs(descriptor, &information) != 0) return -1;
    *available = (uint64_t)information.f_bavail * information.f_frsize;
    *total = (uint64_t)information.f_blocks * information.f_frsize;
    return 0;
}

int pk_file_usage(int descriptor, uint64_t *size, uint64_t *allocated) {
    struct stat information;
    if (fstat(descriptor, &information) != 0) return -1;
    *size = (uint64_t)information.st_size;
    *allocated = (uint64_t)information.st_blocks * 512;
    return 0;
}

int pk_device_of(int descriptor, unsigned *major_number, unsigned *minor_number) {
    struct stat information;
    if (fstat(descriptor, &information) != 0) return -1;
    *major_number = major(information.st_dev);
    *minor_number = minor(information.st_dev);
    return 0;
}

int pk_malloc_trim(void) {
#ifdef __GLIBC__
    return malloc_trim(0);
#else
    return -1;
#endif
}

void pk_map_blocks_from(int length, int kept) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, length);
    mallopt(M_TRIM_THRESHOLD, kept);
#endif
}

size_t pk_heap_free(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    return mallinfo2().fordblks;
#else
    return 0;
#endif
}

void *pk_map_pages(size_t length) {
    void *address = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

int pk_unmap_pages(void *address, size_t length) { return munmap(address, length); }

int64_t pk_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void pk_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

static _Thread_local uint32_t thread_identifier;

static void forget_thread_identifier(void) { thread_identifier = 0; }

static __attribute__((constructor)) void watch_forks(void) { pthread_atfork(NULL, NULL, forget_thread_identifier); }

uint32_t pk_thread_identifier(void) {
    if (thread_identifier == 0) thread_identifier = (uint32_t)gettid();
    return thread_identifier;
}

int pk_signal_when_parent_ends(int number) { return prctl(PR_SET_PDEATHSIG, number); }

int pk_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int pk_eventfd_signal(int descriptor) { return eventfd_write(descriptor, 1); }

int pk_eventfd_drain(int descriptor) {
    eventfd_t value;
    return eventfd_read(descriptor, &value);
}

int pk_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int pk_epoll_add(int epoll, int descriptor, bool urgent, uint64_t token) {
    struct epoll_event event = {.events = urgent ? EPOLLPRI : EPOLLIN, .data.u64 = token};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int pk_epoll_remove(int epoll, int descriptor) { return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL); }

int pk_epoll_wait(int epoll, uint64_t *tokens, bool *failed, int capacity, int timeout_ms) {
    struct epoll_event events[16];
    int count = epoll_wait(epoll, events, capacity < 16 ? capacity : 16, timeout_ms);
    for (int i = 0; i < count; i++) {
        tokens[i] = events[i].data.u64;
        failed[i] = (events[i].events & (EPOLLERR | EPOLLHUP)) != 0;
    }
    return count;
}

int pk_usable_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? count : 1;
}

int64_t pk_read_two(int descriptor, int64_t offset, bool uncached, void *first, size_t first_count, void *second,
                    size_t second_count) {
    struct iovec parts[2] = {{first, first_count}, {second, second_count}};
    return uncached ? preadv2(descriptor, parts, 2, offset, RWF_DONTCACHE) : preadv(descriptor, parts, 2, offset);
}

int64_t pk_write_two(int descriptor, int64_t offset, const void *first, size_t first_count, const void *second,
                     size_t second_count) {
    struct iovec parts[2] = {{(void *)first, first_count}, {(void *)second, second_count}};
    return pwritev(descriptor, parts, 2, offset);
}

void *pk_reserve_pages(size_t length) {
    void *address = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

int pk_drop_pages(void *address, size_t length) { return madvise(address, length, MADV_DONTNEED); }

static __thread bool trading;

bool pk_is_trading(void) { return trading; }

void pk_set_trading(bool is_trading) { trading = is_trading; }

int pk_run_in_batches(void) {
    struct sched_param parameters = {.sched_priority = 0};
    return sched_setscheduler(0, SCHED_BATCH, &parameters);
}

int pk_run_in_slices(int thread, int nice, int ordinary, uint64_t slice) {
    struct {
        uint32_t size;
        uint32_t policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime;
        uint64_t deadline;
        uint64_t period;
    } attributes = {.size = sizeof attributes, .policy = SCHED_OTHER, .nice = nice, .runtime = slice};
    int result = (int)syscall(SYS_sched_setattr, thread, &attributes, 0);
    if (result == 0 || errno != EPERM) return result;
    attributes.nice = ordinary;
    return (int)syscall(SYS_sched_setattr, thread, &attributes, 0);
}

// Pressure signals.

int pk_open_write(const char *path) { return open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }

int pk_open_trigger(const char *path) { return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }

int pk_open_wait(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }

int64_t pk_write_bytes(int descriptor, const void *bytes, size_t count) {
    ssize_t written;
    do {
        written = write(descriptor, bytes, count);
    } while (written < 0 && errno == EINTR);
    return written;
}

int pk_connect_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof(address)) == 0) return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

int64_t pk_send_bytes(int descriptor, const void *bytes, size_t count) {
    return send(descriptor, bytes, count, MSG_NOSIGNAL);
}

int pk_kind_of_path(const char *path) {
    struct stat information;
    if (stat(path, &information) != 0) return -1;
    if (S_ISREG(information.st_mode)) return 0;
    if (S_ISFIFO(information.st_mode)) return 1;
    if (S_ISSOCK(information.st_mode)) return 2;
    return 3;
}

int pk_open_named(const char *path, bool create) {
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
}

static int pause_pipe[2] = {-1, -1};
static struct sigaction pause_before, resume_before;

static void write_pause(int number) {
    int saved = errno;
    ssize_t written = number == SIGTSTP ? write(pause_pipe[1], "pause\n", 6) : write(pause_pipe[1], "resume\n", 7);
    (void)written;  // A full pipe has hundreds of them unread.
    errno = saved;
}

int pk_catch_pauses(int *reader, int *writer) {
    int ends[2];
    if (pause_pipe[0] >= 0) {
        errno = EBUSY;
        return -1;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    // The handler must not wait; the reader does.
    if (fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    pause_pipe[0] = *reader = ends[0];
    pause_pipe[1] = *writer = ends[1];
    struct sigaction action = {.sa_handler = write_pause, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, &action, &pause_before);
    sigaction(SIGCONT, &action, &resume_before);
    return 0;
}

void pk_release_pauses(void) {
    if (pause_pipe[0] < 0) return;
    sigaction(SIGTSTP, &pause_before, NULL);
    sigaction(SIGCONT, &resume_before, NULL);
    int ends[2] = {pause_pipe[0], pause_pipe[1]};
    pause_pipe[0] = pause_pipe[1] = -1;
    close(ends[0]);
    close(ends[1]);
}

int pk_open_fifo(const char *path) {
    struct stat information;
    if (mkfifo(path, 0600) != 0 && errno != EEXIST) return -1;
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return -1;
    if (fstat(descriptor, &information) != 0 || !S_ISFIFO(information.st_mode) ||
        information.st_uid != geteuid() || (information.st_mode & 077) != 0) {
        close(descriptor);
        errno = EEXIST;
        return -1;
    }
    return descriptor;
}

static _Thread_local bool exempt;

void pk_exempt_thread(void) { exempt = true; }

bool pk_is_exempt_thread(void) { return exempt; }

// The control socket.

int pk_longest_socket_path(void) { return (int)sizeof(((struct sockaddr_un *)0)->sun_path) - 1; }

int pk_listen_unix(const char *path, int backlog) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    if (fchmod(descriptor, 0600) == 0 && bind(descriptor, (struct sockaddr *)&address, sizeof(address)) == 0) {
        if (listen(descriptor, backlog) == 0) return descriptor;
        int reason = errno;
        unlink(path);
        errno = reason;
    }
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

int pk_accept(int descriptor, int send_bytes) {
    int accepted = accept4(descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    // What is refused here is only a smaller buffer.
    if (accepted >= 0) (void)setsockopt(accepted, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes));
    return accepted;
}

int pk_peer(int descriptor, uint32_t *user, int32_t *process) {
    struct ucred credentials;
    socklen_t length = sizeof(credentials);
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *user = credentials.uid;
    *process = credentials.pid;
    return 0;
}

int pk_socket_identity(const char *path, uint64_t *device, uint64_t *inode, uint32_t *owner) {
    struct stat information;
    if (lstat(path, &information) != 0) return -1;
    if (!S_ISSOCK(information.st_mode)) {
        errno = ENOTSOCK;
        return -1;
    }
    *device = information.st_dev;
    *inode = information.st_ino;
    *owner = information.st_uid;
    return 0;
}

int pk_open_private_directory(const char *path) {
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return -1;
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) {
        if (errno == ELOOP || errno == ENOTDIR) errno = EEXIST;
        return -1;
    }
    struct stat information;
    if (fstat(descriptor, &information) == 0 && information.st_uid == geteuid() &&
        (information.st_mode & 077) == 0) {
        return descriptor;
    }
    close(descriptor);
    errno = EEXIST;
    return -1;
}

int pk_lock_briefly(int descriptor) {
    for (int attempt = 0; attempt < 100; attempt++) {
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
        if (errno != EWOULDBLOCK && errno != EINTR) return -1;
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    errno = EWOULDBLOCK;
    return -1;
}
