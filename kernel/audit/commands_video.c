// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands of the video engine (MFX, MFD, MFC: codecs; VDENC, HCP, HuC; SFC: scaler) and of the
 * video enhancement engine (VEBOX, with the scaler). All their addresses are in the PPGTT of the
 * context. Lengths differ between steppings and between manuals. So only the encoding is checked,
 * and the engine skips a command by its length field.
 *
 * Not listed, so refused: HCP_TILE_CODING (2/3/4/0x15), which Intel's media driver uses from Gen11
 * on; and MFX 2/6/0 (0, 8 and 9). GVT-g's table has the latter without names, and with 16 bits of
 * length where MFX commands have 12; i915 calls the last CRYPTO_KEY_EXCHANGE.
 */
#include "tables.h"

#define VIDEO (BIT(GHYVI_VCS))
#define ENHANCE (BIT(GHYVI_VECS))
#define ON(_engines, _command, _name, _source, _gen) \
	[_command] = GHYVI_PLAIN(_name, _source, 2, GHYVI_ANY_LENGTH, 12, _gen, _engines, CONTEXT)
#define ROW(...) ON(VIDEO, __VA_ARGS__)

static const struct ghyvi_command video_1_0_0[GHYVI_BLOCK_COMMANDS] = {
	/* One dword, and yet with a length: another one would move the commands that follow. */
	[0x00] = GHYVI_PLAIN("MFX_WAIT", XML, 1, 1, 6, 8, VIDEO, CONTEXT),
};

static const struct ghyvi_command video_2_0_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "MFX_PIPE_MODE_SELECT", XML, 8),
	ROW(0x01, "MFX_SURFACE_STATE", XML, 8),
	ROW(0x02, "MFX_PIPE_BUF_ADDR_STATE", XML, 8),
	ROW(0x03, "MFX_IND_OBJ_BASE_ADDR_STATE", XML, 8),
	ROW(0x04, "MFX_BSP_BUF_BASE_ADDR_STATE", XML, 8),
	ROW(0x05, "MFX_AES_STATE", VAAPI, 8),
	ROW(0x06, "MFX_STATE_POINTER", XML, 8),
	ROW(0x07, "MFX_QM_STATE", XML, 8),
	ROW(0x08, "MFX_FQM_STATE", XML, 8),
	ROW(0x09, "MFX_DBK_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_0_1[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x09, "MFD_IT_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_0_2[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x08, "MFX_PAK_INSERT_OBJECT", XML, 8),
	ROW(0x0a, "MFX_STITCH_OBJECT", XML, 8),
	ROW(0x0b, "MFX_MPEG_TS_CONTROL", XML9, 9),
};

static const struct ghyvi_command video_2_0_4[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "VDENC_PIPE_MODE_SELECT", XML9, 9),
	ROW(0x01, "VDENC_SRC_SURFACE_STATE", XML9, 9),
	ROW(0x02, "VDENC_REF_SURFACE_STATE", XML9, 9),
	ROW(0x03, "VDENC_DS_REF_SURFACE_STATE", XML9, 9),
	ROW(0x04, "VDENC_PIPE_BUF_ADDR_STATE", XML9, 9),
	ROW(0x05, "VDENC_IMG_STATE", XML9, 9),
	ROW(0x06, "VDENC_CONST_QPT_STATE", XML9, 9),
	ROW(0x07, "VDENC_WALKER_STATE", XML9, 9),
	ROW(0x08, "VDENC_WEIGHTSOFFSETS_STATE", MHW_VDENC, 9),
};

static const struct ghyvi_command video_2_1_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "MFX_AVC_IMG_STATE", XML, 8),
	ROW(0x02, "MFX_AVC_DIRECTMODE_STATE", XML, 8),
	ROW(0x03, "MFX_AVC_SLICE_STATE", XML, 8),
	ROW(0x04, "MFX_AVC_REF_IDX_STATE", XML, 8),
	ROW(0x05, "MFX_AVC_WEIGHTOFFSET_STATE", XML, 8),
};

static const struct ghyvi_command video_2_1_1[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x05, "MFD_AVC_PICID_STATE", XML, 8),
	ROW(0x06, "MFD_AVC_DPB_STATE", XML, 8),
	ROW(0x07, "MFD_AVC_SLICEADDR", XML, 8),
	ROW(0x08, "MFD_AVC_BSD_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_1_2[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x09, "MFC_AVC_PAK_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_2_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x01, "MFX_VC1_PRED_PIPE_STATE", XML, 8),
	ROW(0x02, "MFX_VC1_DIRECTMODE_STATE", XML, 8),
};

