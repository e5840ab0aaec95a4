/*
 * PressureKit for C, and for whatever can call C.
 *
 * A manager watches memory. Caches hold values: blocks of bytes that a callback makes, or that were set. When memory is
 * short, values that nobody holds leave it, compressed, for a temporary file without a name, and come back on the next
 * access. A value without a load callback is never dropped.
 *
 *     pressurekit_manager_t manager;
 *     if (pressurekit_create(NULL, &manager) != PRESSUREKIT_OK) puts(pressurekit_last_error());
 *
 *     pressurekit_cache_options options = PRESSUREKIT_CACHE_OPTIONS_INIT;
 *     options.load = make_thumbnails;
 *     options.release = free_thumbnails;
 *     pressurekit_cache_t cache;
 *     pressurekit_add_cache(manager, "thumbnails", &options, &cache);
 *
 *     const void *bytes; size_t count; pressurekit_pin_t pin;
 *     pressurekit_access(cache, &pin, &bytes, &count);    // loads or restores it if need be
 *     draw(bytes, count);                                  // it stays where it is
 *     pressurekit_unpin(pin);                              // until now
 *
 *     pressurekit_destroy(manager);
 *
 * Status. Every call that can fail returns a status: 0, or one of the negative numbers below, and then
 * pressurekit_last_error() says in words what went wrong and what to do. Nothing is written to a result then.
 *
 * Handles are numbers, never 0, and never used twice. A handle of the wrong kind, one that was destroyed or released, and
 * any number that was made up, is PRESSUREKIT_BAD_HANDLE and nothing else happens.
 *
 * Threads. Every call may be made on any thread, and several at a time. "Blocks" says what a call may wait for. Callbacks
 * run on the thread of the call that needs the value, or on a thread of the library's own while the manager returns to the
 * foreground; several may run at the same time, for different values. They may call anything here, except that a callback
 * of a cache must not access or change its own cache, nor bring its manager to the foreground or save or restore its state
 * (PRESSUREKIT_RECURSIVE), nor remove its cache or destroy its manager (PRESSUREKIT_IN_USE).
 *
 * Fork. In the child of a fork(2) that goes on without exec, no call is of use but on managers that it creates itself.
 *
 * ABI. Structures begin with their size, as the caller knows it, and grow only at their ends; use the _INIT macros.
 * Reserved members are 0. The version below grows with what is added, and what is there keeps its meaning.
 */
#ifndef PRESSUREKIT_H
#define PRESSUREKIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this interface: what pressurekit_abi_version() returns in a library that has all of it. */
#define PRESSUREKIT_ABI_VERSION 2

/** What a call has come to. New numbers may come: take every negative one for a failure. */
enum {
    /** Done. */
    PRESSUREKIT_OK = 0,
    /** An argument is NULL that must not be, too large, not UTF-8, or contradicts another. */
    PRESSUREKIT_BAD_ARGUMENT = -1,
    /** No such handle: made up, of another kind, or released before. */
    PRESSUREKIT_BAD_HANDLE = -2,
    /** A value is held by a pin that was not released. */
    PRESSUREKIT_IN_USE = -3,
    /** The cache has no load callback and no value. */
    PRESSUREKIT_NO_VALUE = -4,
    /** A load or update callback returned something other than 0, or gave no bytes. */
    PRESSUREKIT_LOAD_FAILED = -5,
    /** A copy could not be read back, and there is no load callback to make the value again. */
    PRESSUREKIT_RESTORE_FAILED = -6,
    /** A callback of a cache used that cache, or would have waited for it. */
    PRESSUREKIT_RECURSIVE = -7,
    /** A cache of that name is there already. */
    PRESSUREKIT_DUPLICATE = -8,
    /** The system has no memory, thread, descriptor, disk or pressure signal to give, or a directory cannot be used. */
    PRESSUREKIT_UNAVAILABLE = -9,
    /** The manager was destroyed while the call was under way. */
    PRESSUREKIT_SHUT_DOWN = -10,
    /** The saved state is damaged, foreign, or of another version of the app. Nothing of it was used. */
    PRESSUREKIT_STATE_REFUSED = -11
};

/** PRESSUREKIT_OK or a negative number of the enumeration above. */
typedef int32_t pressurekit_status;

/** A manager: what watches memory and owns caches. */
typedef uint64_t pressurekit_manager_t;
/** A cache of one value, or a keyed cache of many. */
typedef uint64_t pressurekit_cache_t;
/** A value that stays where it is until the pin is released. */
typedef uint64_t pressurekit_pin_t;

