#ifndef PRESSUREKIT_CZLIB_SHIM_H
#define PRESSUREKIT_CZLIB_SHIM_H

#include <zlib.h>

// deflateInit2 and inflateInit2 are macros that pass the header's version and the size of z_stream;
// Swift imports neither, so they are spelled as functions here.

/// Raw deflate (no zlib wrapper: the frame carries a CRC-32 of its own, an Adler-32 beside it would be paid twice).
static inline int pk_deflate_init_raw(z_streamp stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}

/// The twin of `pk_deflate_init_raw`.
static inline int pk_inflate_init_raw(z_streamp stream) { return inflateInit2(stream, -MAX_WBITS); }

#endif