static const struct ghyvi_command video_2_2_1[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "MFD_VC1_SHORT_PIC_STATE", XML, 8),
	ROW(0x01, "MFD_VC1_LONG_PIC_STATE", XML, 8),
	ROW(0x08, "MFD_VC1_BSD_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_3_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "MFX_MPEG2_PIC_STATE", XML, 8),
};

static const struct ghyvi_command video_2_3_1[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x08, "MFD_MPEG2_BSD_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_3_2[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x03, "MFC_MPEG2_SLICEGROUP_STATE", XML, 8),
	ROW(0x09, "MFC_MPEG2_PAK_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_3_4[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "HCP_PIPE_MODE_SELECT", XML9, 9),
	ROW(0x01, "HCP_SURFACE_STATE", XML9, 9),
	ROW(0x02, "HCP_PIPE_BUF_ADDR_STATE", XML9, 9),
	ROW(0x03, "HCP_IND_OBJ_BASE_ADDR_STATE", XML9, 9),
	ROW(0x04, "HCP_QM_STATE", XML9, 9),
	ROW(0x05, "HCP_FQM_STATE", XML9, 9),
	ROW(0x08, "HEVC_VP9_RDOQ_STATE", XML9, 9),
	ROW(0x10, "HCP_PIC_STATE", XML9, 9),
	ROW(0x11, "HCP_TILE_STATE", XML9, 9),
	ROW(0x12, "HCP_REF_IDX_STATE", XML9, 9),
	ROW(0x13, "HCP_WEIGHTOFFSET_STATE", XML9, 9),
	ROW(0x14, "HCP_SLICE_STATE", XML9, 9),
};

static const struct ghyvi_command video_2_3_5[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "HCP_BSD_OBJECT", XML9, 9),	     ROW(0x01, "HCP_PAK_OBJECT", XML9, 9),
	ROW(0x02, "HCP_PAK_INSERT_OBJECT", XML9, 9), ROW(0x10, "HCP_VP9_PIC_STATE", XML9, 9),
	ROW(0x12, "HCP_VP9_SEGMENT_STATE", XML9, 9),
};

static const struct ghyvi_command video_2_4_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "MFX_VP8_PIC_STATE", XML, 8),
};

static const struct ghyvi_command video_2_4_1[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x08, "MFD_VP8_BSD_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_4_2[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x01, "MFX_VP8_ENCODER_CFG", XML9, 9),
	ROW(0x03, "MFX_VP8_BSP_BUF_BASE_ADDR_STATE", XML9, 9),
	ROW(0x09, "MFX_VP8_PAK_OBJECT", XML, 8),
};

/* The scaler, behind HCP. */
static const struct ghyvi_command video_2_4_4[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "SFC_LOCK", MHW_SFC12, 9),
	ROW(0x01, "SFC_STATE", MHW_SFC12, 9),
	ROW(0x02, "SFC_AVS_STATE", MHW_SFC12, 9),
	ROW(0x03, "SFC_IEF_STATE", MHW_SFC12, 9),
	ROW(0x04, "SFC_FRAME_START", MHW_SFC12, 9),
	ROW(0x05, "SFC_AVS_LUMA_COEFF_TABLE", MHW_SFC12, 9),
	ROW(0x06, "SFC_AVS_CHROMA_COEFF_TABLE", MHW_SFC12, 9),
};

/* The scaler, behind MFX and VEBOX. */
static const struct ghyvi_command video_2_5_0[GHYVI_BLOCK_COMMANDS] = {
	ON(VIDEO | ENHANCE, 0x00, "SFC_LOCK", XML9, 9),
	ON(VIDEO | ENHANCE, 0x01, "SFC_STATE", XML9, 9),
	ON(VIDEO | ENHANCE, 0x02, "SFC_AVS_STATE", XML9, 9),
	ON(VIDEO | ENHANCE, 0x03, "SFC_IEF_STATE", XML9, 9),
	ON(VIDEO | ENHANCE, 0x04, "SFC_FRAME_START", XML9, 9),
	ON(VIDEO | ENHANCE, 0x05, "SFC_AVS_LUMA_COEFF_TABLE", XML9, 9),
	ON(VIDEO | ENHANCE, 0x06, "SFC_AVS_CHROMA_COEFF_TABLE", XML9, 9),
};

