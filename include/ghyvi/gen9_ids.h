/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The GPUs that ghyvi-gen9 drives: GT2 of Skylake to Comet Lake, by PCI device id. The platform is
 * that for which i915 takes the id: Whiskey Lake is a Coffee Lake, Amber Lake either that or a Kaby
 * Lake. The module and `ghyvictl doctor` use the list.
 */
#ifndef GHYVI_GEN9_IDS_H
#define GHYVI_GEN9_IDS_H

/* X(device, platform, name) */
#define GHYVI_GEN9_IDS(X)                                                     \
	X(0x1912, SKYLAKE, "Skylake GT2, desktop, HD Graphics 530")           \
	X(0x1916, SKYLAKE, "Skylake GT2, mobile U, HD Graphics 520")          \
	X(0x191a, SKYLAKE, "Skylake GT2, server")                             \
	X(0x191b, SKYLAKE, "Skylake GT2, mobile H, HD Graphics 530")          \
	X(0x191d, SKYLAKE, "Skylake GT2, Xeon E3 v5, HD Graphics P530")       \
	X(0x191e, SKYLAKE, "Skylake GT2, mobile Y, HD Graphics 515")          \
	X(0x1921, SKYLAKE, "Skylake GT2, mobile U, HD Graphics 520")          \
	X(0x5912, KABYLAKE, "Kaby Lake GT2, desktop, HD Graphics 630")        \
	X(0x5916, KABYLAKE, "Kaby Lake GT2, mobile U, HD Graphics 620")       \
	X(0x5917, KABYLAKE, "Kaby Lake GT2, mobile U, UHD Graphics 620")      \
	X(0x591a, KABYLAKE, "Kaby Lake GT2, server, HD Graphics P630")        \
	X(0x591b, KABYLAKE, "Kaby Lake GT2, mobile H, HD Graphics 630")       \
	X(0x591d, KABYLAKE, "Kaby Lake GT2, Xeon E3 v6, HD Graphics P630")    \
	X(0x591e, KABYLAKE, "Kaby Lake GT2, mobile Y, HD Graphics 615")       \
	X(0x591c, KABYLAKE, "Amber Lake GT2, mobile Y, UHD Graphics 615")     \
	X(0x87c0, KABYLAKE, "Amber Lake GT2, mobile Y, UHD Graphics 617")     \
	X(0x5921, KABYLAKE, "Kaby Lake GT2, mobile U, HD Graphics 620")       \
	X(0x3e91, COFFEELAKE, "Coffee Lake GT2, desktop, UHD Graphics 630")   \
	X(0x3e92, COFFEELAKE, "Coffee Lake GT2, desktop, UHD Graphics 630")   \
	X(0x3e94, COFFEELAKE, "Coffee Lake GT2, mobile H, UHD Graphics P630") \
	X(0x3e96, COFFEELAKE, "Coffee Lake GT2, Xeon E, UHD Graphics P630")   \
	X(0x3e98, COFFEELAKE, "Coffee Lake GT2, desktop, UHD Graphics 630")   \
	X(0x3e9a, COFFEELAKE, "Coffee Lake GT2, Xeon E, UHD Graphics P630")   \
	X(0x3e9b, COFFEELAKE, "Coffee Lake GT2, mobile H, UHD Graphics 630")  \
	X(0x3ea9, COFFEELAKE, "Coffee Lake GT2, mobile U, UHD Graphics 620")  \
	X(0x3ea0, COFFEELAKE, "Whiskey Lake GT2, mobile U, UHD Graphics 620") \
	X(0x3ea3, COFFEELAKE, "Whiskey Lake GT2, mobile U, UHD Graphics")     \
	X(0x87ca, COFFEELAKE, "Amber Lake GT2, mobile Y, UHD Graphics")       \
	X(0x9bc2, COMETLAKE, "Comet Lake GT2, UHD Graphics")                  \
	X(0x9bc4, COMETLAKE, "Comet Lake GT2, mobile H, UHD Graphics")        \
	X(0x9bc5, COMETLAKE, "Comet Lake GT2, desktop, UHD Graphics 630")     \
	X(0x9bc6, COMETLAKE, "Comet Lake GT2, Xeon W, UHD Graphics P630")     \
	X(0x9bc8, COMETLAKE, "Comet Lake GT2, desktop, UHD Graphics 630")     \
	X(0x9be6, COMETLAKE, "Comet Lake GT2, Xeon W, UHD Graphics P630")     \
	X(0x9bf6, COMETLAKE, "Comet Lake GT2, Xeon W, UHD Graphics P630")     \
	X(0x9b41, COMETLAKE, "Comet Lake GT2, mobile U, UHD Graphics")        \
	X(0x9bca, COMETLAKE, "Comet Lake GT2, mobile U, UHD Graphics")        \
	X(0x9bcc, COMETLAKE, "Comet Lake GT2, mobile U, UHD Graphics")

#endif
