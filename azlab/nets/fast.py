"""A copy of a residual net that computes the same function with less work. docs/networks.md has the measured gains.

Three changes, all exact but for rounding: each batch norm is folded into the convolution before it; the heads, which have no
activation inside, become one matrix for all outputs; and the numbers of one cell lie side by side (channels last), which is how
the convolutions of CPUs and of GPUs in half precision like to read them.
"""

import copy

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from azlab.nets.residual import Block, Head, ResidualNet


class FastNet(nn.Module):
    """The policy and result logits of a `ResidualNet` in one array [B, A + 3], from a frozen copy of its weights."""

    def __init__(self, net: ResidualNet) -> None:
        super().__init__()
        net = copy.deepcopy(net).cpu().float().eval().requires_grad_(False)
        self.stem = fuse_conv_bn_eval(net.stem, net.stem_norm)
        self.adapter = net.adapter
        self.blocks = nn.Sequential(*(fold(block) for block in net.blocks))
        self.heads = _one_matrix([net.policy, net.result])
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def rounded(self) -> "FastNet":
        """Itself with convolutions in bfloat16; the heads stay as they are, so that their logits keep all digits."""
        for part in (self.stem, self.adapter, self.blocks):
            part.bfloat16()
        return self

    def forward(self, planes: Tensor) -> Tensor:
        first = planes.to(self.stem.weight.dtype, memory_format=torch.channels_last)
        x = self.blocks(self.adapter(torch.relu_(self.stem(first))))
        return self.heads(x.permute(0, 2, 3, 1).flatten(1).to(self.heads.weight.dtype))


class _FoldedBlock(nn.Module):
    """A residual block without batch norms; adds and cuts in place."""

    def __init__(self, conv1: nn.Module, conv2: nn.Module, squeeze: nn.Module) -> None:
        super().__init__()
        self.conv1, self.conv2, self.squeeze = conv1, conv2, squeeze

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu_(self.squeeze(self.conv2(torch.relu_(self.conv1(x)))).add_(x))


def fold(block: Block) -> nn.Module:
    """The block with its batch norms folded into its convolutions."""
    conv1, conv2 = fuse_conv_bn_eval(block.conv1, block.norm1), fuse_conv_bn_eval(block.conv2, block.norm2)
    return _FoldedBlock(conv1, conv2, block.squeeze)


def _one_matrix(heads: list[Head]) -> nn.Linear:
    """Several heads as one layer on the trunk's output with channels last.

    A head applies a convolution K and then a matrix M. The rows of M K are the rows of M moved backwards through K, which is what
    a transposed convolution does.
    """
    weights, biases = [], []
    for head in heads:
        conv, linear = head.conv.double(), head.linear.double()  # rounding is left to the end
        rows = linear.weight.view(linear.out_features, conv.out_channels, *head.board)  # M as pictures [O, head, H, W]
        moved = functional.conv_transpose2d(rows, conv.weight, padding=1)  # [O, filters, H, W]
        weights.append(moved.permute(0, 2, 3, 1).flatten(1))
        biases.append(linear.bias + rows.sum(dim=(2, 3)) @ conv.bias)
    weight, bias = torch.cat(weights).float(), torch.cat(biases).float()
    layer = nn.Linear(weight.shape[1], weight.shape[0]).requires_grad_(False)
    layer.weight.data, layer.bias.data = weight.contiguous(), bias
    return layer