/** How short memory is. */
enum {
    PRESSUREKIT_NORMAL = 0,
    PRESSUREKIT_WARNING = 1,
    PRESSUREKIT_CRITICAL = 2
};

/** Where a cache's value is. */
enum {
    /** There is none; the next access loads it. */
    PRESSUREKIT_UNLOADED = 0,
    /** It is in memory. */
    PRESSUREKIT_RESIDENT = 1,
    /** It is in memory, compressed. */
    PRESSUREKIT_COMPRESSED = 2,
    /** It is in the spill file only. */
    PRESSUREKIT_SPILLED = 3,
    /** It is being loaded or restored. */
    PRESSUREKIT_BUSY = 4
};

/** Flags of pressurekit_options. */
enum {
    /** Watch nothing: memory is freed only when the calls below ask for it. */
    PRESSUREKIT_NO_WATCH = 1,
    /** Spill to a directory that is in memory itself, such as a tmpfs. It frees only what compression saves. */
    PRESSUREKIT_ALLOW_MEMORY_SPILL = 2
};

/** What a manager is created with. Begin with PRESSUREKIT_OPTIONS_INIT. */
typedef struct pressurekit_options {
    /** sizeof(pressurekit_options). */
    size_t size;
    /** The directory of the spill file; NULL for $TMPDIR if it is on a disk, else /var/tmp. */
    const char *spill_directory;
    /** The size the spill file never grows past; 0 for none. */
    uint64_t spill_limit;
    /** The path of a control socket for pressuresim; NULL leaves that to the variable PRESSUREKIT_CONTROL. */
    const char *control_socket;
    /** PRESSUREKIT_NO_WATCH and the like, added up. */
    uint32_t flags;
    /** Threads that compress and write during a reclaim; 0 for one a core. */
    uint32_t workers;
    /** 0. */
    uint64_t reserved[4];
} pressurekit_options;

#define PRESSUREKIT_OPTIONS_INIT { sizeof(pressurekit_options), NULL, 0, NULL, 0, 0, { 0, 0, 0, 0 } }

/**
 * Makes a value. Called with no lock held, once for all readers that wait.
 *
 * It puts the address and the number of bytes in place, which are copied when it returns; the release callback is called
 * then with the same address and number. At most 2^40 bytes; an empty value has 0, and may have no address: the release
 * callback is not called for NULL.
 *
 * Returns 0; anything else is a failure that every waiting reader gets as PRESSUREKIT_LOAD_FAILED, and the next access
 * calls it again. The release callback is not called then. Readers are told what pressurekit_set_error() was given, and
 * pressurekit_last_callback_result() is what the callback returned.
 */
typedef int (*pressurekit_load_fn)(void *context, const void **bytes, size_t *count);

/** Is given back what a load callback has made, on the same thread, as soon as it was copied. */
typedef void (*pressurekit_release_fn)(void *context, const void *bytes, size_t count);

/**
 * Changes a value where it is. Returns 0; anything else is PRESSUREKIT_LOAD_FAILED, with words and result as for a load,
 * and what was changed stays so.
 */
typedef int (*pressurekit_update_fn)(void *context, void *bytes, size_t count);

/** What a cache is registered with. Begin with PRESSUREKIT_CACHE_OPTIONS_INIT. */
typedef struct pressurekit_cache_options {
    /** sizeof(pressurekit_cache_options). */
    size_t size;
    /** Makes the value; NULL for a value that is set, and that is never dropped. */
    pressurekit_load_fn load;
    /** Is given back what load has made; may be NULL. */
    pressurekit_release_fn release;
    /** Is passed to both. It must stay valid until the cache is removed, or its manager destroyed. */
    void *context;
    /** 0. */
    uint64_t reserved[4];
} pressurekit_cache_options;

#define PRESSUREKIT_CACHE_OPTIONS_INIT { sizeof(pressurekit_cache_options), NULL, NULL, NULL, { 0, 0, 0, 0 } }

/**
 * Makes the value for a key, which is valid until it returns. Otherwise as pressurekit_load_fn. Several may run at the same
 * time, for different keys.
 */
typedef int (*pressurekit_load_key_fn)(
    void *context, const void *key, size_t key_count, const void **bytes, size_t *count);

/** What a keyed cache is registered with. Begin with PRESSUREKIT_KEYED_OPTIONS_INIT. */
typedef struct pressurekit_keyed_options {
    /** sizeof(pressurekit_keyed_options). */
    size_t size;
    /** Makes a value; NULL for values that are set, and that are never dropped. */
    pressurekit_load_key_fn load;
    /** Is given back what load has made; may be NULL. */
    pressurekit_release_fn release;
    /** Is passed to both. It must stay valid until the cache is removed, or its manager destroyed. */
    void *context;
    /** The bytes of values in memory that it keeps to, whether memory is short or not; 0 for no limit. */
    uint64_t limit_bytes;
    /** The number of values in memory that it keeps to; 0 for no limit. */
    uint64_t limit_values;
    /** 0. */
    uint64_t reserved[4];
} pressurekit_keyed_options;

