// SPDX-License-Identifier: GPL-2.0-only
/*
 * The render engine's 3D, media and GPGPU commands. All their addresses are in the PPGTT of the
 * context, except for the post-sync write of PIPE_CONTROL. Where Gen8 and Gen9 differ, the first
 * number of dwords is that of Gen8 and the second that of Gen9.
 *
 * Sources: Mesa's src/intel/genxml/gen8.xml and gen9.xml, with which all lengths agree; GVT-g's
 * table for the commands of DX9 and of Gen7 that those do not have.
 */
#include "tables.h"

#define ROW(_command, _name, _least, _most, _bits, _gen) \
	[_command] = GHYVI_PLAIN(_name, _least, _most, _bits, _gen, BIT(GHYVI_RCS))
#define ANY GHYVI_ANY_LENGTH

static const struct ghyvi_command render_0_0_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x03, "STATE_PREFETCH", 2, 2, 8, 8),
};

static const struct ghyvi_command render_0_1_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x01, "STATE_BASE_ADDRESS", 16, 19, 8, 8),
	ROW(0x02, "STATE_SIP", 3, 3, 8, 8),
	ROW(0x03, "SWTESS_BASE_ADDRESS", 2, 2, 8, 8),
	ROW(0x04, "GPGPU_CSR_BASE_ADDRESS", 3, 3, 8, 8),
};

static const struct ghyvi_command render_1_0_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x0b, "3DSTATE_VF_STATISTICS", 1, 1, 0, 8),
};

static const struct ghyvi_command render_1_1_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x04, "PIPELINE_SELECT", 1, 1, 0, 8),
};

static const struct ghyvi_command render_2_0_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "MEDIA_VFE_STATE", 9, 9, 16, 8),
	ROW(0x01, "MEDIA_CURBE_LOAD", 4, 4, 16, 8),
	ROW(0x02, "MEDIA_INTERFACE_DESCRIPTOR_LOAD", 4, 4, 16, 8),
	ROW(0x04, "MEDIA_STATE_FLUSH", 2, 2, 16, 8),
	ROW(0x05, "MEDIA_POOL_STATE", 2, ANY, 16, 9),
};

static const struct ghyvi_command render_2_1_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "MEDIA_OBJECT", 2, ANY, 16, 8),
	ROW(0x02, "MEDIA_OBJECT_PRT", 16, 16, 16, 8),
	ROW(0x03, "MEDIA_OBJECT_WALKER", 2, ANY, 16, 8),
	ROW(0x05, "GPGPU_WALKER", 15, 15, 8, 8),
	ROW(0x06, "MEDIA_OBJECT_GRPID", 2, ANY, 16, 8),
};

