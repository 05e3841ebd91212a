/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_MODULE_H
#define SHIM_MODULE_H
#define THIS_MODULE		NULL
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define MODULE_DESCRIPTION(text)
#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define module_init(function)	int shim_module_init(void) { return function(); }
#define module_exit(function)	void shim_module_exit(void) { function(); }
int shim_module_init(void);
void shim_module_exit(void);
#endif
