# SPDX-License-Identifier: MIT
# benchmarks/gpu_kernels.py: what a careful user of PyTorch and of Triton would write: the
# contenders of gpu_worker.py.
import torch
import triton
import triton.language as tl

WARPS = (1, 2, 4, 8, 16)
FP8_MAX = 448.0


# --- PyTorch: eager, and what torch.compile makes of the same functions ---


def rmsnorm_rope(x, weight, cos, sin, eps=1e-6):
    """x[B,S,H], weight[H], cos[S,D], sin[S,D]; pairs are half a head apart."""
    batch, seq, hidden = x.shape
    head = cos.shape[-1]
    wide = x.float()
    y = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps) * weight.float()
    y = y.view(batch, seq, hidden // head, head)
    first, second = y.chunk(2, dim=-1)
    turned = torch.cat((-second, first), dim=-1)
    cos, sin = cos.float()[None, :, None, :], sin.float()[None, :, None, :]
    return (y * cos + turned * sin).to(x.dtype).view(batch, seq, hidden)


def quantize_rows(x):
    scale = x.abs().amax(dim=-1, keepdim=True).float() / FP8_MAX
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    q = (x.float() / scale).clamp(-FP8_MAX, FP8_MAX).to(torch.float8_e4m3fn)
    return q, scale.squeeze(-1)


def quantize_tensor(x):
    scale = x.abs().amax().float() / FP8_MAX
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    return (x.float() / scale).clamp(-FP8_MAX, FP8_MAX).to(torch.float8_e4m3fn), scale


# --- Triton: one pass, the row in registers; the number of warps is tuned for each size ---


def _configs():
    return [triton.Config({}, num_warps=w) for w in WARPS]


@triton.autotune(configs=_configs(), key=["HIDDEN", "HEAD"])
@triton.jit
def _rmsnorm_rope_kernel(x, weight, cos, sin, out, seq, eps, HIDDEN: tl.constexpr,
                         HEAD: tl.constexpr, HEADS: tl.constexpr, HEADS_PADDED: tl.constexpr):
    HALF: tl.constexpr = HEAD // 2
    row = tl.program_id(0).to(tl.int64)
    heads = tl.arange(0, HEADS_PADDED)[:, None]
    lanes = tl.arange(0, HALF)[None, :]
    first = heads * HEAD + lanes
    second = first + HALF
    inside = (heads < HEADS) & (lanes < HALF)
    base = x + row * HIDDEN
    x1 = tl.load(base + first, mask=inside, other=0.0).to(tl.float32)
    x2 = tl.load(base + second, mask=inside, other=0.0).to(tl.float32)
    w1 = tl.load(weight + first, mask=inside, other=0.0).to(tl.float32)
    w2 = tl.load(weight + second, mask=inside, other=0.0).to(tl.float32)
    table = (row % seq) * HEAD
    c1 = tl.load(cos + table + lanes).to(tl.float32)
    c2 = tl.load(cos + table + lanes + HALF).to(tl.float32)
    s1 = tl.load(sin + table + lanes).to(tl.float32)
    s2 = tl.load(sin + table + lanes + HALF).to(tl.float32)
    squares = tl.sum(tl.sum(x1 * x1 + x2 * x2, axis=1), axis=0)
    scale = tl.rsqrt(squares / HIDDEN + eps)
    y1 = x1 * scale * w1
    y2 = x2 * scale * w2
    to = out + row * HIDDEN
    tl.store(to + first, (y1 * c1 - y2 * s1).to(out.dtype.element_ty), mask=inside)
    tl.store(to + second, (y2 * c2 + y1 * s2).to(out.dtype.element_ty), mask=inside)


def triton_rmsnorm_rope(x, weight, cos, sin, out, eps=1e-6):
    batch, seq, hidden = x.shape
    head = cos.shape[-1]
    heads = hidden // head
    _rmsnorm_rope_kernel[(batch * seq,)](x, weight, cos, sin, out, seq, eps, HIDDEN=hidden,
                                         HEAD=head, HEADS=heads,
                                         HEADS_PADDED=triton.next_power_of_2(heads))
    return out


@triton.autotune(configs=_configs(), key=["COLS"])
@triton.jit
def _quantize_rows_kernel(x, q, scales, COLS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < COLS
    value = tl.load(x + row * COLS + at, mask=inside, other=0.0).to(tl.float32)
    largest = tl.max(tl.abs(value), axis=0)
    scale = tl.where(largest == 0, 1.0, largest / 448.0)
    tl.store(scales + row, scale)
    code = tl.clamp(value / scale, -448.0, 448.0).to(tl.float8e4nv)
    tl.store(q + row * COLS + at, code, mask=inside)


def triton_quantize_rows(x, q, scale):
    rows, cols = x.shape
    _quantize_rows_kernel[(rows,)](x, q, scale, COLS=cols, BLOCK=triton.next_power_of_2(cols))
    return q, scale


@triton.jit
def _largest_kernel(x, largest, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < count, other=0.0).to(tl.float32)
    tl.atomic_max(largest, tl.max(tl.abs(value), axis=0))


@triton.jit
def _quantize_tensor_kernel(x, q, largest, scale_out, count, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    top = tl.load(largest)
    scale = tl.where(top == 0, 1.0, top / 448.0)
    if block == 0:
        tl.store(scale_out, scale)
    value = tl.load(x + at, mask=at < count, other=0.0).to(tl.float32)
    tl.store(q + at, tl.clamp(value / scale, -448.0, 448.0).to(tl.float8e4nv), mask=at < count)


def triton_quantize_tensor(x, q, scale, largest):
    count = x.numel()
    block = 8192
    grid = (triton.cdiv(count, block),)
    largest.zero_()
    _largest_kernel[grid](x, largest, count, BLOCK=block, num_warps=8)
    _quantize_tensor_kernel[grid](x, q, largest, scale, count, BLOCK=block, num_warps=8)
    return q, scale
