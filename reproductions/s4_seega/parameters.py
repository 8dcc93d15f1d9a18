"""How many parameters a network of S4's kind has, counted by hand for many shapes at once: which of them has the printed number?

S4 prints 8,197,221 for the moving network (101 outputs: 100 steps and a value) and 5,251,217 for the positioning one (26 outputs:
25 cells and a value). Its text says "5 layers", "CNN", "512 filters with a kernel size 3" and "followed by two Dense layers".

The second number is odd, and no such network with 26 outputs has an odd number if its hidden layers have even numbers of neurons:
26 outputs on w neurons add 26 (w + 1), and every other layer adds a multiple of its own even width.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

MOVING, POSITIONING = 8_197_221, 5_251_217
SIZE, KERNEL, FILTERS = 5, 9, 512
WIDTHS = np.arange(16, 1025, 16)  # of a hidden layer


@dataclass(frozen=True)
class Shape:
    """Convolutions, of which the last `shrinking` shrink the board by two; whether convolutions and hidden layers have biases and
    batch norms."""

    convolutions: int
    shrinking: int
    biases: tuple[bool, bool]
    norms: tuple[bool, bool]

    @property
    def stem(self) -> int:
        """Parameters of all convolutions."""
        weights = KERNEL * FILTERS + (self.convolutions - 1) * KERNEL * FILTERS**2
        return weights + self.convolutions * FILTERS * (self.biases[0] + 4 * self.norms[0])

    @property
    def features(self) -> int:
        """What they hand on."""
        return FILTERS * (SIZE - 2 * self.shrinking) ** 2

    def hidden(self, before: Any, width: Any) -> Any:
        """Parameters of a hidden layer."""
        return before * width + width * (self.biases[1] + 4 * self.norms[1])

    def counts(self, outputs: int) -> dict[tuple[int, ...], int]:
        """Parameters with no, one or two hidden layers of every width, by their widths."""
        found: dict[tuple[int, ...], int] = {(): self.stem + (self.features + 1) * outputs}
        one = self.stem + self.hidden(self.features, WIDTHS)
        found |= {(int(w),): int(n) for w, n in zip(WIDTHS, one + (WIDTHS + 1) * outputs)}
        two = one[:, None] + self.hidden(WIDTHS[:, None], WIDTHS[None, :]) + (WIDTHS + 1) * outputs
        found |= {(int(WIDTHS[i]), int(WIDTHS[j])): int(n) for (i, j), n in np.ndenumerate(two)}
        return found


def shapes() -> list[Shape]:
    """Two to five convolutions, none to two of them shrinking, with and without biases and batch norms."""
    truths = (False, True)
    switches = [((a, b), (c, d)) for a in truths for b in truths for c in truths for d in truths]
    return [Shape(n, shrinking, *how) for n in range(2, 6) for shrinking in range(3) for how in switches]


def search(wanted: int, outputs: int) -> dict[str, Any]:
    """How many networks were counted, how many have an odd number of parameters, and which have the number that is wanted."""
    tried = odd = 0
    same = []
    for shape in shapes():
        for widths, number in shape.counts(outputs).items():
            tried, odd = tried + 1, odd + number % 2
            if number == wanted:
                same.append({"convolutions": shape.convolutions, "shrinking": shape.shrinking, "hidden": list(widths),
                             "biases": list(shape.biases), "norms": list(shape.norms)})  # fmt: skip
    return {"outputs": outputs, "tried": tried, "odd": odd, "same": same}
