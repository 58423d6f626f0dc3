# SPDX-License-Identifier: MIT
# tests/unit/dtype_oracle.py: what conversions must yield, by numpy and ml_dtypes (rule `ieee`).
"""usage: dtype_oracle.py FIXTURE

Writes records `from[8] to[8] count:u64 source codes, expected codes` (little endian, dtype words
padded with zeros). dtype_test.cpp reads them through NEREID_DTYPE_FIXTURE.

Sources are exhaustive for 8 and 16 bits. From f32 and f64 they are every midpoint between
neighbouring values of the target, the two floats around it, every value itself, and specials.
ml_dtypes takes f64 through f32 (two roundings); there the expectation is a search in the sorted
values of the target, which needs no rounding of its own.
"""
import struct
import sys

try:
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    sys.exit(f"dtype_oracle.py: {missing}; install numpy and ml_dtypes (./run setup does)")

TYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "e8m0": ml_dtypes.float8_e8m0fnu, "e2m1": ml_dtypes.float4_e2m1fn,
    "i8": np.int8, "u8": np.uint8, "i32": np.int32,
}
INTEGERS = ("i8", "u8", "i32")
SMALL = [word for word in TYPES if word not in ("f64", "f32", "i32")]
CODES = {8: np.uint64, 4: np.uint32, 2: np.uint16, 1: np.uint8}


def code_type(word):
    return CODES[np.dtype(TYPES[word]).itemsize]


def all_codes(word):
    bits = 4 if word == "e2m1" else 8 * np.dtype(TYPES[word]).itemsize
    return np.arange(2**bits, dtype=code_type(word))


def values_of(codes, word):
    return codes.view(TYPES[word]).astype(np.float64)


def finite_values(word):
    """The finite values of a small float in increasing order, +0 once, and their codes."""
    codes = all_codes(word)
    values = values_of(codes, word)
    keep = np.isfinite(values) & ~((values == 0) & np.signbit(values))
    order = np.argsort(values[keep])
    return values[keep][order], codes[keep][order]


def to_integer(values, word):
    limits = np.iinfo(TYPES[word])
    rounded = np.clip(np.rint(np.nan_to_num(values, nan=0.0)), limits.min, limits.max)
    return rounded.astype(TYPES[word]).view(code_type(word))


def by_cast(source, word):
    """numpy's or ml_dtypes' own cast; pairs that have none go through f32, which is exact."""
    try:
        return source.astype(TYPES[word]).view(code_type(word))
    except TypeError:
        return source.astype(np.float32).astype(TYPES[word]).view(code_type(word))


def by_search(values, word):
    """The nearest code of f64 values, a tie to the even one. The value after the largest, which
    the format lacks, stands for everything that overflows; ml_dtypes names its code."""
    table, codes = finite_values(word)
    even = codes % 2 == 0
    after = 2 * table[-1] - table[-2] if word != "e8m0" else 2 * table[-1]
    table, even = np.append(table, after), np.append(even, ~even[-1])
    codes = np.append(codes, by_cast(np.float64([np.inf]), word))
    if table[0] < 0:
        table, even = np.append(-after, table), np.append(even[-1], even)
        codes = np.append(by_cast(np.float64([-np.inf]), word), codes)
    inside = np.clip(np.nan_to_num(values, nan=1.0), table[0], table[-1])
    high = np.clip(np.searchsorted(table, inside), 1, len(table) - 1)
    middle = table[high - 1] / 2 + table[high] / 2  # exact: no format here has over 11 digits
    up = (inside > middle) | ((inside == middle) & (even[high] | (word == "e8m0")))
    result = np.where(up, codes[high], codes[high - 1])
    if word == "e8m0":  # no sign, no zero, and ml_dtypes rounds up between the two smallest
        result = np.where((values > table[0]) & (values < table[1]), codes[1], result)
        result = np.where(values <= 0, codes[-1], result)
    else:
        minus_zero = by_cast(np.float64([-0.0]), word)
        result = np.where((result == 0) & np.signbit(values), minus_zero, result)
    special = by_cast(values, word)
    return np.where(np.isnan(values), special, result).astype(code_type(word))


