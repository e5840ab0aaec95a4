// The texts of the last error, and of the callback that is failing, by thread: Swift has no thread-local variables.
//
// They are on the heap. What is thread-local here is taken out of the little that programs keep for libraries they open late
// (1,664 bytes, see rtld.optional_static_tls in glibc's tunables), of which Swift takes four for every file with a Mutex.
#include "pressurekit.h"
#include "pressurekit_internal.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 512 };

struct texts {
    char last[TEXT_BYTES];
    char callback[TEXT_BYTES];
};

static _Thread_local int last_result;
// Whether there was no memory for the last text.
static _Thread_local bool is_lost;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void make_key(void) { has_key = pthread_key_create(&key, free) == 0; }

// Threads may outlive the library.
__attribute__((destructor)) static void delete_key(void) {
    if (has_key) pthread_key_delete(key);
}

// This thread's; NULL if it has none, and gets none.
static struct texts *texts(bool is_needed) {
    pthread_once(&once, make_key);
    if (!has_key) return NULL;
    struct texts *mine = pthread_getspecific(key);
    if (mine != NULL || !is_needed) return mine;
    mine = calloc(1, sizeof *mine);
    if (mine != NULL && pthread_setspecific(key, mine) != 0) {
        free(mine);
        return NULL;
    }
    return mine;
}

static bool is_text(const char *message) { return message != NULL && *message != '\0'; }

static void keep(char *text, const char *message) {
    size_t length = message == NULL ? 0 : strnlen(message, TEXT_BYTES);
    if (length > TEXT_BYTES - 1) {
        length = TEXT_BYTES - 1;
        // Not in the middle of a character.
        while (length > 0 && ((unsigned char)message[length] & 0xC0) == 0x80) length--;
    }
    memmove(text, message == NULL ? "" : message, length);
    text[length] = '\0';
}

void pkc_note_error(const char *message, int callback_result) {
    struct texts *mine = texts(is_text(message));
    if (mine != NULL) keep(mine->last, message);
    is_lost = mine == NULL && is_text(message);
    last_result = callback_result;
}

const char *pressurekit_last_error(void) {
    if (is_lost) return "There is no memory for the text of the error.";
    struct texts *mine = texts(false);
    return mine == NULL ? "" : mine->last;
}

int pressurekit_last_callback_result(void) { return last_result; }

void pressurekit_set_error(const char *message) {
    struct texts *mine = texts(is_text(message));
    if (mine != NULL) keep(mine->callback, message);
}

const char *pkc_callback_error(void) {
    struct texts *mine = texts(false);
    return mine == NULL ? "" : mine->callback;
}