#define PRESSUREKIT_KEYED_OPTIONS_INIT { sizeof(pressurekit_keyed_options), NULL, NULL, NULL, 0, 0, { 0, 0, 0, 0 } }

/** A memory warning. */
typedef struct pressurekit_warning {
    /** sizeof(pressurekit_warning), as the library knows it. */
    size_t size;
    /** PRESSUREKIT_WARNING or PRESSUREKIT_CRITICAL. */
    int32_t level;
    /** 0. */
    int32_t reserved;
    /** The bytes that are wanted of all caches together; 0 when no number is known. */
    uint64_t bytes_wanted;
    /** Why, for a log: the levels, the signal, its numbers. UTF-8. */
    const char *reason;
} pressurekit_warning;

/**
 * Is told that memory is short, before values leave: the moment to let go of what caches do not hold. The warning is valid
 * until it returns. Called on a thread of the library's own, one at a time. The reclaim waits for it, but not for long: half
 * a second when memory is nearly gone, else two; it is told nothing more until it has returned.
 */
typedef void (*pressurekit_warning_fn)(void *context, const pressurekit_warning *warning);

/** What was saved or restored. Set size before the call; members that do not fit are left out. */
typedef struct pressurekit_state_report {
    /** sizeof(pressurekit_state_report). */
    size_t size;
    /** 1, or 0 if there was no state to restore. */
    uint64_t found;
    /** Caches with values that were saved, or that have them again. */
    uint64_t caches;
    /** Caches of the saved state that were not there, and whose values were not restored. */
    uint64_t missing;
    /** Values and caches that were left out. */
    uint64_t failures;
    /** The size of the state on the disk, after saving. */
    uint64_t bytes;
} pressurekit_state_report;

#define PRESSUREKIT_STATE_REPORT_INIT { sizeof(pressurekit_state_report), 0, 0, 0, 0, 0 }

/** What a reclaim did. Set size before the call; members that do not fit are left out. */
typedef struct pressurekit_report {
    /** sizeof(pressurekit_report). */
    size_t size;
    /** Bytes of the values that left memory. */
    uint64_t claimed_bytes;
    /** By how much the process's resident memory fell; negative if it grew meanwhile. */
    int64_t returned_bytes;
    /** Values that left memory. */
    uint64_t evicted;
    /** Values that stayed, since they were in use or had nowhere to go. */
    uint64_t skipped;
    /** Caches with a value that could not be written. It is still in memory. */
    uint64_t failures;
    /** From the call to the end, in nanoseconds. */
    uint64_t nanoseconds;
} pressurekit_report;

#define PRESSUREKIT_REPORT_INIT { sizeof(pressurekit_report), 0, 0, 0, 0, 0, 0 }

/** How a manager stands. Set size before the call; members that do not fit are left out. */
typedef struct pressurekit_statistics {
    /** sizeof(pressurekit_statistics). */
    size_t size;
    /** PRESSUREKIT_NORMAL and so on: the level that the monitor has reached. */
    int32_t level;
    /** 1 while it is in the background, else 0. */
    int32_t in_background;
    /** How bad it is, 0 to 1: warning begins at 1/3, critical at 2/3. */
    double score;
    /** What is left of the limit that binds most, and that limit; both 0 before the first sample. */
    uint64_t available_bytes;
    uint64_t limit_bytes;
    /** Bytes of values in memory. */
    uint64_t resident_bytes;
    /** Of those, the ones that can go at once. */
    uint64_t clean_bytes;
    /** Bytes of values that are compressed in memory, before compressing. */
    uint64_t compressed_bytes;
    /** Bytes of values that are in the spill file only, before compressing. */
    uint64_t spilled_bytes;
    /** What the spill file takes on the disk. */
    uint64_t spill_file_bytes;
    /** Counts of all its caches. */
    uint64_t caches;
    uint64_t loads;
    uint64_t restores;
    uint64_t evictions;
    uint64_t refaults;
    uint64_t failures;
} pressurekit_statistics;

