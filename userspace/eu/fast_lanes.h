/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The handlers for LANES lanes; fast.c includes it once for each number. No include guard.
 *
 * The lanes are PARTS vectors of a size that the processor has: the compiler makes poor code of
 * larger ones, and of memcpy(): halves, which the next load of a whole vector must wait for.
 */

#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define N(name) PASTE(name, LANES)

#if LANES < FAST_WIDTH
#define WIDTH LANES
#else
#define WIDTH FAST_WIDTH
#endif
#define PARTS (LANES / WIDTH)
#define EACH _Pragma("GCC unroll 4") for (unsigned int p = 0; p < PARTS; p++)

/* A region begins at any byte. */
typedef uint32_t N(uv) __attribute__((vector_size(WIDTH * 4), aligned(1)));
typedef int32_t N(iv) __attribute__((vector_size(WIDTH * 4), aligned(1)));
typedef float N(fv) __attribute__((vector_size(WIDTH * 4), aligned(1)));
typedef uint16_t N(hv) __attribute__((vector_size(WIDTH * 2), aligned(1)));
typedef int16_t N(sv) __attribute__((vector_size(WIDTH * 2), aligned(1)));

/* A source as dwords. */
static inline __attribute__((always_inline)) void
N(load)(const struct eu_thread *t, const struct eu_insn *i, unsigned int n, N(uv) * v)
{
	const struct eu_near *o = &i->near[n];
	const uint8_t *at = t->reg + o->at;
	uint32_t same;

	switch (o->kind) {
	case EU_KIND_VECTOR:
		EACH v[p] = ((const N(uv) *)at)[p];
		break;
	case EU_KIND_UW:
		EACH
		{
			v[p] = __builtin_convertvector(((const N(hv) *)at)[p], N(uv));
		}
		break;
	case EU_KIND_W:
		EACH
		{
			v[p] = (N(uv)) __builtin_convertvector(((const N(sv) *)at)[p], N(iv));
		}
		break;
	default:
		same = eu_scalar(t, i, n);
		EACH v[p] = same - (N(uv)){ 0 };
	}
}

static inline __attribute__((always_inline)) void
N(load_int)(const struct eu_thread *t, const struct eu_insn *i, unsigned int n, N(uv) * v)
{
	const struct eu_near *o = &i->near[n];

	N(load)(t, i, n, v);
	if (__builtin_expect(o->absolute && o->is_signed, 0)) {
		EACH
		{
			N(uv) sign = (N(uv))((N(iv))v[p] >> 31);

			v[p] = (v[p] ^ sign) - sign;
		}
	}
	if (__builtin_expect(o->negate, 0)) {
		EACH v[p] = -v[p];
	}
}

static inline __attribute__((always_inline)) void
N(load_bits)(const struct eu_thread *t, const struct eu_insn *i, unsigned int n, N(uv) * v)
{
	N(load)(t, i, n, v);
	if (__builtin_expect(i->near[n].negate, 0)) {
		EACH v[p] = ~v[p];
	}
}

static inline __attribute__((always_inline)) void
N(load_float)(const struct eu_thread *t, const struct eu_insn *i, unsigned int n, N(fv) * f)
{
	N(uv) *v = (N(uv) *)f;

	N(load)(t, i, n, v);
	if (__builtin_expect(i->near[n].absolute, 0)) {
		EACH v[p] &= 0x7fffffff;
	}
	if (__builtin_expect(i->near[n].negate, 0)) {
		EACH v[p] ^= 0x80000000;
	}
}

/*
 * A float whose denormals are 0 if the processor's mode says so: a comparison sees it. For what
 * copies floats and is no raw move.
 */
static inline __attribute__((always_inline)) void
N(load_number)(const struct eu_thread *t, const struct eu_insn *i, unsigned int n, N(fv) * f)
{
	N(uv) *v = (N(uv) *)f;
	static const N(fv) zero;

	N(load_float)(t, i, n, f);
	EACH v[p] &= (N(uv))(f[p] != zero) | 0x80000000;
}

