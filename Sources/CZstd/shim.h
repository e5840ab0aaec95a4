#ifndef PRESSUREKIT_CZSTD_SHIM_H
#define PRESSUREKIT_CZSTD_SHIM_H

// For ZSTD_initStaticCCtx and its kin: contexts in memory of ours, which never allocate. zstd.h keeps them out of its
// stable part; they have been unchanged since zstd 1.3 and the shared library exports them.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#endif
