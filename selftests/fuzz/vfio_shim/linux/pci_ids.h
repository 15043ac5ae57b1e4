/* SPDX-License-Identifier: GPL-2.0-only */
#include <vfio_shim.h>
#define PCI_VENDOR_ID_INTEL 0x8086
#define PCI_CLASS_DISPLAY_OTHER 0x0380
