-- SPDX-License-Identifier: GPL-2.0-only
-- For Mesa's executor: instructions of Gen9 that its own scripts leave out, compared with what Lua computes.
-- g2 and g3 have a and b of each lane, g4 the lane; each test leaves its result in g10.

local A = { [0] = 27, 0xffffffff, 0x80000000, 7, 0x12345678, 97, 0, 0xdeadbeef }
local B = { [0] = 3, 5, 0xffffffff, 33, 0x00010001, 0x7fffffff, 1, 12 }
local LANES = 8

local function u(x) return x & 0xffffffff end
local function s(x) x = u(x); return x >= 0x80000000 and x - 0x100000000 or x end

local function zeros_above(x)
  local n = 0
  while n < 32 and x & (0x80000000 >> n) == 0 do n = n + 1 end
  return n
end

local function bits(x)
  local n = 0
  while x ~= 0 do n, x = n + (x & 1), x >> 1 end
  return n
end

local function reversed(x)
  local r = 0
  for i = 0, 31 do r = r << 1 | x >> i & 1 end
  return r
end

local function collatz(n)
  local steps = 0
  while n > 1 do
    n = n & 1 == 1 and 3 * n + 1 or n >> 1
    steps = steps + 1
  end
  return steps
end

local function float(x) return (string.unpack("<I4", string.pack("<f", x))) end

local function clamp(x, least, most) return math.max(least, math.min(x, most)) end

local function whole(x) return x < 0 and math.ceil(x) or math.floor(x) end

local function even(x)
  local low = math.floor(x)
  local rest = x - low
  return (rest > 0.5 or rest == 0.5 and low % 2 == 1) and low + 1 or low
end

-- g13 becomes (lane - 4) * 3/4.
local QUARTERS = [[
    add(8) g13<1>D g4<8,8,1>D -4D { align1 1Q };
    mov(8) g13<1>F g13<8,8,1>D { align1 1Q };
    mul(8) g13<1>F g13<8,8,1>F 0x3f400000F { align1 1Q };
]]
local function quarters(lane) return (lane - 4) * 0.75 end

-- a is written to the lane's place, to which g13 points; an atomic operation with b returns it in g14.
local SCRATCH = 2000
local function atomic(op, name)
  return string.format([[
    add(8) g12<1>UD g4<8,8,1>UD %dUD { align1 1Q };
    @write g12 g2
    mul(8) g13<1>UD g12<8,8,1>UD 4UW { align1 1Q };
    add(8) g13<1>UD g13<8,8,1>UD 0x30000000UD { align1 1Q };
    sends(8) g14UD g13UD g3UD 0x0210b%xfd 0x00000040
        dp data 1 MsgDesc: (DC untyped atomic op, Surface = 253, SIMD8, %s) mlen 1 ex_mlen 1 rlen 1 { align1 1Q };
    @read g10 g12
]], SCRATCH, op, name)
end

local function unary(op, types)
  return string.format("%s(8) g10<1>%s g2<8,8,1>%s { align1 1Q };", op, types, types)
end

local function binary(op, types)
  return string.format("%s(8) g10<1>%s g2<8,8,1>%s g3<8,8,1>%s { align1 1Q };", op, types, types, types)
end

