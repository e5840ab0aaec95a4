#ifndef PRESSUREKIT_CLINUXSHIMS_H
#define PRESSUREKIT_CLINUXSHIMS_H

// What Linux and glibc have and Swift's Glibc module does not import: constants behind _GNU_SOURCE, variadic calls,
// and calls that other C libraries lack. Each function says in a line why it is here. All return the call's own
// result and leave errno set, so that callers map errors in one place.

// Only freestanding headers here: a system header seen once with _GNU_SOURCE and once without does not import.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hazards.h"

/// `open(2)` with O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, mode 0600: a file that never has a name.
/// O_TMPFILE is behind _GNU_SOURCE and `open` is variadic.
int pk_open_nameless(const char *directory);

/// `open(2)` with O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode 0600, for file systems without O_TMPFILE.
int pk_open_exclusive(const char *path);

/// Opens the file of an open descriptor again, with O_RDWR | O_DIRECT | O_CLOEXEC, by its name in /proc: a nameless file
/// has no other. O_DIRECT is behind _GNU_SOURCE.
int pk_open_direct(int descriptor);

/// `open(2)` with O_RDONLY | O_CLOEXEC. `open` is variadic.
int pk_open_read(const char *path);

/// `open(2)` with O_RDONLY | O_DIRECTORY | O_CLOEXEC.
int pk_open_directory(const char *path);

/// `fallocate(2)` with FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE. The flags are behind _GNU_SOURCE.
int pk_punch_hole(int descriptor, int64_t offset, int64_t length);

/// Starts write-back of a range: `sync_file_range(2)` with SYNC_FILE_RANGE_WRITE. Behind _GNU_SOURCE.
int pk_start_writeback(int descriptor, int64_t offset, int64_t length);

/// Waits for write-back of a range and drops it from the page cache:
/// `sync_file_range(2)` with all three flags, then `posix_fadvise(POSIX_FADV_DONTNEED)`.
int pk_finish_writeback(int descriptor, int64_t offset, int64_t length);

/// `posix_fadvise(POSIX_FADV_DONTNEED)`, with the error in `errno` as everywhere else.
int pk_drop_cached(int descriptor, int64_t offset, int64_t length);

/// `fstatfs(2)`'s f_type: the magic number of the file system. `struct statfs` is not imported.
int pk_file_system_magic(int descriptor, int64_t *magic);

/// Free and total bytes of a file system for an unprivileged user, by `fstatvfs(3)`.
int pk_free_space(int descriptor, uint64_t *available, uint64_t *total);

/// Size and allocated bytes (st_blocks × 512) of an open file.
int pk_file_usage(int descriptor, uint64_t *size, uint64_t *allocated);

/// `major(3)` and `minor(3)` of the device that holds an open file; both are macros.
int pk_device_of(int descriptor, unsigned *major_number, unsigned *minor_number);

/// `malloc_trim(3)` where the C library has it: 1 memory was returned, 0 not, -1 this is not glibc.
int pk_malloc_trim(void);

/// Has the C library map blocks of so many bytes or more one by one, give them back when they are freed, and keep no more than
/// `kept` bytes free at the end of a heap: `mallopt(3)`. It would otherwise take blocks as large as any that was freed from its heaps,
/// up to 32 MiB, and keep them. Does nothing where this is not glibc.
void pk_map_blocks_from(int length, int kept);

/// The bytes in free blocks of the heap, in memory or not, by `mallinfo2(3)`; 0 where the C library has none. Takes the
/// lock of each arena in turn.
size_t pk_heap_free(void);

/// A word that others may be writing to: a hint, for whoever knows that its memory stays. Swift has no such load, and a race that is
/// meant is none for ThreadSanitizer to tell of.
__attribute__((no_sanitize("thread"))) static inline uintptr_t pk_peek(const void *address) {
    return *(const volatile uintptr_t *)address;
}

/// Has the processor fetch what will be looked at soon; of an address that is none nothing comes.
static inline void pk_prefetch(const void *address) { __builtin_prefetch(address); }

/// Anonymous, private, page-aligned memory by `mmap(2)`; MAP_FAILED is a cast Swift cannot import, so failure is NULL.
void *pk_map_pages(size_t length);

/// `munmap(2)`.
int pk_unmap_pages(void *address, size_t length);

/// Nanoseconds of CLOCK_MONOTONIC, for the places where a `ContinuousClock` call is too dear to measure with.
int64_t pk_monotonic_nanoseconds(void);

/// Names the calling thread as tools like top(1) show it; at most 15 bytes. Behind _GNU_SOURCE.
void pk_name_thread(const char *name);

/// The kernel's number of the calling thread, by `gettid(2)`, which is behind _GNU_SOURCE. Never 0. Asked for once in a thread's
/// life, and by a child of fork(2) once more.
uint32_t pk_thread_identifier(void);

/// `prctl(2)`, which is variadic, with PR_SET_PDEATHSIG: the signal comes when the thread ends that started this process.
int pk_signal_when_parent_ends(int number);

