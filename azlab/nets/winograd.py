"""Residual nets on a CPU, compiled by Numba: Winograd's convolution, cut to the size of the board. See docs/networks.md.

A 3x3 convolution of a row of m cells is the product of two polynomials, and a product of degree m + 1 is known by its values at
m + 2 points (Toom and Cook; Winograd for nets). So: transform the board (B), multiply at each point, transform back (A); the
weights are transformed once (G). A 6x7 board has 8x9 points, and 72 products instead of 42 * 9 = 378. Libraries use tiles of 4x4
and need wide vectors for it; a board that is one tile wastes nothing.

All arrays have the positions of a batch last, [..., n], and everything is one operation, y = coefficients @ x: `mix` where there
are few coefficients, the BLAS where there are many. Each thread takes positions of its own, so none waits for another. Torch's
threads meet after every layer: with a second program on the machine they get many times slower, and these do not.
"""

import functools
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
from torch import nn

from azlab.games.kernel import kernel
from azlab.nets.fast import FastNet
from azlab.nets.threads import cores

POINTS = [Fraction(*point) for point in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2), (3, 1))]  # and infinity
LONGEST = len(POINTS) - 1  # cells of a tile; with more points the rounding errors grow
POSITIONS = 64  # worked on together, so that what lies between two layers stays near the core, and the BLAS starts no threads

# "contract" lets a product and a sum become one instruction; positions never mix, so no order of sums changes with the batch
fast_kernel = functools.partial(kernel, fastmath={"contract", "nsz"})


@fast_kernel
def _mix_two(y0, y1, x0, x1, x2, x3, a, b, first):
    """Add four rows of x, times the coefficients a and b, to two rows of y."""
    a0, a1, a2, a3 = a
    b0, b1, b2, b3 = b
    if first:
        for i in range(len(y0)):
            y0[i] = a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i]
            y1[i] = b0 * x0[i] + b1 * x1[i] + b2 * x2[i] + b3 * x3[i]
    else:
        for i in range(len(y0)):
            y0[i] += a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i]
            y1[i] += b0 * x0[i] + b1 * x1[i] + b2 * x2[i] + b3 * x3[i]


@fast_kernel
def _mix_one(y0, x0, x1, x2, x3, a, first):
    a0, a1, a2, a3 = a
    if first:
        for i in range(len(y0)):
            y0[i] = a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i]
    else:
        for i in range(len(y0)):
            y0[i] += a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i]


@fast_kernel
def mix(coefficients, x, y):
    """y [M, L] = coefficients [M, K] @ x [k, L]; K is k rounded up to a multiple of 4, filled with zeros."""
    last = len(x) - 1
    for k in range(0, coefficients.shape[1], 4):
        x0, x1, x2, x3 = x[k], x[min(k + 1, last)], x[min(k + 2, last)], x[min(k + 3, last)]
        for m in range(0, len(y) - 1, 2):
            a = coefficients[m, k], coefficients[m, k + 1], coefficients[m, k + 2], coefficients[m, k + 3]
            b = coefficients[m + 1, k], coefficients[m + 1, k + 1], coefficients[m + 1, k + 2], coefficients[m + 1, k + 3]
            _mix_two(y[m], y[m + 1], x0, x1, x2, x3, a, b, k == 0)
        if len(y) % 2:
            m = len(y) - 1
            a = coefficients[m, k], coefficients[m, k + 1], coefficients[m, k + 2], coefficients[m, k + 3]
            _mix_one(y[m], x0, x1, x2, x3, a, k == 0)


@fast_kernel
def _convolve(x, weights, rows, cols, rows_back, cols_back, y):
    """y = 3x3 convolution of x, both [H, W, C, n]; weights [P, Q, C, C]; rows [P, H] and cols [Q, W] are B, the other two A."""
    height, width, channels, n = x.shape
    points = weights.shape[1]
    line = np.empty((1, width * channels * n), np.float32)
    spread = np.empty((points, channels * n), np.float32)
    product = np.empty((points, channels * n), np.float32)
    back = np.empty((len(weights), width, channels * n), np.float32)
    for p in range(len(weights)):
        mix(rows[p : p + 1], x.reshape(height, width * channels * n), line)
        mix(cols, line.reshape(width, channels * n), spread)
        for q in range(points):
            np.dot(weights[p, q], spread[q].reshape(channels, n), product[q].reshape(channels, n))
        mix(cols_back, product, back[p])
    mix(rows_back, back.reshape(len(weights), width * channels * n), y.reshape(height, width * channels * n))


