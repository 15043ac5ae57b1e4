/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ghyvi.ko exports to pGPU backends, in the symbol namespace GHYVI
 * (Documentation/core-api/symbol-namespaces.rst). The rest of the core is private to the module.
 */
#ifndef GHYVI_EXPORT_H
#define GHYVI_EXPORT_H

#ifdef __KERNEL__
#include <linux/module.h>
#include <ghyvi-features.h>

#if GHYVI_HAVE_NS_BARE_WORD
#define GHYVI_EXPORT(symbol) EXPORT_SYMBOL_NS_GPL(symbol, GHYVI)
#define GHYVI_IMPORT_NS() MODULE_IMPORT_NS(GHYVI)
#else
#define GHYVI_EXPORT(symbol) EXPORT_SYMBOL_NS_GPL(symbol, "GHYVI")
#define GHYVI_IMPORT_NS() MODULE_IMPORT_NS("GHYVI")
#endif
#else
#define GHYVI_EXPORT(symbol)
#endif

#endif