/// `eventfd(2)` with EFD_CLOEXEC | EFD_NONBLOCK.
int pk_eventfd(void);

/// Adds 1 to an eventfd. Safe from any thread.
int pk_eventfd_signal(int descriptor);

/// Reads an eventfd back to 0.
int pk_eventfd_drain(int descriptor);

/// `epoll_create1(2)` with EPOLL_CLOEXEC.
int pk_epoll_create(void);

/// Watches a descriptor for EPOLLIN (`urgent` false) or EPOLLPRI (`urgent` true), with `token` given back by
/// `pk_epoll_wait`. The union in `struct epoll_event` and its packing do not import well.
int pk_epoll_add(int epoll, int descriptor, bool urgent, uint64_t token);

/// Stops watching a descriptor.
int pk_epoll_remove(int epoll, int descriptor);

/// Waits up to `timeout_ms` (-1: for ever) for at most `capacity` events; each gives its token and whether it failed
/// (EPOLLERR or EPOLLHUP). Returns how many, or -1.
int pk_epoll_wait(int epoll, uint64_t *tokens, bool *failed, int capacity, int timeout_ms);

/// The number of CPUs this process may run on (`sched_getaffinity(2)`), at least 1.
int pk_usable_cpus(void);

/// `preadv(2)` into two buffers, either of which may be empty. Behind _DEFAULT_SOURCE. Uncached with RWF_DONTCACHE
/// (Linux 6.14), which C libraries do not know yet: EOPNOTSUPP where the kernel or the file system does not.
int64_t pk_read_two(int descriptor, int64_t offset, bool uncached, void *first, size_t first_count, void *second,
                    size_t second_count);

/// `pwritev(2)` from two buffers, either of which may be empty. Behind _DEFAULT_SOURCE.
int64_t pk_write_two(int descriptor, int64_t offset, const void *first, size_t first_count, const void *second,
                     size_t second_count);

/// Continues zlib's CRC-32 over as many leading bytes as carry-less multiplication can take, and returns how many: none
/// where the processor lacks it. Several times as fast as zlib's own `crc32`, which takes the rest.
size_t pk_crc32_fold(uint32_t *crc, const void *bytes, size_t count);

/// Address space without memory behind it until it is touched: `mmap(2)` with MAP_NORESERVE; NULL on failure.
void *pk_reserve_pages(size_t length);

/// Gives the memory of whole pages back and keeps the addresses: `madvise(2)` with MADV_DONTNEED.
int pk_drop_pages(void *address, size_t length);

/// Whether the calling thread trades one cached value for another. Swift has no thread-local variables.
bool pk_is_trading(void);

/// Sets what `pk_is_trading` says on the calling thread.
void pk_set_trading(bool is_trading);

/// Has the calling thread push no other aside when it wakes up, with its usual share of a processor otherwise:
/// `sched_setscheduler(2)` with SCHED_BATCH, which is behind _GNU_SOURCE. Returns 0, or -1 where that is not allowed.
int pk_run_in_batches(void);

/// Has a thread of this process run in slices of so many nanoseconds, between 0.1 and 100 ms: whoever has short ones runs soon
/// after it wakes up, and briefly; whoever has long ones lets those with shorter ones run first. By `sched_setattr(2)`, which the
/// C library does not offer. Since Linux 6.12, whose scheduler (EEVDF) goes by it; nothing before. With `nice` as its nice(2)
/// value, or with `ordinary` where that is not allowed. Returns 0, or -1 where none of it is.
int pk_run_in_slices(int thread, int nice, int ordinary, uint64_t slice);

// Pressure signals. `open` is variadic; O_NONBLOCK so that a FIFO without a partner does not stop the caller.

/// `open(2)` with O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY.
int pk_open_write(const char *path);

/// `open(2)` with O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY: how the kernel wants a pressure trigger opened.
int pk_open_trigger(const char *path);

/// `open(2)` with O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY.
int pk_open_wait(const char *path);

/// `connect(2)` of a new stream socket, AF_UNIX, SOCK_CLOEXEC | SOCK_NONBLOCK. The address is a cast Swift cannot make.
int pk_connect_unix(const char *path);

/// `send(2)` with MSG_NOSIGNAL: a partner that is gone must not end the process by SIGPIPE.
int64_t pk_send_bytes(int descriptor, const void *bytes, size_t count);

/// What `stat(2)` finds: 0 a regular file, 1 a FIFO, 2 a socket, 3 anything else; -1 nothing. The macros do not import.
int pk_kind_of_path(const char *path);

/// A number of the calling process, never 0, that no process it descends from by fork(2) has. By a page that the kernel
/// wipes in children (MADV_WIPEONFORK), which is behind _GNU_SOURCE, or by `pthread_atfork(3)`.
uint64_t pk_process_generation(void);

/// `write(2)`, again after EINTR.
int64_t pk_write_bytes(int descriptor, const void *bytes, size_t count);

/// `open(2)` with O_RDWR | O_CLOEXEC | O_NOFOLLOW, and with O_CREAT, mode 0600, if `create`. `open` is variadic.
int pk_open_named(const char *path, bool create);