/* All ones for each lane whose bit is set. */
static inline __attribute__((always_inline)) N(iv) N(spread)(uint32_t lanes, unsigned int p)
{
#if WIDTH == 8
	static const N(iv) bit = { 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80 };
#elif WIDTH == 4
	static const N(iv) bit = { 1, 2, 4, 8 };
#else
	static const N(iv) bit = { 1 };
#endif
	N(iv) v = (int32_t)(lanes >> p * WIDTH) - (N(iv)){ 0 };

	return (v & bit) != 0;
}

/* A bit for each lane that is all ones. */
static inline __attribute__((always_inline)) uint32_t N(signs)(const N(iv) * v)
{
	uint32_t bits = 0;

	EACH
	{
#if WIDTH == 8 && defined(__AVX__)
		typedef float part __attribute__((vector_size(32)));

		bits |= (uint32_t)__builtin_ia32_movmskps256((part)v[p]) << p * WIDTH;
#elif WIDTH == 4 && defined(__SSE2__)
		typedef float part __attribute__((vector_size(16)));

		bits |= (uint32_t)__builtin_ia32_movmskps((part)v[p]) << p * WIDTH;
#else
		unsigned int n;

		for (n = 0; n < WIDTH; n++)
			bits |= ((uint32_t)v[p][n] & 1) << (p * WIDTH + n);
#endif
	}
	return bits;
}

static inline __attribute__((always_inline)) void
N(store)(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes, const N(uv) * v)
{
	N(uv) *to = (N(uv) *)(x->t->reg + i->dst_at), on;

	if (__builtin_expect(lanes == (uint32_t)((1ull << LANES) - 1), 1)) {
		x->lanes += LANES;
		if (i->dst_null)
			return;
		EACH to[p] = v[p];
		return;
	}
	x->lanes += (unsigned int)__builtin_popcount(lanes);
	if (i->dst_null)
		return;
	EACH
	{
		on = (N(uv))N(spread)(lanes, p);
		to[p] = (v[p] & on) | (to[p] & ~on);
	}
}

/* Compares a and b, in r; what is no number follows the language's rules, which are IEEE's. */
#define COMPARED(condition, a, b, r)           \
	switch (condition) {                   \
	case EU_COND_Z:                        \
		EACH(r)[p] = (a)[p] == (b)[p]; \
		break;                         \
	case EU_COND_NZ:                       \
		EACH(r)[p] = (a)[p] != (b)[p]; \
		break;                         \
	case EU_COND_G:                        \
		EACH(r)[p] = (a)[p] > (b)[p];  \
		break;                         \
	case EU_COND_GE:                       \
		EACH(r)[p] = (a)[p] >= (b)[p]; \
		break;                         \
	case EU_COND_L:                        \
		EACH(r)[p] = (a)[p] < (b)[p];  \
		break;                         \
	case EU_COND_LE:                       \
		EACH(r)[p] = (a)[p] <= (b)[p]; \
		break;                         \
	default:                               \
		EACH(r)[p] = (N(iv)){ 0 };     \
	}

static inline __attribute__((always_inline)) void
N(finish_int)(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes, const N(uv) * v)
{
	if (__builtin_expect(i->condition, 0)) {
		static const N(uv) zero[PARTS];
		N(iv) r[PARTS];

		if (i->dst.type == EU_D) {
			COMPARED(i->condition, (const N(iv) *)v, (const N(iv) *)zero, r);
		} else {
			COMPARED(i->condition, v, zero, r);
		}
		eu_set_flags(x->t, i, lanes, N(signs)(r));
	}
	N(store)(x, i, lanes, v);
}

static inline __attribute__((always_inline)) void
N(finish_float)(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes, N(fv) * v)
{
	static const N(fv) zero[PARTS];

	if (__builtin_expect(i->saturate, 0)) {
		EACH
		{
			N(fv) one = zero[p] + 1;
			N(iv) above = v[p] > zero[p], below;

			/* Not above zero: zero, and so is what is no number. */
			v[p] = (N(fv))((N(iv))v[p] & above);
			below = v[p] < one;
			v[p] = (N(fv))(((N(iv))v[p] & below) | ((N(iv))one & ~below));
		}
	}
	if (__builtin_expect(i->condition, 0)) {
		N(iv) r[PARTS];

		COMPARED(i->condition, v, zero, r);
		eu_set_flags(x->t, i, lanes, N(signs)(r));
	}
	N(store)(x, i, lanes, (const N(uv) *)v);
}