@fast_kernel
def _add_bias(x, bias):
    """Add bias [C] to x [cells, C, n] and cut at zero."""
    for cell in range(len(x)):
        for c in range(x.shape[1]):
            row = x[cell, c]
            for i in range(len(row)):
                row[i] = max(row[i] + bias[c], np.float32(0))


@fast_kernel
def _add_residual(x, bias, scale, residual):
    """x [cells, C, n] becomes relu(residual + scale * (x + bias)); scale [C, n]."""
    for cell in range(len(x)):
        for c in range(x.shape[1]):
            row, times, more = x[cell, c], scale[c], residual[cell, c]
            for i in range(len(row)):
                row[i] = max(more[i] + times[i] * (row[i] + bias[c]), np.float32(0))


@fast_kernel
def _squeeze(x, bias, down, up, neurons, scale):
    """The squeeze-and-excitation factors [C, n] of x + bias [cells, C, n]; ones without neurons."""
    scale[:] = 1
    if neurons:
        mean = np.zeros(scale.shape, np.float32)
        for cell in range(len(x)):
            mean += x[cell]
        for c in range(len(mean)):
            mean[c] = mean[c] / np.float32(len(x)) + bias[c]
        middle = np.empty((neurons, x.shape[2]), np.float32)
        mix(down, mean, middle)
        mix(up, np.maximum(middle, np.float32(0)), scale)
        scale[:] = np.float32(1) / (np.float32(1) + np.exp(-scale))