/// Catches SIGTSTP and SIGCONT: from then on each writes a line, `pause` or `resume`, to a pipe, whose two ends are
/// given back. Once at a time (EBUSY). A handler may do little but write(2).
int pk_catch_pauses(int *reader, int *writer);

/// Gives both signals back to whom they were before, and closes the pipe.
void pk_release_pauses(void);

/// Makes a FIFO of mode 0600 unless there is one, and opens it for reading and writing; EEXIST when the name is taken by
/// anything but a FIFO of this user's, used by nobody else.
int pk_open_fifo(const char *path);

/// Marks the calling thread, for good, as one that never waits for memory to be freed. Swift has no thread-locals.
void pk_exempt_thread(void);

/// Whether the calling thread is marked so.
bool pk_is_exempt_thread(void);

// The control socket: AF_UNIX addresses are a cast that Swift cannot make.

/// The most bytes of a socket's path, without its end: `sizeof(sun_path)` - 1.
int pk_longest_socket_path(void);

/// A new stream socket that listens at `path`, SOCK_CLOEXEC | SOCK_NONBLOCK. It has mode 0600 from its first moment:
/// bind(2) takes the mode of the descriptor. EADDRINUSE when the name is taken, by whatever.
int pk_listen_unix(const char *path, int backlog);

/// `accept4(2)` with SOCK_CLOEXEC | SOCK_NONBLOCK, and a send buffer of at least `send_bytes`. Behind _GNU_SOURCE.
int pk_accept(int descriptor, int send_bytes);

/// Who is at the other end of a connected socket, by SO_PEERCRED: `struct ucred` is behind _GNU_SOURCE.
int pk_peer(int descriptor, uint32_t *user, int32_t *process);

/// Device and inode of the socket at `path`, and its owner; ENOTSOCK for anything else, also a link to one.
int pk_socket_identity(const char *path, uint64_t *device, uint64_t *inode, uint32_t *owner);

/// Makes a directory of mode 0700 unless it is there, and opens it. EEXIST when the name is taken by something else: a
/// link, another user's directory, or one that others may use.
int pk_open_private_directory(const char *path);

/// `flock(2)` with LOCK_EX; tries for a tenth of a second, so that nobody who may open the file can stop the caller.
int pk_lock_briefly(int descriptor);

// What processes of one user share. Locks are those of open files (F_OFD_SETLK, behind _GNU_SOURCE): they go with the
// process that holds them, however it ends.

/// `open(2)` with O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, and with O_CREAT, mode 0600, if `create`. EEXIST for
/// anything but a regular file of this user's that nobody else may open.
int pk_open_shared(const char *path, bool create);

/// Device, inode, number of names and bytes of an open file.
int pk_identity(int descriptor, uint64_t *device, uint64_t *inode, uint64_t *links, int64_t *size);

/// Device and inode of what is at `path`.
int pk_path_identity(const char *path, uint64_t *device, uint64_t *inode);

/// Locks a range of an open file against everybody else, or fails at once (EAGAIN).
int pk_hold_range(int descriptor, int64_t offset, int64_t length);

/// Gives it back.
int pk_release_range(int descriptor, int64_t offset, int64_t length);

/// Whether somebody else holds a part of a range: 1 or 0, or -1 if that cannot be told.
int pk_is_range_held(int descriptor, int64_t offset, int64_t length);

/// Sets a file's times to now, which is all that those learn who watch it for that: `futimens(2)`.
int pk_touch(int descriptor);

/// A descriptor that has something to read when an open file was touched, by inotify(7), IN_ATTRIB: writes do not.
int pk_watch_touches(int descriptor);

/// Reads until there is nothing more.
void pk_drain(int descriptor);

/// Has a descriptor closed in each child of fork(2), by `pthread_atfork(3)`, until `pk_close_shared`. Of 256 at a time.
void pk_close_in_children(int descriptor);

/// `close(2)` of such a descriptor, here.
void pk_close_shared(int descriptor);

/// A word that threads sleep on.
uint32_t pk_word(const uint32_t *word);

/// Changes it, and wakes all who sleep on it.
void pk_change_word(uint32_t *word);

/// Sleeps until somebody changes it, unless it is another one already than `seen`, or until an instant of the monotonic clock,
/// in nanoseconds: `false` then. May also wake up for nothing.
bool pk_wait_for_word(const uint32_t *word, uint32_t seen, int64_t until);

/// Sequentially consistent operations on a word, as calls that a compiler does not look into.
uint64_t pk_load(const uint64_t *word);
void pk_store(uint64_t *word, uint64_t value);
void pk_add(uint64_t *word, uint64_t value);
void pk_subtract(uint64_t *word, uint64_t value);

/// Publishes so many 64-bit words in a box of 1 + 2 × `words` that began as zeros. By one thread at a time.
void pk_publish(uint64_t *box, const void *value, size_t words);

/// Reads what was published last.
void pk_read_published(const uint64_t *box, void *value, size_t words);

#endif