local tests = {
  { "carry", [[
    addc(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q AccWrEnable };
    mov(8)  g10<1>UD acc0<8,8,1>UD { align1 1Q };]], function(a, b) return a + b >> 32 end },
  { "borrow", [[
    subb(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q AccWrEnable };
    mov(8)  g10<1>UD acc0<8,8,1>UD { align1 1Q };]], function(a, b) return a < b and 1 or 0 end },
  { "mac", [[
    mov(8) acc0<1>D g4<8,8,1>D { align1 1Q };
    mac(8) g10<1>D g2<16,8,2>W g3<16,8,2>W { align1 1Q };]], function(a, b, lane)
    return lane + (string.unpack("<i2", string.pack("<I2", a & 0xffff))) * (string.unpack("<i2", string.pack("<I2", b & 0xffff)))
  end },
  { "add.sat, signed", binary("add.sat", "D"), function(a, b) return clamp(s(a) + s(b), -0x80000000, 0x7fffffff) end },
  { "a difference that saturates", "add.sat(8) g10<1>UD g2<8,8,1>UD -g3<8,8,1>UD { align1 1Q };",
    function(a, b) return math.max(a - b, 0) end },
  { "bytes that saturate", [[
    mov.sat(8) g11<4>UB g2<8,8,1>D { align1 1Q };
    mov(8) g10<1>UD g11<32,8,4>UB { align1 1Q };]], function(a) return clamp(s(a), 0, 255) end },
  { "high half of a signed product", [[
    mul(8)  acc0<1>D g2<8,8,1>D g3<16,8,2>UW { align1 1Q };
    mach(8) g10<1>D  g2<8,8,1>D g3<8,8,1>D   { align1 1Q AccWrEnable };]], function(a, b) return s(a) * s(b) >> 32 end },
  { "bfe, signed", "bfe(8) g10<1>D g3<4,4,1>D g4<4,4,1>D g2<4,4,1>D { align16 1Q };", function(a, b, lane)
    local width = math.min(b & 31, 32 - lane)
    local field = a >> lane & (1 << width) - 1
    return width > 0 and field >> width - 1 == 1 and field - (1 << width) or field
  end },
  { "fbh, signed", unary("fbh", "D"), function(a)
    local differs = s(a) < 0 and u(~a) or a
    return differs == 0 and -1 or zeros_above(differs)
  end },
  { "an integer of a float", QUARTERS .. "mov(8) g10<1>D g13<8,8,1>F { align1 1Q };",
    function(_, _, lane) return whole(quarters(lane)) end },
  { "an unsigned integer of a float", QUARTERS .. "mov(8) g10<1>UD g13<8,8,1>F { align1 1Q };",
    function(_, _, lane) return math.max(whole(quarters(lane)), 0) end },
  { "rnde", QUARTERS .. "add(8) g13<1>F g13<8,8,1>F 0x40800000F { align1 1Q };" .. "rnde(8) g10<1>F g13<8,8,1>F { align1 1Q };",
    function(_, _, lane) return float(even(quarters(lane) + 4)) end },
  { "rndz", QUARTERS .. "rndz(8) g10<1>F g13<8,8,1>F { align1 1Q };",
    function(_, _, lane) return lane == 3 and 0x80000000 or float(whole(quarters(lane))) end },
  { "frc", QUARTERS .. "frc(8) g10<1>F g13<8,8,1>F { align1 1Q };",
    function(_, _, lane) return float(quarters(lane) - math.floor(quarters(lane))) end },
  { "lrp", QUARTERS .. [[
    mov(8) g11<1>F g4<8,8,1>UD { align1 1Q };
    mov(8) g12<1>F 0x41000000F { align1 1Q };
    lrp(8) g10<1>F g13<4,4,1>F g11<4,4,1>F g12<4,4,1>F { align16 1Q };]],
    function(_, _, lane) return float(quarters(lane) * lane + (1 - quarters(lane)) * 8) end },
  { "csel", QUARTERS .. [[
    mov(8) g11<1>F g4<8,8,1>UD { align1 1Q };
    csel.l(8) g10<1>F g11<4,4,1>F -g11<4,4,1>F g13<4,4,1>F { align16 1Q };]],
    function(_, _, lane) return quarters(lane) < 0 and float(lane) or u(float(lane) ~ 0x80000000) end },
  { "dp4", [[
    mov(8) g11<1>F g4<8,8,1>UD { align1 1Q };
    dp4(8) g10<1>F g11<4>.xyzwF g11<4>.xyzwF { align16 1Q };]],
    function(_, _, lane) return float(lane < 4 and 0 + 1 + 4 + 9 or 16 + 25 + 36 + 49) end },
  { "a half float", [[
    add(8) g11<1>UD g4<8,8,1>UD 2049UD { align1 1Q };
    mov(8) g11<1>F g11<8,8,1>UD { align1 1Q };
    mov(8) g14<2>HF g11<8,8,1>F { align1 1Q };
    mov(8) g10<1>F g14<16,8,2>HF { align1 1Q };]], function(_, _, lane) return float(even((2049 + lane) / 2) * 2) end },
  { "a double float", [[
    mov(8) g14<1>DF g4<8,8,1>D { align1 1Q };
    mul(8) g14<1>DF g14<4,4,1>DF g14<4,4,1>DF { align1 1Q };
    mov(8) g16<2>F g14<4,4,1>DF { align1 1Q };
    mov(8) g10<1>F g16<8,4,2>F { align1 1Q };]], function(_, _, lane) return float(lane * lane) end },
  { "64 bits", "add(4) g10<1>Q g2<4,4,1>Q g3<4,4,1>Q { align1 1N };", function(_, _, lane)
    local low, high = lane & ~1, lane | 1
    return (A[low] | A[high] << 32) + (B[low] | B[high] << 32) >> 32 * (lane & 1)
  end },
  { "square root", [[
    mul(8) g11<1>UD g4<8,8,1>UD g4<16,8,2>UW { align1 1Q };
    mov(8) g11<1>F g11<8,8,1>UD { align1 1Q };
    math sqrt(8) g10<1>F g11<8,8,1>F null<8,8,1>F { align1 1Q };]], function(_, _, lane) return float(lane) end },
  { "signed nibbles", [[
    mov(8) g11<1>W 0x87654321V { align1 WE_all 1Q };
    mov(8) g10<1>D g11<8,8,1>W { align1 1Q };]], function(_, _, lane) return lane == 7 and -8 or lane + 1 end },
  { "an inverted predicate", [[
    cmp.g.f0.0(8) null<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
    (-f0.0) sel(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };]], function(a, b) return s(a) > s(b) and b or a end },
  { "if in all of four lanes", [[
    mov(8) g10<1>UD 1UD { align1 1Q };
    cmp.l.f0.0(8) null<1>UD g4<8,8,1>UD 6UD { align1 1Q };
    (+f0.0.all4h) mov(8) g10<1>UD 2UD { align1 1Q };]], function(_, _, lane) return lane < 4 and 2 or 1 end },
  { "the upper four lanes", [[
    mov(8) g10<1>UD g2<8,8,1>UD { align1 1Q };
    mov(4) g10.4<1>UD g3.4<4,4,1>UD { align1 2N };]], function(a, b, lane) return lane < 4 and a or b end },
  { "minimum in memory", atomic(11, "imin"), function(a, b) return math.min(s(a), s(b)) end },
  { "maximum in memory", atomic(12, "umax"), function(a, b) return math.max(a, b) end },
  { "sum in memory", atomic(7, "add"), function(a, b) return a + b end },
  { "what was in memory", atomic(2, "or") .. "mov(8) g10<1>UD g14<8,8,1>UD { align1 1Q };", function(a) return a end },
  { "low half after mach", [[
    mul(8)  acc0<1>UD g2<8,8,1>UD g3<16,8,2>UW { align1 1Q };
    mach(8) g11<1>UD  g2<8,8,1>UD g3<8,8,1>UD  { align1 1Q AccWrEnable };
    mov(8)  g10<1>UD  acc0<8,8,1>UD { align1 1Q };]], function(a, b) return a * b end },
  { "not by a modifier", "and(8) g10<1>UD g2<8,8,1>UD ~g3<8,8,1>UD { align1 1Q };", function(a, b) return a & ~b end },
  { "absolute value", "mov(8) g10<1>D (abs)g2<8,8,1>D { align1 1Q };", function(a) return math.abs(s(a)) end },
  { "word times dword", "mul(8) g10<1>D g2<8,8,1>D g3<16,8,2>W { align1 1Q };", function(a, b)
    return s(a) * (string.unpack("<i2", string.pack("<I2", b & 0xffff)))
  end },
  { "asr of words", "asr(8) g10<1>D g2.1<16,8,2>W 3UD { align1 1Q };", function(a) return s(a) >> 19 end },
  { "shl of 64 bits", "shl(4) g10<1>Q g2<4,4,1>Q g4<8,4,2>UD { align1 1N };", function(_, _, lane)
    return (A[lane & ~1] | A[lane | 1] << 32) << (lane & ~1) >> 32 * (lane & 1)
  end },
  { "signed quotient", binary("math intdiv", "D"), function(a, b)
    return whole(s(a) / s(b))
  end },
  { "signed remainder", binary("math intmod", "D"), function(a, b) return math.fmod(s(a), s(b)) end },
  { "sel.l with a NaN", QUARTERS .. [[
    mov(8) g11<1>F 0x7fc00000F { align1 1Q };
    sel.l(8) g10<1>F g11<8,8,1>F g13<8,8,1>F { align1 1Q };]], function(_, _, lane) return float(quarters(lane)) end },
  { "a float that saturates", QUARTERS .. "mul.sat(8) g10<1>F g13<8,8,1>F 0x3f000000F { align1 1Q };",
    function(_, _, lane) return float(clamp(quarters(lane) / 2, 0, 1)) end },
  { "pairs", "mov(8) g10<1>UD g2<2,2,0>UD { align1 1Q };", function(_, _, lane) return A[lane & ~1] end },
  { "a shifted window", "mov(8) g10<1>UD g2<1,4,1>UD { align1 1Q };", function(_, _, lane) return A[lane // 4 + lane % 4] end },
  { "an address for each lane", [[
    mul(8) g11<1>UD g4<8,8,1>UD 4UW { align1 1Q };
    add(8) g11<1>D  -g11<8,8,1>D 92D { align1 1Q };
    mov(8) a0<1>UW  g11<16,8,2>UW { align1 1Q };
    mov(8) g10<1>UD g[a0]<VxH,1,0>UD { align1 1Q };]], function(_, _, lane) return A[7 - lane] end },
  { "an indirect destination", [[
    mov(8) g10<1>UD 1UD { align1 1Q };
    mov(1) a0<1>UW 328UW { align1 WE_all 1N };
    mov(1) g[a0]<1>UD 9UD { align1 WE_all 1N };]], function(_, _, lane) return lane == 2 and 9 or 1 end },
  { "flags as numbers", [[
    cmp.l.f0.0(8) null<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };
    mov(1) g11<1>UD f0<0,1,0>UW { align1 WE_all 1N };
    and(8) g10<1>UD g11<0,1,0>UD 0xffUD { align1 1Q };]], function()
    local flags = 0
    for lane = 0, LANES - 1 do flags = flags | (A[lane] < B[lane] and 1 << lane or 0) end
    return flags
  end },
  { "dp3 and dph", [[
    mov(8) g11<1>F g4<8,8,1>UD { align1 1Q };
    dp3(8) g12<1>F g11<4>.xyzwF g11<4>.xyzwF { align16 1Q };
    dph(8) g10<1>F g11<4>.xyzwF g11<4>.xyzwF { align16 1Q };
    add(8) g10<1>F g10<8,8,1>F g12<8,8,1>F { align1 1Q };]],
    function(_, _, lane) return float(lane < 4 and 5 + 5 + 3 or 77 + 77 + 7) end },
  { "halves", QUARTERS .. [[
    mov(8) g14<2>HF g13<8,8,1>F { align1 1Q };
    add(8) g14<2>HF g14<16,8,2>HF g14<16,8,2>HF { align1 1Q };
    mov(8) g10<1>F g14<16,8,2>HF { align1 1Q };]], function(_, _, lane) return float(quarters(lane) * 2) end },
  { "an integer of a double", QUARTERS .. [[
    mov(8) g14<1>DF g13<8,8,1>F { align1 1Q };
    mov(8) g16<2>D g14<4,4,1>DF { align1 1Q };
    mov(8) g10<1>D g16<8,4,2>D { align1 1Q };]], function(_, _, lane) return whole(quarters(lane)) end },
  { "if in any of two lanes", [[
    mov(8) g10<1>UD 1UD { align1 1Q };
    cmp.z.f0.0(8) null<1>UD g4<8,8,1>UD 5UD { align1 1Q };
    (+f0.0.any2h) mov(8) g10<1>UD 2UD { align1 1Q };]], function(_, _, lane) return lane // 2 == 2 and 2 or 1 end },
  { "sixteen lanes", [[
    add(16) g14<1>UD g2<8,8,1>UD 1UD { align1 WE_all 1H };
    mov(8) g10<1>UD g15<8,8,1>UD { align1 1Q };]], function(_, b) return b + 1 end },
  { "mad of integers", "mad(8) g10<1>D g2<4,4,1>D g3<4,4,1>D g4<4,4,1>D { align16 1Q };", function(a, b, lane) return a + b * lane end },
  { "one value of three sources", [[
    mov(8) g11<1>F g4<8,8,1>UD { align1 1Q };
    mad(8) g10<1>F g11.2<0,1,0>F g11<4,4,1>F g11.5<0,1,0>F { align16 1Q };]], function(_, _, lane) return float(2 + lane * 5) end },
  { "swizzles and a write mask", [[
    mov(8) g10<1>F 0x40e00000F { align1 1Q };
    mov(8) g11<1>F g4<8,8,1>UD { align1 1Q };
    add(8) g10<1>.xzF g11<4>.yxwwF g11<4>.zzzzF { align16 1Q };]], function(_, _, lane)
    local base = lane & 4
    local x = ({ [0] = base + 1 + base + 2, 7, base + 3 + base + 2, 7 })[lane & 3]
    return float(x)
  end },
  { "compare and exchange", [[
    add(8) g12<1>UD g4<8,8,1>UD 2000UD { align1 1Q };
    @write g12 g4
    mul(8) g13<1>UD g12<8,8,1>UD 4UW { align1 1Q };
    add(8) g13<1>UD g13<8,8,1>UD 0x30000000UD { align1 1Q };
    mov(8) g14<1>UD 3UD { align1 1Q };
    mov(8) g15<1>UD 99UD { align1 1Q };
    sends(8) g16UD g13UD g14UD 0x0210befd 0x00000080
        dp data 1 MsgDesc: (DC untyped atomic op, Surface = 253, SIMD8, cmpwr) mlen 1 ex_mlen 2 rlen 1 { align1 1Q };
    @read g10 g12]], function(_, _, lane) return lane == 3 and 99 or lane end },
  { "a loop with cont", [[
    mov(8) g10<1>UD 0UD { align1 1Q };
    mov(8) g11<1>UD 0UD { align1 1Q };
    AGAIN:
    add(8) g11<1>UD g11<8,8,1>UD 1UD { align1 1Q };
    cmp.le.f0.0(8) null<1>UD g11<8,8,1>UD g4<8,8,1>UD { align1 1Q };
    (+f0.0) cont(8) JIP: AGAIN_END UIP: AGAIN_END { align1 1Q };
    add(8) g10<1>UD g10<8,8,1>UD g11<8,8,1>UD { align1 1Q };
    AGAIN_END:
    cmp.l.f0.0(8) null<1>UD g11<8,8,1>UD 9UD { align1 1Q };
    (+f0.0) while(8) JIP: AGAIN { align1 1Q };]], function(_, _, lane) return 45 - lane * (lane + 1) // 2 end },
  { "add", binary("add", "D"), function(a, b) return a + b end },
  { "mul", binary("mul", "D"), function(a, b) return a * b end },
  { "high half of a product", [[
    mul(8)  acc0<1>UD g2<8,8,1>UD g3<16,8,2>UW { align1 1Q };
    mach(8) g10<1>UD  g2<8,8,1>UD g3<8,8,1>UD  { align1 1Q AccWrEnable };]], function(a, b)
    local low, high = (a & 0xffff) * b, (a >> 16) * b
    return high + (low >> 16) >> 16
  end },
  { "avg", binary("avg", "D"), function(a, b) return s(a) + s(b) + 1 >> 1 end },
  { "shl", binary("shl", "UD"), function(a, b) return a << (b & 31) end },
  { "shr", binary("shr", "UD"), function(a, b) return a >> (b & 31) end },
  { "asr", binary("asr", "D"), function(a, b) return s(a) // (1 << (b & 31)) end },
  { "not", unary("not", "UD"), function(a) return ~a end },
  { "cbit", unary("cbit", "UD"), bits },
  { "lzd", unary("lzd", "UD"), zeros_above },
  { "bfrev", unary("bfrev", "UD"), reversed },
  { "fbl", unary("fbl", "UD"), function(a) return a == 0 and -1 or bits((a & -a) - 1) end },
  { "fbh, unsigned", unary("fbh", "UD"), function(a) return a == 0 and -1 or zeros_above(a) end },
  { "bfi1 and bfi2", [[
    bfi1(8) g11<1>UD g3<8,8,1>UD  g4<8,8,1>UD                { align1 1Q };
    bfi2(8) g10<1>UD g11<4,4,1>UD g2<4,4,1>UD  g3<4,4,1>UD   { align16 1Q };]], function(a, b, lane)
    local mask = u((1 << (b & 31)) - 1 << lane)
    return a << lane & mask | b & ~mask
  end },
  { "bfe", "bfe(8) g10<1>UD g3<4,4,1>UD g4<4,4,1>UD g2<4,4,1>UD { align16 1Q };", function(a, b, lane)
    return a >> lane & (1 << math.min(b & 31, 32 - lane)) - 1
  end },
  { "sel.l", binary("sel.l", "D"), function(a, b) return math.min(s(a), s(b)) end },
  { "sel.ge", binary("sel.ge", "UD"), function(a, b) return math.max(a, b) end },
  { "quotient", binary("math intdiv", "UD"), function(a, b) return a // b end },
  { "remainder", binary("math intmod", "UD"), function(a, b) return a % b end },
  { "float of an integer", "mov(8) g10<1>F g4<8,8,1>D { align1 1Q };", function(_, _, lane) return float(lane) end },
  { "mad", [[
    mov(8) g11<1>F g4<8,8,1>UD { align1 1Q };
    mad(8) g10<1>F g11<4,4,1>F g11<4,4,1>F -g11<4,4,1>F { align16 1Q };]], function(_, _, lane)
    return float(lane - lane * lane)
  end },
  { "rndd", [[
    mov(8)  g11<1>F g4<8,8,1>D { align1 1Q };
    mul(8)  g11<1>F g11<8,8,1>F 0xbf000000F { align1 1Q };
    rndd(8) g10<1>F g11<8,8,1>F { align1 1Q };]], function(_, _, lane) return lane == 0 and 0x80000000 or float(-lane // 2) end },
  { "a byte of each", "mov(8) g10<1>D g2.3<32,8,4>B { align1 1Q };", function(a) return s(a) >> 24 | -(a >> 31) << 8 end },
  { "every second one", "mov(8) g10<1>UD g2<0,4,2>UD { align1 1Q };", function(_, _, lane) return A[lane % 4 * 2] end },
  { "an indirect register", [[
    mov(1) a0<1>UW  0x40UW { align1 WE_all 1N };
    mov(8) g10<1>UD g[a0 32]<0,1,0>UD { align1 1Q };]], function() return B[0] end },
  { "if in any lane", [[
    mov(8) g10<1>UD 1UD { align1 1Q };
    cmp.z.f0.0(8) null<1>UD g2<8,8,1>UD 0UD { align1 1Q };
    (+f0.0.any8h) mov(8) g10<1>UD 2UD { align1 1Q };]], function() return 2 end },
  { "if and else", [[
    cmp.l.f0.0(8) null<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };
    (+f0.0) if(8) JIP: IF_ELSE UIP: IF_END { align1 1Q };
    add(8) g10<1>UD g2<8,8,1>UD 5UD { align1 1Q };
    else(8) JIP: IF_END UIP: IF_END { align1 1Q };
    IF_ELSE:
    add(8) g10<1>UD g3<8,8,1>UD 7UD { align1 1Q };
    IF_END:
    endif(8) JIP: IF_NEXT { align1 1Q };
    IF_NEXT:]], function(a, b) return a < b and a + 5 or b + 7 end },
  { "a loop with break and if", [[
    add(8) g11<1>UD g4<8,8,1>UD 20UD { align1 1Q };
    mov(8) g10<1>UD 0UD { align1 1Q };
    LOOP:
    cmp.le.f0.0(8) null<1>UD g11<8,8,1>UD 1UD { align1 1Q };
    (+f0.0) break(8) JIP: LOOP_END UIP: LOOP_END { align1 1Q };
    and.nz.f0.0(8) null<1>UD g11<8,8,1>UD 1UD { align1 1Q };
    (+f0.0) if(8) JIP: EVEN UIP: ODD_END { align1 1Q };
    mul(8) g11<1>UD g11<8,8,1>UD 3UW { align1 1Q };
    add(8) g11<1>UD g11<8,8,1>UD 1UD { align1 1Q };
    else(8) JIP: ODD_END UIP: ODD_END { align1 1Q };
    EVEN:
    shr(8) g11<1>UD g11<8,8,1>UD 1UD { align1 1Q };
    ODD_END:
    endif(8) JIP: STEP { align1 1Q };
    STEP:
    add(8) g10<1>UD g10<8,8,1>UD 1UD { align1 1Q };
    LOOP_END:
    while(8) JIP: LOOP { align1 1Q };]], function(_, _, lane) return collatz(lane + 20) end },
}

local data, source = {}, { "@id g4", "@read g2 g4", "add(8) g5<1>UD g4<8,8,1>UD 8UD { align1 1Q };", "@read g3 g5" }
for lane = 0, LANES - 1 do
  data[lane], data[LANES + lane] = A[lane], B[lane]
end
for n, test in ipairs(tests) do
  table.insert(source, test[2])
  table.insert(source, string.format("add(8) g12<1>UD g4<8,8,1>UD %dUD { align1 1Q };", (n + 1) * LANES))
  table.insert(source, "@write g12 g10")
end
table.insert(source, "@eot\n")

local got, failed = execute { data = data, src = table.concat(source, "\n") }, 0
for n, test in ipairs(tests) do
  for lane = 0, LANES - 1 do
    local want = u(test[3](A[lane], B[lane], lane))
    if got[(n + 1) * LANES + lane] ~= want then
      print(string.format("FAIL %s, lane %d: %#x, not %#x", test[1], lane, got[(n + 1) * LANES + lane], want))
      failed = failed + 1
    end
  end
end
print(failed == 0 and "OK" or failed .. " wrong")