#define OPERATION(name, type, load, sources, expression, finish)                 \
	static enum eu_step N(name)(struct eu_exec * x, const struct eu_insn *i) \
	{                                                                        \
		uint32_t lanes = eu_lanes(x->t, i);                              \
		type a[PARTS], b[PARTS], c[PARTS];                               \
                                                                                 \
		if (!lanes)                                                      \
			return EU_NEXT;                                          \
		load(x->t, i, 0, a);                                             \
		if (sources > 1)                                                 \
			load(x->t, i, 1, b);                                     \
		if (sources > 2)                                                 \
			load(x->t, i, 2, c);                                     \
		(void)b;                                                         \
		(void)c;                                                         \
		EACH a[p] = (expression);                                        \
		finish(x, i, lanes, a);                                          \
		return EU_NEXT;                                                  \
	}
#define INTEGER(name, load, sources, expression) \
	OPERATION(name, N(uv), N(load), sources, expression, N(finish_int))
#define FLOAT(name, load, sources, expression) \
	OPERATION(name, N(fv), N(load), sources, expression, N(finish_float))

static inline __attribute__((always_inline)) N(fv) N(fused)(N(fv) a, N(fv) b, N(fv) c)
{
#ifdef __FMA__
	/* One instruction, because this file is built with contraction. */
	return a * b + c;
#else
	unsigned int n;

	for (n = 0; n < WIDTH; n++)
		c[n] = __builtin_fmaf(a[n], b[n], c[n]);
	return c;
#endif
}

static inline __attribute__((always_inline)) N(fv) N(whole)(N(fv) a, bool down)
{
	unsigned int n;

#if WIDTH == 8 && defined(__AVX__)
	return (N(fv))(down ? __builtin_ia32_roundps256(a, 9) : __builtin_ia32_roundps256(a, 11));
#endif
	for (n = 0; n < WIDTH; n++)
		a[n] = down ? __builtin_floorf(a[n]) : __builtin_truncf(a[n]);
	return a;
}

static inline __attribute__((always_inline)) N(uv) N(chosen)(N(iv) on, N(uv) a, N(uv) b)
{
	return (a & (N(uv))on) | (b & ~(N(uv))on);
}

INTEGER(fast_mov, load_int, 1, a[p])
INTEGER(fast_add, load_int, 2, a[p] + b[p])
INTEGER(fast_mul, load_int, 2, a[p] * b[p])
INTEGER(fast_imad, load_int, 3, a[p] + b[p] * c[p])
INTEGER(fast_shl, load, 2, a[p] << (b[p] & 31))
INTEGER(fast_shr, load, 2, a[p] >> (b[p] & 31))
INTEGER(fast_asr, load, 2, (N(uv))((N(iv))a[p] >> (N(iv))(b[p] & 31)))
INTEGER(fast_not, load_bits, 1, ~a[p])
INTEGER(fast_and, load_bits, 2, a[p] & b[p])
INTEGER(fast_or, load_bits, 2, a[p] | b[p])
INTEGER(fast_xor, load_bits, 2, a[p] ^ b[p])
FLOAT(fast_fmov, load_float, 1, a[p])
FLOAT(fast_number, load_number, 1, a[p])
FLOAT(fast_fadd, load_float, 2, a[p] + b[p])
FLOAT(fast_fmul, load_float, 2, a[p] * b[p])
FLOAT(fast_fmad, load_float, 3, N(fused)(b[p], c[p], a[p]))
FLOAT(fast_rndd, load_number, 1, N(whole)(a[p], true))
FLOAT(fast_rndz, load_number, 1, N(whole)(a[p], false))

