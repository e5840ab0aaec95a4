/* What the Swift half of the plugin needs of the C half. Not installed, and no part of the interface. */
#ifndef PRESSUREKIT_INTERNAL_H
#define PRESSUREKIT_INTERNAL_H

/** Keeps a text, cut at 511 bytes, for pressurekit_last_error() on the calling thread. */
void pkc_note_error(const char *message);

#endif
