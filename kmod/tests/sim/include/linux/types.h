/* SPDX-License-Identifier: GPL-2.0 */
/* Types; and the headers that every other header of the shim needs. */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/compiler.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16;
typedef uint32_t u32, __u32;
typedef unsigned long long u64, __u64;
typedef int32_t s32, __s32;
typedef long long s64, __s64;
typedef long ssize_t;
typedef long loff_t;
typedef unsigned int gfp_t;
typedef unsigned int fmode_t;
typedef u32 dev_t;
typedef u64 sector_t;
typedef u64 phys_addr_t;
typedef s64 ktime_t;
typedef int clockid_t;

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct callback_head {
	struct callback_head *next;
	void (*func)(struct callback_head *head);
};
#define rcu_head callback_head

#endif
