/* SPDX-License-Identifier: GPL-2.0 */
/* nbdkit with the drive, started for one client. */
#ifndef DRIVE512E_SERVER_H
#define DRIVE512E_SERVER_H

#include <libnbd.h>

#define SERVER_PARAMETERS_MAX 32

/*
 * Start nbdkit with the plugin at this path and these parameters, which end with
 * NULL, and return the connection to it; it ends with the connection. Returns
 * NULL on failure, or if there are more than SERVER_PARAMETERS_MAX parameters;
 * nbd_get_error() has the reason, where it is not that.
 */
struct nbd_handle *server_start(char *plugin, char **parameters);

/*
 * Ask for a real-time priority, for this program and the servers that it
 * starts. Returns 0, or -1 with errno set.
 */
int server_priority(void);

#endif
