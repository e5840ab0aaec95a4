/* What the Swift half of the plugin needs of the C half. Not installed, and no part of the interface. */
#ifndef PRESSUREKIT_INTERNAL_H
#define PRESSUREKIT_INTERNAL_H

/** Keeps a text, cut at 511 bytes, and what a callback has returned, for the calling thread to ask for. */
void pkc_note_error(const char *message, int callback_result);

/** What pressurekit_set_error() was given on the calling thread, cut at 511 bytes. */
const char *pkc_callback_error(void);

#endif
