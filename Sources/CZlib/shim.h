#ifndef PRESSUREKIT_CZLIB_SHIM_H
#define PRESSUREKIT_CZLIB_SHIM_H

#include <zlib.h>

// deflateInit2 and inflateInit2 are macros that pass the header's version and the size of z_stream;
// Swift imports neither, so they are spelled as functions here.

/// Raw deflate (no zlib wrapper: the frame carries a CRC-32 of its own, an Adler-32 beside it would be paid twice).
static inline int pk_deflate_init_raw(z_streamp stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}

/// A raw deflate stream whose state lies in memory of the caller's: it can be begun where nothing may be allocated.
typedef struct {
    z_stream stream;
    /// Room for the state, as much as `size` says; `used` of it is taken.
    unsigned char *base;
    size_t size;
    size_t used;
    /// Whether it was begun.
    int is_ready;
} pk_deflater;

static inline voidpf pk_deflater_take(voidpf opaque, uInt items, uInt size) {
    pk_deflater *deflater = (pk_deflater *)opaque;
    // A cache line each, as more than malloc promises.
    size_t need = ((size_t)items * size + 63) & ~(size_t)63;
    if (need > deflater->size - deflater->used) return Z_NULL;
    voidpf taken = deflater->base + deflater->used;
    deflater->used += need;
    return taken;
}

static inline void pk_deflater_leave(voidpf opaque, voidpf address) {
    (void)opaque;
    (void)address;
}

/// Begins the stream, or begins it anew, in `size` bytes at `base`.
static inline int pk_deflater_begin(pk_deflater *deflater, void *base, size_t size, int level) {
    pk_deflater fresh = {.base = (unsigned char *)base, .size = size};
    *deflater = fresh;
    deflater->stream.zalloc = pk_deflater_take;
    deflater->stream.zfree = pk_deflater_leave;
    deflater->stream.opaque = deflater;
    int status = pk_deflate_init_raw(&deflater->stream, level);
    deflater->is_ready = status == Z_OK;
    return status;
}

/// The twin of `pk_deflate_init_raw`.
static inline int pk_inflate_init_raw(z_streamp stream) { return inflateInit2(stream, -MAX_WBITS); }

/// With a header and a checksum around it, as gzip(1) writes.
static inline int pk_inflate_init_gzip(z_streamp stream) { return inflateInit2(stream, MAX_WBITS + 16); }

#endif