static const struct ghyvi_command render_3_0_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x04, "3DSTATE_CLEAR_PARAMS", 3, 3, 8, 8),
	ROW(0x05, "3DSTATE_DEPTH_BUFFER", 8, 8, 8, 8),
	ROW(0x06, "3DSTATE_STENCIL_BUFFER", 5, 5, 8, 8),
	ROW(0x07, "3DSTATE_HIER_DEPTH_BUFFER", 5, 5, 8, 8),
	ROW(0x08, "3DSTATE_VERTEX_BUFFERS", 2, ANY, 8, 8),
	ROW(0x09, "3DSTATE_VERTEX_ELEMENTS", 2, ANY, 8, 8),
	ROW(0x0a, "3DSTATE_INDEX_BUFFER", 5, 5, 8, 8),
	ROW(0x0c, "3DSTATE_VF", 2, 2, 8, 8),
	ROW(0x0d, "3DSTATE_MULTISAMPLE", 2, 2, 8, 8),
	ROW(0x0e, "3DSTATE_CC_STATE_POINTERS", 2, 2, 8, 8),
	ROW(0x0f, "3DSTATE_SCISSOR_STATE_POINTERS", 2, 2, 8, 8),
	ROW(0x10, "3DSTATE_VS", 9, 9, 8, 8),
	ROW(0x11, "3DSTATE_GS", 10, 10, 8, 8),
	ROW(0x12, "3DSTATE_CLIP", 4, 4, 8, 8),
	ROW(0x13, "3DSTATE_SF", 4, 4, 8, 8),
	ROW(0x14, "3DSTATE_WM", 2, 2, 8, 8),
	ROW(0x15, "3DSTATE_CONSTANT_VS", 11, 11, 8, 8),
	ROW(0x16, "3DSTATE_CONSTANT_GS", 11, 11, 8, 8),
	ROW(0x17, "3DSTATE_CONSTANT_PS", 11, 11, 8, 8),
	ROW(0x18, "3DSTATE_SAMPLE_MASK", 2, 2, 8, 8),
	ROW(0x19, "3DSTATE_CONSTANT_HS", 11, 11, 8, 8),
	ROW(0x1a, "3DSTATE_CONSTANT_DS", 11, 11, 8, 8),
	ROW(0x1b, "3DSTATE_HS", 9, 9, 8, 8),
	ROW(0x1c, "3DSTATE_TE", 4, 4, 8, 8),
	ROW(0x1d, "3DSTATE_DS", 9, 11, 8, 8),
	ROW(0x1e, "3DSTATE_STREAMOUT", 5, 5, 8, 8),
	ROW(0x1f, "3DSTATE_SBE", 4, 6, 8, 8),
};

static const struct ghyvi_command render_3_0_1[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "3DSTATE_PS", 12, 12, 8, 8),
	ROW(0x01, "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP", 2, 2, 8, 8),
	ROW(0x03, "3DSTATE_VIEWPORT_STATE_POINTERS_CC", 2, 2, 8, 8),
	ROW(0x04, "3DSTATE_BLEND_STATE_POINTERS", 2, 2, 8, 8),
	ROW(0x06, "3DSTATE_BINDING_TABLE_POINTERS_VS", 2, 2, 8, 8),
	ROW(0x07, "3DSTATE_BINDING_TABLE_POINTERS_HS", 2, 2, 8, 8),
	ROW(0x08, "3DSTATE_BINDING_TABLE_POINTERS_DS", 2, 2, 8, 8),
	ROW(0x09, "3DSTATE_BINDING_TABLE_POINTERS_GS", 2, 2, 8, 8),
	ROW(0x0a, "3DSTATE_BINDING_TABLE_POINTERS_PS", 2, 2, 8, 8),
	ROW(0x0b, "3DSTATE_SAMPLER_STATE_POINTERS_VS", 2, 2, 8, 8),
	ROW(0x0c, "3DSTATE_SAMPLER_STATE_POINTERS_HS", 2, 2, 8, 8),
	ROW(0x0d, "3DSTATE_SAMPLER_STATE_POINTERS_DS", 2, 2, 8, 8),
	ROW(0x0e, "3DSTATE_SAMPLER_STATE_POINTERS_GS", 2, 2, 8, 8),
	ROW(0x0f, "3DSTATE_SAMPLER_STATE_POINTERS_PS", 2, 2, 8, 8),
	ROW(0x10, "3DSTATE_URB_VS", 2, 2, 8, 8),
	ROW(0x11, "3DSTATE_URB_HS", 2, 2, 8, 8),
	ROW(0x12, "3DSTATE_URB_DS", 2, 2, 8, 8),
	ROW(0x13, "3DSTATE_URB_GS", 2, 2, 8, 8),
	ROW(0x14, "3DSTATE_GATHER_CONSTANT_VS", 2, ANY, 8, 8),
	ROW(0x15, "3DSTATE_GATHER_CONSTANT_GS", 2, ANY, 8, 8),
	ROW(0x16, "3DSTATE_GATHER_CONSTANT_HS", 2, ANY, 8, 8),
	ROW(0x17, "3DSTATE_GATHER_CONSTANT_DS", 2, ANY, 8, 8),
	ROW(0x18, "3DSTATE_GATHER_CONSTANT_PS", 2, ANY, 8, 8),
	ROW(0x19, "3DSTATE_DX9_CONSTANTF_VS", 2, ANY, 11, 8),
	ROW(0x1a, "3DSTATE_DX9_CONSTANTF_PS", 2, ANY, 11, 8),
	ROW(0x1b, "3DSTATE_DX9_CONSTANTI_VS", 2, ANY, 8, 8),
	ROW(0x1c, "3DSTATE_DX9_CONSTANTI_PS", 2, ANY, 8, 8),
	ROW(0x1d, "3DSTATE_DX9_CONSTANTB_VS", 2, ANY, 8, 8),
	ROW(0x1e, "3DSTATE_DX9_CONSTANTB_PS", 2, ANY, 8, 8),
	ROW(0x1f, "3DSTATE_DX9_LOCAL_VALID_VS", 2, ANY, 8, 8),
};