@fast_kernel
def _around(planes, patches):
    """The 3x3 surroundings of each cell: planes [n, channels, H, W] -> patches [H*W, channels*9, n]."""
    n, channels, height, width = planes.shape
    patches[:] = 0
    for cell in range(height * width):
        for k in range(channels * 9):
            row, col = cell // width + k % 9 // 3 - 1, cell % width + k % 3 - 1
            if 0 <= row < height and 0 <= col < width:
                for i in range(n):
                    patches[cell, k, i] = planes[i, k // 9, row, col]


@fast_kernel
def _forward(
    planes,
    stem,
    stem_bias,
    adapter,
    adapter_bias,
    has_adapter,
    weights,
    biases,
    down,
    up,
    neurons,
    matrices,
    heads,
    heads_bias,
    out,
):
    """out [n, A + 3] for planes [n, channels, H, W]; the rest is what `WinogradNet` prepares."""
    n, channels, height, width = planes.shape
    cells, filters = height * width, weights.shape[3]
    rows, cols, rows_back, cols_back = matrices
    patches = np.empty((cells, channels * 9, n), np.float32)
    first = np.empty((cells, len(stem), n), np.float32)
    x = np.empty((cells, filters, n), np.float32)
    y, z = np.empty_like(x), np.empty_like(x)
    scale = np.empty((filters, n), np.float32)
    board = (height, width, filters, n)
    _around(planes, patches)
    for cell in range(cells):
        mix(stem, patches[cell], first[cell])
    _add_bias(first, stem_bias)
    for cell in range(cells):
        if has_adapter:
            mix(adapter, first[cell], x[cell])
            for c in range(filters):
                x[cell, c] += adapter_bias[c]
        else:
            x[cell] = first[cell]
    for k in range(0, len(weights), 2):
        _convolve(x.reshape(board), weights[k], rows, cols, rows_back, cols_back, y.reshape(board))
        _add_bias(y, biases[k])
        _convolve(y.reshape(board), weights[k + 1], rows, cols, rows_back, cols_back, z.reshape(board))
        _squeeze(z, biases[k + 1], down[k // 2], up[k // 2], neurons, scale)
        _add_residual(z, biases[k + 1], scale, x)
        x, z = z, x
    outputs = np.empty((len(heads), n), np.float32)
    mix(heads, x.reshape(cells * filters, n), outputs)
    for i in range(n):
        for a in range(len(heads)):
            out[i, a] = outputs[a, i] + heads_bias[a]


def tile(length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrices of `length` outputs of a 3-wide filter: A [length, P], G [P, 3], B [P, length + 2], P = length + 2."""
    points = POINTS[: length + 1]
    a = [[point**i for point in points] + [Fraction(int(i == length - 1))] for i in range(length)]
    g, b = [], []
    whole = [Fraction(1)]  # the coefficients of (x - p0)(x - p1)..., lowest first
    for point in points:
        whole = _times(whole, point)
        others = [other for other in points if other != point]
        scale, polynomial = Fraction(1), [Fraction(1)]
        for other in others:
            scale *= point - other
            polynomial = _times(polynomial, other)
        g.append([point**k / scale for k in range(3)])
        b.append([*polynomial, Fraction(0)])
    g.append([Fraction(0), Fraction(0), Fraction(1)])
    b.append(whole)
    return np.array(a, float), np.array(g, float), np.array(b, float)


def _times(polynomial: list[Fraction], root: Fraction) -> list[Fraction]:
    """polynomial * (x - root)."""
    return [high - root * low for high, low in zip([Fraction(0), *polynomial], [*polynomial, Fraction(0)])]


def line_matrices(length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, G and B for a line of the board, of several tiles if it is long; B [P, length] leaves out the zeros beyond its ends."""
    count = -(-length // LONGEST)
    sizes = [length // count + (k < length % count) for k in range(count)]
    points = length + 2 * count
    a, g, b = np.zeros((length, points)), np.zeros((points, 3)), np.zeros((points, length + 2))
    cell = point = 0
    for size in sizes:
        tile_a, tile_g, tile_b = tile(size)
        here = slice(point, point + size + 2)
        a[cell : cell + size, here], g[here], b[here, cell : cell + size + 2] = tile_a, tile_g, tile_b
        cell, point = cell + size, point + size + 2
    return a, g, b[:, 1:-1]


def _in_fours(coefficients: np.ndarray) -> np.ndarray:
    """Coefficients [..., M, K] as `mix` takes them."""
    missing = -coefficients.shape[-1] % 4
    padded = np.pad(coefficients, [(0, 0)] * (coefficients.ndim - 1) + [(0, missing)])
    return np.ascontiguousarray(padded, np.float32)


class WinogradNet:
    """The logits [B, A + 3] of a `FastNet` on a CPU, without torch; takes float32 planes [B, channels, H, W] as numpy."""

    def __init__(self, net: FastNet, rows: int, cols: int, threads: int | None = None) -> None:
        row_a, row_g, row_b = line_matrices(rows)
        col_a, col_g, col_b = line_matrices(cols)
        convolutions = [conv for block in net.blocks for conv in (block.conv1, block.conv2)]
        kernels = np.stack([conv.weight.numpy() for conv in convolutions]).astype(float)  # [2 * blocks, out, in, 3, 3]
        squeezes = [block.squeeze for block in net.blocks if not isinstance(block.squeeze, nn.Identity)]
        has_adapter = not isinstance(net.adapter, nn.Identity)
        blocks, filters = len(kernels) // 2, kernels.shape[1]
        self._numbers = (
            _in_fours(net.stem.weight.numpy().reshape(net.stem.out_channels, -1)),
            net.stem.bias.numpy(),
            _in_fours(net.adapter.weight.numpy()[:, :, 0, 0] if has_adapter else np.zeros((1, 4))),
            net.adapter.bias.numpy() if has_adapter else np.zeros(1, np.float32),
            has_adapter,
            np.ascontiguousarray(np.einsum("pi,qj,kocij->kpqoc", row_g, col_g, kernels), np.float32),
            np.stack([conv.bias.numpy() for conv in convolutions]),
            _in_fours(np.stack([s.down.weight.numpy() for s in squeezes]) if squeezes else np.zeros((blocks, 1, filters))),
            _in_fours(np.stack([s.up.weight.numpy() for s in squeezes]) if squeezes else np.zeros((blocks, filters, 1))),
            squeezes[0].down.out_features if squeezes else 0,
            (_in_fours(row_b), _in_fours(col_b), _in_fours(row_a), _in_fours(col_a)),
            _in_fours(net.heads.weight.numpy()),
            net.heads.bias.numpy(),
        )
        self.outputs = net.heads.out_features
        self.threads = threads or cores()
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        out = np.empty((len(planes), self.outputs), np.float32)
        size = max(1, min(POSITIONS, -(-len(planes) // self.threads)))
        starts = range(0, len(planes), size)

        def work(first: int) -> None:
            for start in starts[first :: self.threads]:
                _forward(planes[start : start + size], *self._numbers, out[start : start + size])

        others = [self._pool.submit(work, first) for first in range(1, self.threads)] if self._pool else []
        work(0)
        for other in others:
            other.result()
        return out
