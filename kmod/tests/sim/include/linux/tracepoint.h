/* SPDX-License-Identifier: GPL-2.0 */
/* Trace events are functions of the simulation, which keep the story: story.c. */
#ifndef SHIM_TRACEPOINT_H
#define SHIM_TRACEPOINT_H
#include <linux/types.h>
#define TP_PROTO(...)		__VA_ARGS__
#define TP_ARGS(...)
#define TP_STRUCT__entry(...)
#define TP_fast_assign(...)
#define TP_printk(...)
#define TRACE_EVENT(name, proto, ...) void trace_##name(proto)
#endif
