/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control socket: a local stream socket that takes one command per line
 * and answers each with one line of JSON: see command.h.
 */
#ifndef DRIVE512E_CONTROL_H
#define DRIVE512E_CONTROL_H

#include "drive.h"

struct control;

/* The longest path that a local socket can have, in bytes. */
#define CONTROL_PATH_MAX 107

/*
 * Binds the socket, so that clients may connect; they are served from
 * control_start() on.  A socket that nobody serves any more is replaced.
 * NULL with errno set on failure (EADDRINUSE: somebody does serve it).
 */
struct control *control_new(const char *path, struct drive *drive);

/* Starts the thread that serves. Returns 0 or an errno value. */
int control_start(struct control *control);

/* Ends the thread, if it runs, and removes the socket. */
void control_free(struct control *control);

#endif
