/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The keeper: a process that changes the mode of an align device for an
 * experiment, and puts the mode before it back however the experiment ends, by
 * kill -9, too. It alone changes the mode, so that no change of a killed
 * experiment comes after the mode was put back.
 *
 * A message on its socket, of SOCK_SEQPACKET, is a text without a final 0:
 *
 *   mode MODE       change the mode
 *   look            look at the device now
 *   end             put the mode back, and end
 *   (hangup)        the same, and report it on standard error
 *
 * It answers each of them, and says at any time that it has lost the device:
 *
 *   ok              the mode was changed, or the device is as it was left
 *   refused STATUS  it was not, with the enum alignctl_exit; reported
 *   lost REASON     the device is not as the experiment left it; said once by
 *                   itself, and in answer to each "mode" or "look" after that
 *   back MODE       the mode before is in place
 *   left REASON     the mode was left as it is: it is not the experiment's
 *   failed STATUS   the mode before could not be put back; reported
 */
#ifndef ALIGNCTL_MODE_KEEPER_H
#define ALIGNCTL_MODE_KEEPER_H

#define KEEPER_MESSAGE_MAX	512U

/* How a device looks, from the best on. */
enum keeper_sight {
	KEEPER_AS_LEFT,		/* in one of the experiment's modes */
	KEEPER_DISTURBED,	/* so, too, but its figures mean nothing */
	KEEPER_FOREIGN,		/* in another mode */
	KEEPER_GONE,		/* no longer there */
};

/**
 * struct keeper_device - the device of a keeper
 * @name: name of the device, for messages
 * @before: mode to put back
 * @watch_ms: time between two looks while nothing is asked, ms
 * @look: look at the device, whose mode may be each of @ours; sets *@reason,
 *	for free(), unless it is KEEPER_AS_LEFT
 * @enter: change the mode. Return: enum alignctl_exit, reported
 * @context: passed to both
 */
struct keeper_device {
	const char *name;
	const char *before;
	int watch_ms;
	enum keeper_sight (*look)(void *context, const char *const ours[2],
				  char **reason);
	int (*enter)(void *context, const char *mode);
	void *context;
};

/*
 * Start the keeper of a device, in a session of its own, where neither Ctrl-C nor
 * the end of a terminal reaches it. It inherits all open files.
 * Return: the socket, which a program that is executed inherits, or -1 after
 * reporting an error.
 */
int mode_keeper_start(const struct keeper_device *device);

#endif
