#ifndef PRESSUREKIT_CHIREDIS_SHIM_H
#define PRESSUREKIT_CHIREDIS_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include <hiredis/hiredis.h>

/// Sends what has been appended; `REDIS_OK` or `REDIS_ERR`, as redisBufferWrite says, which this is.
///
/// To a peer that has gone the system sends SIGPIPE, which ends the process unless the app says otherwise, and hiredis does
/// not ask for it to be left out. What is the whole process's is not changed: the signal is held back on this thread, and
/// taken away if it came.
static inline int pk_redis_send(redisContext *context, int *done) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    int was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    int status = redisBufferWrite(context, done);
    int number = errno;
    if (status != REDIS_OK && number == EPIPE && !was_pending) {
        struct timespec none = {0, 0};
        sigtimedwait(&pipe, NULL, &none);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return status;
}

/// Keeps a connection from programs that are executed.
static inline void pk_redis_close_on_exec(redisContext *context) {
    int flags = fcntl(context->fd, F_GETFD);
    if (flags >= 0) fcntl(context->fd, F_SETFD, flags | FD_CLOEXEC);
}

/// Whether the peer of an idle connection has closed it, or said something that nobody asked for: then it is of no use.
static inline int pk_redis_is_stale(redisContext *context) {
    char byte;
    return recv(context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

#endif
