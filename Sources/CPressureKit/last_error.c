// The text of the last error, by thread: Swift has no thread-local variables.
#include "pressurekit.h"
#include "pressurekit_internal.h"

#include <string.h>

static _Thread_local char text[512];

void pkc_note_error(const char *message) {
    size_t length = strlen(message);
    if (length > sizeof(text) - 1) {
        length = sizeof(text) - 1;
        // Not in the middle of a character.
        while (length > 0 && ((unsigned char)message[length] & 0xC0) == 0x80) length--;
    }
    memcpy(text, message, length);
    text[length] = '\0';
}

const char *pressurekit_last_error(void) { return text; }
