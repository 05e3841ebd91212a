/* SPDX-License-Identifier: GPL-2.0 */
/* The plugin's parameters, for a program that serves no clients. */
#ifndef DRIVE512E_PLUGIN_H
#define DRIVE512E_PLUGIN_H

#include "model.h"

/*
 * Return the model that the parameters describe, once the plugin's
 * config_complete() has accepted them.
 */
struct model_config plugin_model(void);

#endif