static const struct ghyvi_command video_2_5_4[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "HUC_PIPE_MODE_SELECT", XML9, 9),
	ROW(0x01, "HUC_IMEM_STATE", XML9, 9),
	ROW(0x02, "HUC_DMEM_STATE", XML9, 9),
	ROW(0x03, "HUC_CFG_STATE", XML9, 9),
	ROW(0x04, "HUC_VIRTUAL_ADDR_STATE", XML9, 9),
	ROW(0x05, "HUC_IND_OBJ_BASE_ADDR_STATE", XML9, 9),
};

static const struct ghyvi_command video_2_5_5[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "HUC_STREAM_OBJECT", XML9, 9),
	ROW(0x01, "HUC_START", XML9, 9),
};

static const struct ghyvi_command video_2_7_0[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "MFX_JPEG_PIC_STATE", XML, 8),
	ROW(0x02, "MFX_JPEG_HUFF_TABLE_STATE", XML, 8),
};

static const struct ghyvi_command video_2_7_1[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x08, "MFD_JPEG_BSD_OBJECT", XML, 8),
};

static const struct ghyvi_command video_2_7_2[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x03, "MFC_JPEG_HUFF_TABLE_STATE", XML9, 9),
	ROW(0x09, "MFC_JPEG_SCAN_OBJECT", XML9, 9),
};

static const struct ghyvi_command video_2_7_4[GHYVI_BLOCK_COMMANDS] = {
	ROW(0x00, "VD_PIPELINE_FLUSH", XML9, 9),
};

const struct ghyvi_command *const ghyvi_video_blocks[GHYVI_BLOCKS] = {
	[GHYVI_BLOCK(1, 0, 0)] = video_1_0_0, [GHYVI_BLOCK(2, 0, 0)] = video_2_0_0,
	[GHYVI_BLOCK(2, 0, 1)] = video_2_0_1, [GHYVI_BLOCK(2, 0, 2)] = video_2_0_2,
	[GHYVI_BLOCK(2, 0, 4)] = video_2_0_4, [GHYVI_BLOCK(2, 1, 0)] = video_2_1_0,
	[GHYVI_BLOCK(2, 1, 1)] = video_2_1_1, [GHYVI_BLOCK(2, 1, 2)] = video_2_1_2,
	[GHYVI_BLOCK(2, 2, 0)] = video_2_2_0, [GHYVI_BLOCK(2, 2, 1)] = video_2_2_1,
	[GHYVI_BLOCK(2, 3, 0)] = video_2_3_0, [GHYVI_BLOCK(2, 3, 1)] = video_2_3_1,
	[GHYVI_BLOCK(2, 3, 2)] = video_2_3_2, [GHYVI_BLOCK(2, 3, 4)] = video_2_3_4,
	[GHYVI_BLOCK(2, 3, 5)] = video_2_3_5, [GHYVI_BLOCK(2, 4, 0)] = video_2_4_0,
	[GHYVI_BLOCK(2, 4, 1)] = video_2_4_1, [GHYVI_BLOCK(2, 4, 2)] = video_2_4_2,
	[GHYVI_BLOCK(2, 4, 4)] = video_2_4_4, [GHYVI_BLOCK(2, 5, 0)] = video_2_5_0,
	[GHYVI_BLOCK(2, 5, 4)] = video_2_5_4, [GHYVI_BLOCK(2, 5, 5)] = video_2_5_5,
	[GHYVI_BLOCK(2, 7, 0)] = video_2_7_0, [GHYVI_BLOCK(2, 7, 1)] = video_2_7_1,
	[GHYVI_BLOCK(2, 7, 2)] = video_2_7_2, [GHYVI_BLOCK(2, 7, 4)] = video_2_7_4,
};

static const struct ghyvi_command enhance_2_4_0[GHYVI_BLOCK_COMMANDS] = {
	ON(ENHANCE, 0x00, "VEBOX_SURFACE_STATE", MHW_VEBOX, 8),
	ON(ENHANCE, 0x01, "VEBOX_TILING_CONVERT", MHW_VEBOX, 8),
	ON(ENHANCE, 0x02, "VEBOX_STATE", MHW_VEBOX, 8),
	ON(ENHANCE, 0x03, "VEB_DI_IECP", MHW_VEBOX, 8),
};

const struct ghyvi_command *const ghyvi_enhance_blocks[GHYVI_BLOCKS] = {
	[GHYVI_BLOCK(2, 4, 0)] = enhance_2_4_0,
	[GHYVI_BLOCK(2, 5, 0)] = video_2_5_0,
};