static const struct ghyvi_command render_3_0_2[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "3DSTATE_DX9_LOCAL_VALID_PS", 2, ANY, 8, 8),
	ROW(0x01, "3DSTATE_DX9_GENERATE_ACTIVE_VS", 2, ANY, 8, 8),
	ROW(0x02, "3DSTATE_DX9_GENERATE_ACTIVE_PS", 2, ANY, 8, 8),
	ROW(0x03, "3DSTATE_BINDING_TABLE_EDIT_VS", 2, ANY, 9, 8),
	ROW(0x04, "3DSTATE_BINDING_TABLE_EDIT_GS", 2, ANY, 9, 8),
	ROW(0x05, "3DSTATE_BINDING_TABLE_EDIT_HS", 2, ANY, 9, 8),
	ROW(0x06, "3DSTATE_BINDING_TABLE_EDIT_DS", 2, ANY, 9, 8),
	ROW(0x07, "3DSTATE_BINDING_TABLE_EDIT_PS", 2, ANY, 9, 8),
	ROW(0x09, "3DSTATE_VF_INSTANCING", 3, 3, 8, 8),
	ROW(0x0a, "3DSTATE_VF_SGVS", 2, 2, 8, 8),
	ROW(0x0b, "3DSTATE_VF_TOPOLOGY", 2, 2, 8, 8),
	ROW(0x0c, "3DSTATE_WM_CHROMAKEY", 2, 2, 8, 8),
	ROW(0x0d, "3DSTATE_PS_BLEND", 2, 2, 8, 8),
	ROW(0x0e, "3DSTATE_WM_DEPTH_STENCIL", 3, 4, 8, 8),
	ROW(0x0f, "3DSTATE_PS_EXTRA", 2, 2, 8, 8),
	ROW(0x10, "3DSTATE_RASTER", 5, 5, 8, 8),
	ROW(0x11, "3DSTATE_SBE_SWIZ", 11, 11, 8, 8),
	ROW(0x12, "3DSTATE_WM_HZ_OP", 5, 5, 8, 8),
	ROW(0x14, "3DSTATE_RS_CONSTANT_POINTER", 4, 4, 8, 9),
	ROW(0x15, "3DSTATE_VF_COMPONENT_PACKING", 5, 5, 8, 9),
};