def boundaries(word, real):
    """f32 or f64 sources around every rounding boundary of a target."""
    if word in INTEGERS:
        limits = np.iinfo(TYPES[word])
        ends = np.array([limits.min, limits.max], np.float64)
        table = np.unique(np.concatenate([np.arange(-300.0, 300.0), ends, ends - 1, ends + 1]))
    else:
        table, _ = finite_values(word)
        step = table[-1] - table[-2]
        table = np.concatenate([table, [table[-1] + step, table[-1] + 2 * step]])
        if word != "e8m0":
            table = np.concatenate([[-table[-1]], table])
    middles = table[:-1] / 2 + table[1:] / 2
    points = np.concatenate([table, middles]).astype(real)
    infinity = real(np.inf)
    above, below = np.nextafter(points, infinity), np.nextafter(points, -infinity)
    return np.concatenate([points, above, below, specials(real)])


def specials(real):
    limits = np.finfo(real)
    values = [0.0, -0.0, np.inf, np.nan, limits.max, limits.tiny, limits.smallest_subnormal,
              1.0, 2.0**-127, 1.25 * 2.0**-127, 1e30, 1e-30]
    positive = np.array(values, real)
    return np.concatenate([positive, -positive])


def f64_to_f32_sources():
    rng = np.random.default_rng(20240229)
    low = rng.integers(0, 0x7F7FFFFF, 20000, dtype=np.uint32)
    table = np.concatenate([low, np.arange(64, dtype=np.uint32), np.uint32([0x7F7FFFFE, 0x7FFFFF])])
    neighbours = table.view(np.float32).astype(np.float64), (table + 1).view(np.float32)
    middles = (neighbours[0] + neighbours[1].astype(np.float64)) / 2
    points = np.concatenate([middles, np.nextafter(middles, np.inf), np.nextafter(middles, 0)])
    points = np.concatenate([points, -points, specials(np.float64)])
    return points


def expected(source, source_word, word):
    if source_word in INTEGERS and word in INTEGERS:
        limits = np.iinfo(TYPES[word])
        clipped = np.clip(source.astype(np.int64), limits.min, limits.max)
        return clipped.astype(TYPES[word]).view(code_type(word))
    if word in INTEGERS:
        return to_integer(source.astype(np.float64), word)
    if source_word in ("f64", "i32") and word not in ("f64", "f32"):
        return by_search(source.astype(np.float64), word)
    return by_cast(source, word)


def records():
    for source_word in SMALL:
        source = all_codes(source_word).view(TYPES[source_word])
        for word in TYPES:
            yield source_word, word, source
    for source_word, real in (("f32", np.float32), ("f64", np.float64)):
        for word in SMALL + ["i32"]:
            yield source_word, word, boundaries(word, real)
    yield "f32", "f64", np.concatenate([boundaries("bf16", np.float32), specials(np.float32)])
    yield "f64", "f32", f64_to_f32_sources()
    powers = 2 ** np.arange(31)
    odd = [2**31 - 1, -(2**31), 2**24 + 1, 2**24 + 3, 2**30 + 2**22 + 1]
    parts = [np.arange(-5000, 5000), powers - 1, powers, powers + 1, -powers, odd]
    integers = np.unique(np.concatenate(parts)).astype(np.int32)
    for word in TYPES:
        yield "i32", word, integers


def main():
    np.seterr(all="ignore")
    with open(sys.argv[1], "wb") as out:
        for source_word, word, source in records():
            codes = expected(source, source_word, word)
            assert codes.shape == source.shape, (source_word, word)
            out.write(struct.pack("<8s8sQ", source_word.encode(), word.encode(), source.size))
            out.write(source.tobytes())
            out.write(codes.tobytes())


if __name__ == "__main__":
    main()
