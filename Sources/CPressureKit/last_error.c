// The texts of the last error, and of the callback that is failing, by thread: Swift has no thread-local variables.
#include "pressurekit.h"
#include "pressurekit_internal.h"

#include <string.h>

enum { TEXT_BYTES = 512 };

static _Thread_local char last[TEXT_BYTES];
static _Thread_local int last_result;
static _Thread_local char callback[TEXT_BYTES];

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
    keep(last, message);
    last_result = callback_result;
}

const char *pressurekit_last_error(void) { return last; }

int pressurekit_last_callback_result(void) { return last_result; }

void pressurekit_set_error(const char *message) { keep(callback, message); }

const char *pkc_callback_error(void) { return callback; }
