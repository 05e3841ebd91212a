/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_CLEANUP_H
#define SHIM_CLEANUP_H
#define DEFINE_FREE(name, type, free)
#endif
