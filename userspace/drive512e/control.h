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
 * Bind the socket, so that clients can connect; they are served from
 * control_start() on.  Replace a socket whose server is dead.  Return NULL with
 * errno set on failure (EADDRINUSE: the socket has a server, or the path is that
 * of a file of another kind).
 */
struct control *control_new(const char *path);

/*
 * Start the thread that serves clients with @drive, in the process that will
 * free it.  Return 0 or an errno value.
 */
int control_start(struct control *control, struct drive *drive);

/* End the thread, if it runs, and remove the socket. */
void control_free(struct control *control);

#endif
