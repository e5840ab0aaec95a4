#include "CLinuxShims.h"

// CRC-32 by carry-less multiplication: 16 bytes are folded onto the 16 that follow 64 bytes further on, four lanes at
// a time, until 16 are left, which are reduced by Barrett's method. From V. Gopal and others, "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009; the constants are those it gives for the reflected
// polynomial of zlib and Ethernet, 0xEDB88320: powers of x modulo the polynomial, bit-reflected.

#if defined(__x86_64__)

#include <immintrin.h>

#define FOLDING __attribute__((target("pclmul,sse4.1")))

/// Multiplies both halves of `lane` by those of `powers` and adds the bytes they fold onto.
FOLDING static inline __m128i folded(__m128i lane, __m128i powers, __m128i next) {
    __m128i low = _mm_clmulepi64_si128(lane, powers, 0x00);
    __m128i high = _mm_clmulepi64_si128(lane, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

FOLDING static inline __m128i loaded(const unsigned char *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

/// `count` is a multiple of 16 and at least 64; `crc` is inverted, as between the bytes of a message.
FOLDING static uint32_t fold(uint32_t crc, const unsigned char *bytes, size_t count) {
    const __m128i by_64_bytes = _mm_set_epi64x(0x01C6E41596, 0x0154442BD4);
    const __m128i by_16_bytes = _mm_set_epi64x(0x00CCAA009E, 0x01751997D0);
    const __m128i by_8_bytes = _mm_set_epi64x(0, 0x0163CD6124);
    const __m128i barrett = _mm_set_epi64x(0x01F7011641, 0x01DB710641);
    const __m128i even_words = _mm_setr_epi32(-1, 0, -1, 0);

    __m128i lanes[4];
    for (int i = 0; i < 4; i++) lanes[i] = loaded(bytes + 16 * i);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)crc));
    for (bytes += 64, count -= 64; count >= 64; bytes += 64, count -= 64)
        for (int i = 0; i < 4; i++) lanes[i] = folded(lanes[i], by_64_bytes, loaded(bytes + 16 * i));

    __m128i lane = lanes[0];
    for (int i = 1; i < 4; i++) lane = folded(lane, by_16_bytes, lanes[i]);
    for (; count >= 16; bytes += 16, count -= 16) lane = folded(lane, by_16_bytes, loaded(bytes));

    lane = _mm_xor_si128(_mm_srli_si128(lane, 8), _mm_clmulepi64_si128(lane, by_16_bytes, 0x10));
    __m128i upper = _mm_srli_si128(lane, 4);
    lane = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(lane, even_words), by_8_bytes, 0x00), upper);

    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(lane, even_words), barrett, 0x10);
    __m128i product = _mm_clmulepi64_si128(_mm_and_si128(quotient, even_words), barrett, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(lane, product), 1);
}

size_t pk_crc32_fold(uint32_t *crc, const void *bytes, size_t count) {
    if (count < 64 || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return 0;
    size_t whole = count & ~(size_t)15;
    *crc = ~fold(~*crc, bytes, whole);
    return whole;
}

#else

size_t pk_crc32_fold(uint32_t *crc, const void *bytes, size_t count) {
    (void)crc, (void)bytes, (void)count;
    return 0;
}

#endif
