/* A program in C whose picture leaves memory under a simulated warning and comes back on the next access. */
#include <pressurekit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURE_BYTES = 8 * 1024 * 1024 };

static int loads;

/* Stands for decoding a file. */
static int make_picture(void *context, const void **bytes, size_t *count) {
    unsigned char *picture = malloc(PICTURE_BYTES);
    size_t index;
    (void)context;
    if (picture == NULL) {
        /* Whoever reads the picture finds this in pressurekit_last_error(). */
        pressurekit_set_error("no memory for the picture");
        return 1;
    }
    for (index = 0; index < PICTURE_BYTES; index++) picture[index] = (unsigned char)(index / 4096);
    loads++;
    *bytes = picture;
    *count = PICTURE_BYTES;
    return 0;
}

static void free_picture(void *context, const void *bytes, size_t count) {
    (void)context;
    (void)count;
    free((void *)bytes);
}

static int draw_line(void *context, void *bytes, size_t count) {
    (void)context;
    if (count < 4096) return 1;
    memset(bytes, 255, 4096);
    return 0;
}

static void check(pressurekit_status status, const char *what) {
    if (status == PRESSUREKIT_OK) return;
    fprintf(stderr, "%s: %s\n", what, pressurekit_last_error());
    exit(1);
}

static unsigned char first_byte(pressurekit_cache_t cache) {
    pressurekit_pin_t pin;
    const void *bytes;
    size_t count;
    unsigned char first;
    check(pressurekit_access(cache, &pin, &bytes, &count), "access");
    first = *(const unsigned char *)bytes;
    check(pressurekit_unpin(pin), "unpin");
    return first;
}

int main(void) {
    pressurekit_manager_t manager;
    pressurekit_cache_t picture;
    pressurekit_cache_options options = PRESSUREKIT_CACHE_OPTIONS_INIT;
    pressurekit_report report = PRESSUREKIT_REPORT_INIT;
    pressurekit_statistics statistics = PRESSUREKIT_STATISTICS_INIT;

    if (pressurekit_abi_version() < PRESSUREKIT_ABI_VERSION) {
        fprintf(stderr, "the library is older than its header\n");
        return 1;
    }
    check(pressurekit_create(NULL, &manager), "create");
    options.load = make_picture;
    options.release = free_picture;
    check(pressurekit_add_cache(manager, "picture", &options, &picture), "add_cache");

    printf("first byte %d\n", first_byte(picture));
    /* From now on the loader could not make it again, so it has to be written. */
    check(pressurekit_update(picture, draw_line, NULL), "update");
    check(pressurekit_warn(manager, PRESSUREKIT_CRITICAL, 0, &report), "warn");
    printf("evicted %d value, %d MiB\n", (int)report.evicted, (int)(report.claimed_bytes >> 20));
    printf("first byte %d\n", first_byte(picture));

    check(pressurekit_get_statistics(manager, &statistics), "get_statistics");
    printf("%d load, %d restore\n", (int)statistics.loads, (int)statistics.restores);
    check(pressurekit_destroy(manager), "destroy");
    return loads == 1 && statistics.restores == 1 ? 0 : 1;
}
