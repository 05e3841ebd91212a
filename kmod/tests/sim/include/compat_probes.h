/* SPDX-License-Identifier: GPL-2.0 */
/* The shim is the newest kernel that kmod/compat_probes.c knows. */
#define DM_ALIGN_HAVE_HEADERS			1
#define DM_ALIGN_HAVE_ATOMIC_WRITES		1
#define DM_ALIGN_HAVE_BDEV_ROT			1
#define DM_ALIGN_HAVE_BIO_WRITE_HINT		1
#define DM_ALIGN_HAVE_BIO_WRITE_STREAM		1
#define DM_ALIGN_HAVE_HRTIMER_SETUP		1
#define DM_ALIGN_HAVE_HW_WZEROES_UNMAP		1
#define DM_ALIGN_HAVE_LIMITS_FLAGS		1
#define DM_ALIGN_HAVE_PREPARE_IOCTL_CMD		1
#define DM_ALIGN_HAVE_TIMER_DELETE_SYNC		1
