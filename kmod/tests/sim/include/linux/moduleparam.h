/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of the module, which worlds set as root does in sysfs. */
#ifndef SHIM_MODULEPARAM_H
#define SHIM_MODULEPARAM_H
typedef unsigned long shim_param_ulong;
#define module_param(name, type, permissions) \
	shim_param_##type *const shim_param_##name = &name
#define MODULE_PARM_DESC(name, text)
extern unsigned long *const shim_param_max_memory_bytes;
#endif