/* The smaller or larger of two, or one by the predicate; flags are not written. */
#define SELECT(name, type, load, decide)                                         \
	static enum eu_step N(name)(struct eu_exec * x, const struct eu_insn *i) \
	{                                                                        \
		uint32_t lanes = eu_lanes(x->t, i), chosen;                      \
		type a[PARTS], b[PARTS];                                         \
		N(uv) r[PARTS];                                                  \
                                                                                 \
		if (!lanes)                                                      \
			return EU_NEXT;                                          \
		chosen = i->predicate ? eu_predicate(x->t, i) : 0;               \
		(void)chosen;                                                    \
		load(x->t, i, 0, a);                                             \
		load(x->t, i, 1, b);                                             \
		EACH r[p] = N(chosen)(decide, (N(uv))a[p], (N(uv))b[p]);         \
		N(store)(x, i, lanes, r);                                        \
		return EU_NEXT;                                                  \
	}

SELECT(fast_sel, N(uv), N(load_int), N(spread)(chosen, p))
SELECT(fast_imin, N(uv), N(load), (N(iv))a[p] < (N(iv))b[p])
SELECT(fast_umin, N(uv), N(load), a[p] < b[p])
SELECT(fast_imax, N(uv), N(load), (N(iv))a[p] >= (N(iv))b[p])
SELECT(fast_umax, N(uv), N(load), a[p] >= b[p])
SELECT(fast_fsel, N(fv), N(load_number), N(spread)(chosen, p))
SELECT(fast_fmin, N(fv), N(load_number), (a[p] < b[p]) | (b[p] != b[p]))
SELECT(fast_fmax, N(fv), N(load_number), (a[p] >= b[p]) | (b[p] != b[p]))

#define COMPARE(name, type, load)                                                \
	static enum eu_step N(name)(struct eu_exec * x, const struct eu_insn *i) \
	{                                                                        \
		uint32_t lanes = eu_lanes(x->t, i);                              \
		type a[PARTS], b[PARTS];                                         \
		N(iv) r[PARTS];                                                  \
                                                                                 \
		if (!lanes)                                                      \
			return EU_NEXT;                                          \
		load(x->t, i, 0, a);                                             \
		load(x->t, i, 1, b);                                             \
		COMPARED(i->condition, a, b, r);                                 \
		N(store)(x, i, lanes, (const N(uv) *)r);                         \
		eu_set_flags(x->t, i, lanes, N(signs)(r));                       \
		return EU_NEXT;                                                  \
	}

static inline __attribute__((always_inline)) void
N(load_signed)(const struct eu_thread *t, const struct eu_insn *i, unsigned int n, N(iv) * v)
{
	N(load)(t, i, n, (N(uv) *)v);
}

COMPARE(fast_icmp, N(iv), N(load_signed))
COMPARE(fast_ucmp, N(uv), N(load))
COMPARE(fast_fcmp, N(fv), N(load_float))

static enum eu_step N(fast_to_float)(struct eu_exec *x, const struct eu_insn *i)
{
	uint32_t lanes = eu_lanes(x->t, i);
	N(uv) v[PARTS];

	if (!lanes)
		return EU_NEXT;
	N(load_int)(x->t, i, 0, v);
	EACH v[p] = (N(uv)) __builtin_convertvector((N(iv))v[p], N(fv));
	N(store)(x, i, lanes, v);
	return EU_NEXT;
}

/* Towards zero; past the ends the ends, for what is no number 0. */
static enum eu_step N(fast_to_int)(struct eu_exec *x, const struct eu_insn *i)
{
	uint32_t lanes = eu_lanes(x->t, i);
	N(fv) v[PARTS], limit = 0x1p31f - (N(fv)){ 0 };
	N(iv) r[PARTS];

	if (!lanes)
		return EU_NEXT;
	N(load_float)(x->t, i, 0, v);
	EACH
	{
		N(iv) high = v[p] >= limit, low = v[p] < -limit;
		N(iv) inside = (v[p] == v[p]) & ~high & ~low;

		r[p] = __builtin_convertvector((N(fv))((N(iv))v[p] & inside), N(iv));
		r[p] |= (high & 0x7fffffff) | (low & (int32_t)0x80000000);
	}
	N(store)(x, i, lanes, (const N(uv) *)r);
	return EU_NEXT;
}

#undef OPERATION
#undef INTEGER
#undef FLOAT
#undef SELECT
#undef COMPARE
#undef COMPARED
#undef EACH
#undef PARTS
#undef WIDTH
#undef N
#undef PASTE
#undef PASTE2
