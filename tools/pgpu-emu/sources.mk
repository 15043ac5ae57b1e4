# SPDX-License-Identifier: GPL-2.0-only
# The command code of kernel/softgpu that the emulated GPU executes.
command_code := access.c atomic.c blit.c blt.c clock.c copy.c flush.c math.c stream.c surface.c
