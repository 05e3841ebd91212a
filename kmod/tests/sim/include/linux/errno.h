/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ERRNO_H
#define SHIM_ERRNO_H
#define EINTR		4
#define EIO		5
#define ENXIO		6
#define EAGAIN		11
#define ENOMEM		12
#define EBUSY		16
#define EEXIST		17
#define ENODEV		19
#define EINVAL		22
#define ERANGE		34
#define ETIMEDOUT	110
#define EINPROGRESS	115
#define EOPNOTSUPP	95
#define ERESTARTSYS	512
#endif
