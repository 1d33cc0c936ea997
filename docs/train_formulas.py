"""A network of three formulas, trained beside the same network in plain torch.

    python docs/train_formulas.py                 about a minute
    python docs/train_formulas.py --length 64 --steps 5

- Windowed attention: each position looks at WINDOW positions before and after it, itself included.
- Distances: each of CENTRES centres answers by its distance from the position's features.
- A low-rank update: the output's weights are a fixed matrix and a trained product of two thin ones.

Both networks begin with the same parameters and see the same data, so their losses agree.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

import torch

import einderive as ed

BATCH, WIDTH, WINDOW, CENTRES, RANK = 4, 32, 8, 64, 4
ATTENTION = """
S[b,t,w] = sum[c](Q[b,t,c]*K[b,t+w-8,c])/6 where w in 0:17
P[b,t,w] = softmax[w](S[b,t,w])
Y[b,t,e] = P[b,t,w]*V[b,t+w-8,e]
"""
DISTANCES = "Z[b,t,o] = exp(-sum[c]((Y[b,t,c] - C[o,c])^2)/32)"
UPDATE = "O[b,t,j] = sum[o](Z[b,t,o]*(W[j,o] + sum[r](U[j,r]*L[r,o])))"


class Plain(torch.nn.Module):
    """The network as one would write it in torch."""

    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.C = torch.nn.Parameter(torch.randn(CENTRES, WIDTH))
        self.U = torch.nn.Parameter(torch.randn(WIDTH, RANK) / 8)
        self.L = torch.nn.Parameter(torch.randn(RANK, CENTRES) / 8)
        self.register_buffer("W", torch.randn(WIDTH, CENTRES) / 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.project(x).chunk(3, -1)
        return self.update(self.distances(self.attention(q, k, v)))

    def attention(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        pad = (0, 0, WINDOW, WINDOW)
        k, v = (torch.nn.functional.pad(each, pad).unfold(1, 2 * WINDOW + 1, 1) for each in (k, v))
        p = torch.softmax(torch.einsum("btc,btcw->btw", q, k) / 6, -1)
        return torch.einsum("btw,btew->bte", p, v)

    def distances(self, y: torch.Tensor) -> torch.Tensor:
        return torch.exp(-(y[:, :, None] - self.C).square().sum(-1) / 32)

    def update(self, z: torch.Tensor) -> torch.Tensor:
        return z @ (self.W + self.U @ self.L).T


class Formulas(Plain):
    """The same network; its three layers are formulas."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__()
        self.layers = [
            ed.nn.Formula(text, options=options) for text in (ATTENTION, DISTANCES, UPDATE)
        ]

    def attention(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return self.layers[0](Q=q, K=k, V=v)

    def distances(self, y: torch.Tensor) -> torch.Tensor:
        return self.layers[1](Y=y, C=self.C)

    def update(self, z: torch.Tensor) -> torch.Tensor:
        return self.layers[2](Z=z, W=self.W, U=self.U, L=self.L)


def train(network: Plain, steps: int, length: int) -> tuple[list[float], float]:
    """The losses, and the seconds of a step: the shortest one, as other programs may run too."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(BATCH, length, WIDTH, generator=generator)
    target = x.roll(1, 1).sin()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    losses, seconds = [], []
    for _ in range(steps):
        started = time.perf_counter()
        optimizer.zero_grad()
        loss = (network(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - started)
        losses.append(loss.item())
    return losses, min(seconds)


def main(steps: int, length: int, options: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Train both, print their losses and times, and give the losses."""
    torch.manual_seed(0)
    plain, formulas = Plain(), Formulas(options)
    formulas.load_state_dict(plain.state_dict())
    ours, ours_seconds = train(formulas, steps, length)
    theirs, theirs_seconds = train(plain, steps, length)
    print(f"{'step':>5} {'torch':>10} {'formulas':>10}")
    for step in range(0, steps, max(1, steps // 8)):
        print(f"{step:>5} {theirs[step]:>10.6f} {ours[step]:>10.6f}")
    print(f"a step of torch {1e3 * theirs_seconds:.1f} ms, of formulas {1e3 * ours_seconds:.1f} ms")
    return theirs, ours


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--length", type=int, default=512)
    given = parser.parse_args()
    main(given.steps, given.length, {})
