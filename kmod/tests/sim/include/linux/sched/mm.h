/* SPDX-License-Identifier: GPL-2.0 */
/* Memory is never had by writing here. */
#define memalloc_noio_save()		0U
#define memalloc_noio_restore(flags)	((void)(flags))