static const struct ghyvi_command render_3_1_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "3DSTATE_DRAWING_RECTANGLE", 4, 4, 8, 8),
	ROW(0x02, "3DSTATE_SAMPLER_PALETTE_LOAD0", 2, ANY, 8, 8),
	ROW(0x04, "3DSTATE_CHROMA_KEY", 4, 4, 8, 8),
	ROW(0x06, "3DSTATE_POLY_STIPPLE_OFFSET", 2, 2, 8, 8),
	ROW(0x07, "3DSTATE_POLY_STIPPLE_PATTERN", 33, 33, 8, 8),
	ROW(0x08, "3DSTATE_LINE_STIPPLE", 3, 3, 8, 8),
	ROW(0x0a, "3DSTATE_AA_LINE_PARAMETERS", 3, 3, 8, 8),
	ROW(0x0c, "3DSTATE_SAMPLER_PALETTE_LOAD1", 2, ANY, 8, 8),
	ROW(0x11, "3DSTATE_MONOFILTER_SIZE", 2, 2, 8, 8),
	ROW(0x12, "3DSTATE_PUSH_CONSTANT_ALLOC_VS", 2, 2, 8, 8),
	ROW(0x13, "3DSTATE_PUSH_CONSTANT_ALLOC_HS", 2, 2, 8, 8),
	ROW(0x14, "3DSTATE_PUSH_CONSTANT_ALLOC_DS", 2, 2, 8, 8),
	ROW(0x15, "3DSTATE_PUSH_CONSTANT_ALLOC_GS", 2, 2, 8, 8),
	ROW(0x16, "3DSTATE_PUSH_CONSTANT_ALLOC_PS", 2, 2, 8, 8),
	ROW(0x17, "3DSTATE_SO_DECL_LIST", 2, ANY, 9, 8),
	ROW(0x18, "3DSTATE_SO_BUFFER", 8, 8, 8, 8),
	ROW(0x19, "3DSTATE_BINDING_TABLE_POOL_ALLOC", 4, 4, 8, 8),
	ROW(0x1a, "3DSTATE_GATHER_POOL_ALLOC", 4, 4, 8, 8),
	ROW(0x1b, "3DSTATE_DX9_CONSTANT_BUFFER_POOL_ALLOC", 4, 4, 8, 8),
	ROW(0x1c, "3DSTATE_SAMPLE_PATTERN", 9, 9, 8, 8),
	ROW(0x1d, "3DSTATE_URB_CLEAR", 2, 2, 8, 9),
};

static const struct ghyvi_command render_3_2_0[GHYVI_BLOCK_COMMANDS] = {
	/* Gen7's form has five dwords, and drivers of several generations still use it. */
	[0x00] = {
		.name = "PIPE_CONTROL", .least = 5, .most = 6, .engines = BIT(GHYVI_RCS),
		.length_bits = 8, .kernel = GHYVI_ALLOWED, .user = GHYVI_ALLOWED, .gen = 8,
		.check = GHYVI_CHECK_PIPE_CONTROL,
		.addresses = { { .dword = 2, .space = GHYVI_ADDRESS_POST,
				 .access = GHYVI_ADDRESS_WRITE, .bytes = 8 } },
	},
};

static const struct ghyvi_command render_3_3_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "3DPRIMITIVE", 7, 7, 8, 8),
};

const struct ghyvi_command *const ghyvi_render_blocks[GHYVI_BLOCKS] = {
	[GHYVI_BLOCK(0, 0, 0)] = render_0_0_0, [GHYVI_BLOCK(0, 1, 0)] = render_0_1_0,
	[GHYVI_BLOCK(1, 0, 0)] = render_1_0_0, [GHYVI_BLOCK(1, 1, 0)] = render_1_1_0,
	[GHYVI_BLOCK(2, 0, 0)] = render_2_0_0, [GHYVI_BLOCK(2, 1, 0)] = render_2_1_0,
	[GHYVI_BLOCK(3, 0, 0)] = render_3_0_0, [GHYVI_BLOCK(3, 0, 1)] = render_3_0_1,
	[GHYVI_BLOCK(3, 0, 2)] = render_3_0_2, [GHYVI_BLOCK(3, 1, 0)] = render_3_1_0,
	[GHYVI_BLOCK(3, 2, 0)] = render_3_2_0, [GHYVI_BLOCK(3, 3, 0)] = render_3_3_0,
};