#define PRESSUREKIT_STATISTICS_INIT \
    { sizeof(pressurekit_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** The version of the interface that the library has: at least PRESSUREKIT_ABI_VERSION, or some of it is missing. */
uint32_t pressurekit_abi_version(void);

/** The library's own version, such as "0.9.0". Static: never freed. */
const char *pressurekit_version(void);

/**
 * What went wrong in the last call on this thread that failed, in words; "" before the first. UTF-8, of at most 511
 * bytes. Valid until the next call on this thread that fails; never freed.
 */
const char *pressurekit_last_error(void);

/**
 * What the callback returned that made the last failed call on this thread fail; 0 if that had another reason. Also on
 * another thread than the callback's, if that call waited for what the callback made.
 */
int pressurekit_last_callback_result(void);

/**
 * For a load or update callback, before it returns something other than 0: says why, in UTF-8. It is copied, up to 511
 * bytes of it. Whoever the failure reaches finds it at the end of pressurekit_last_error(). NULL and "" take it back. When
 * the callback returns it is forgotten.
 */
void pressurekit_set_error(const char *message);

/**
 * Creates a manager, which begins to watch memory. Blocks briefly on the file system.
 *
 * options may be NULL for the defaults. PRESSUREKIT_UNAVAILABLE: no spill directory, thread, or control socket.
 */
pressurekit_status pressurekit_create(const pressurekit_options *options, pressurekit_manager_t *manager);

/**
 * Ends a manager with all its caches. Blocks until a reclaim that is running, and callbacks of its caches, have ended.
 * No callback of its caches is called after it returns.
 *
 * PRESSUREKIT_IN_USE: values are still pinned; nothing happens. Must not be called from a callback: PRESSUREKIT_IN_USE
 * also then.
 */
pressurekit_status pressurekit_destroy(pressurekit_manager_t manager);

/**
 * Registers a cache. Does not block, and calls nothing.
 *
 * name is UTF-8, unique in its manager, not empty and without a slash; it is copied. options may be NULL: a cache
 * without a load callback, whose value is set.
 */
pressurekit_status pressurekit_add_cache(
    pressurekit_manager_t manager, const char *name, const pressurekit_cache_options *options,
    pressurekit_cache_t *cache);

/**
 * Removes a cache with its value. Blocks until its callbacks have ended; none is called after it returns.
 *
 * PRESSUREKIT_IN_USE: its value is pinned, or this is a callback of the cache; nothing happens.
 */
pressurekit_status pressurekit_remove_cache(pressurekit_cache_t cache);

/**
 * Keeps the value in memory, and says where it is. Blocks while it is loaded or restored, and while memory is freed for
 * it, the latter for a second at most; in memory, it takes a microsecond.
 *
 * The bytes are valid, and do not change, until the pin is released; they are not to be written to. An empty value has an
 * address as well. Any number of pins
 * may be held, by any threads. A value that is set or updated meanwhile is a new one; this pin keeps the old.
 */
pressurekit_status pressurekit_access(
    pressurekit_cache_t cache, pressurekit_pin_t *pin, const void **bytes, size_t *count);

/** Releases a value. On any thread. Does not block. A second time is PRESSUREKIT_BAD_HANDLE. */
pressurekit_status pressurekit_unpin(pressurekit_pin_t pin);

/**
 * Puts a copy of these bytes in place of the value: 0 to 2^40 of them; bytes may be NULL if there are none. Waits for
 * another writer, and up to a second for memory; not for readers. What was set is never dropped, load callback or not,
 * until it is invalidated.
 */
pressurekit_status pressurekit_set(pressurekit_cache_t cache, const void *bytes, size_t count);

/** Has a callback change the value where it is, loading or restoring it first. Blocks as access does, and for writers. */
pressurekit_status pressurekit_update(pressurekit_cache_t cache, pressurekit_update_fn update, void *context);

/** Discards the value; the next access loads it. Without a load callback it is lost. Waits for another writer. */
pressurekit_status pressurekit_invalidate(pressurekit_cache_t cache);

/** Whether what the cache holds is visible, not 0, or hidden, 0: hidden values leave first. Does not block. */
pressurekit_status pressurekit_set_visible(pressurekit_cache_t cache, int32_t visible);

/** Where the value is: PRESSUREKIT_RESIDENT and so on, in *residency. It may have moved since. Does not block. */
pressurekit_status pressurekit_get_residency(pressurekit_cache_t cache, int32_t *residency);

/**
 * Registers a keyed cache: values by key, each of which is loaded, kept, spilled or dropped like that of a cache of its own.
 * Does not block, and calls nothing. name and options are as for pressurekit_add_cache().
 *
 * A key is 0 to 4096 bytes of any kind, which are copied; it may be NULL if there are none. pressurekit_remove_cache() and
 * pressurekit_set_visible() are for keyed caches as well; calls with "key" in their names are for nothing else. A value that
 * was dropped is forgotten with its key. A callback of a keyed cache must not use that cache, for another key neither:
 * PRESSUREKIT_RECURSIVE.
 */
pressurekit_status pressurekit_add_keyed_cache(
    pressurekit_manager_t manager, const char *name, const pressurekit_keyed_options *options,
    pressurekit_cache_t *cache);

/** Keeps the value for a key in memory, and says where it is: pressurekit_access(). */
pressurekit_status pressurekit_access_key(
    pressurekit_cache_t cache, const void *key, size_t key_count,
    pressurekit_pin_t *pin, const void **bytes, size_t *count);

/** Puts a copy of these bytes in place of the value for a key, if there is one: pressurekit_set(). */
pressurekit_status pressurekit_set_key(
    pressurekit_cache_t cache, const void *key, size_t key_count, const void *bytes, size_t count);

/**
 * Has a callback change the value for a key: pressurekit_update(). It is called again if somebody replaces the value while a
 * copy of it is being changed.
 */
pressurekit_status pressurekit_update_key(
    pressurekit_cache_t cache, const void *key, size_t key_count, pressurekit_update_fn update, void *context);

/** Discards the value for a key: pressurekit_invalidate(). A key without a value is no failure. */
pressurekit_status pressurekit_invalidate_key(pressurekit_cache_t cache, const void *key, size_t key_count);

/** Where the value for a key is: pressurekit_get_residency(). A key without a value is PRESSUREKIT_UNLOADED. */
pressurekit_status pressurekit_get_key_residency(
    pressurekit_cache_t cache, const void *key, size_t key_count, int32_t *residency);

/** How many keys have a value, in memory or in the spill file. It may be another number by now. Does not block. */
pressurekit_status pressurekit_get_key_count(pressurekit_cache_t cache, uint64_t *keys);

/**
 * Frees memory as if the system had warned. level is PRESSUREKIT_WARNING or PRESSUREKIT_CRITICAL. bytes says how much; 0
 * leaves it to the level: a part of what is not in use, or all of it. Blocks until it is done. report may be NULL. Must not
 * be called from a warning callback: PRESSUREKIT_RECURSIVE.
 */
pressurekit_status pressurekit_warn(
    pressurekit_manager_t manager, int32_t level, uint64_t bytes, pressurekit_report *report);

/**
 * The app is idle: everything that is not in use leaves memory. Blocks until it has. report may be NULL. Must not be called
 * from a warning callback: PRESSUREKIT_RECURSIVE.
 */
pressurekit_status pressurekit_enter_background(pressurekit_manager_t manager, pressurekit_report *report);

/**
 * The app is used again: what was visible comes back. Blocks until it has, or memory is short again. Must not be called
 * from a callback of the manager or one of its caches: PRESSUREKIT_RECURSIVE, and nothing happens.
 */
pressurekit_status pressurekit_enter_foreground(pressurekit_manager_t manager);

/**
 * Has a function told of memory warnings, in place of the one that was; NULL for none. context is passed to it. When the call
 * returns the function before is not running any more, and is not called again, unless it is that which makes this call.
 * Nor is any after pressurekit_destroy().
 */
pressurekit_status pressurekit_set_warning_callback(
    pressurekit_manager_t manager, pressurekit_warning_fn warned, void *context);

/**
 * Saves the values of all caches, for the next process: state, not data. Blocks; caches can be used meanwhile. Whatever
 * happens, the directory holds what was saved before or what is saved now.
 *
 * directory is this user's alone, made if it does not exist, and held until the manager is destroyed; of another manager's it
 * is PRESSUREKIT_UNAVAILABLE, as is one that cannot be used. version is the app's, of at most 255 bytes; NULL is "". report
 * may be NULL. Must not be called from a callback of the manager or one of its caches: PRESSUREKIT_RECURSIVE.
 */
pressurekit_status pressurekit_save_state(
    pressurekit_manager_t manager, const char *directory, const char *version, pressurekit_state_report *report);

/**
 * Gives the caches that there are the values that were saved under their names, in place of what they have. They are read
 * when they are next accessed. Register the caches first. Without a saved state nothing happens. Blocks; arguments as above.
 *
 * PRESSUREKIT_STATE_REFUSED: it is damaged, or was saved by another version of the app; nothing has changed then.
 */
pressurekit_status pressurekit_restore_state(
    pressurekit_manager_t manager, const char *directory, const char *version, pressurekit_state_report *report);

/** How the manager stands. Takes time in proportion to the number of its caches. */
pressurekit_status pressurekit_get_statistics(pressurekit_manager_t manager, pressurekit_statistics *statistics);

#ifdef __cplusplus
}
#endif

#endif
