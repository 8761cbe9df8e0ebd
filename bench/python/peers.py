# SPDX-License-Identifier: Apache-2.0
"""taproot.torch against torch-struct 0.5 and against plain PyTorch (slogdet, and its gradient by autograd), on one
machine in one run.

Answers are compared before anything is timed. Needs torch and torch-struct (pip install --no-deps torch-struct). Where
there is a CUDA device, ``peers_cuda.py`` follows.
"""

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

import taproot
import taproot.torch

warnings.filterwarnings("ignore", module="torch_struct")
warnings.filterwarnings("ignore", message=".*arg_constraints.*")
from torch_struct import NonProjectiveDependencyCRF  # noqa: E402

SIZES = [(10, 256), (25, 128), (50, 64), (100, 32)]
ROUNDS, CALLS = 5, 15


def without_root(scores: Tensor) -> Tensor:
    """[B, n, n] with the ROOT edges on the diagonal: torch-struct's layout."""
    inner = scores[:, 1:, 1:].clone()
    n = inner.shape[-1]
    inner[:, range(n), range(n)] = scores[:, 0, 1:]
    return inner


def by_determinant(scores: Tensor) -> Tensor:
    """log Z, single-root (Koo et al. 2007): the Laplacian of the word edges, its first row the ROOT edges."""
    weights = torch.exp(scores[:, 1:, 1:])
    weights = weights * (1 - torch.eye(weights.shape[-1], dtype=scores.dtype))
    laplacian = torch.diag_embed(weights.sum(1)) - weights
    laplacian = torch.cat([torch.exp(scores[:, :1, 1:]), laplacian[:, 1:]], 1)
    return torch.linalg.slogdet(laplacian)[1]


def gradient(function: Callable[[Tensor], Tensor], scores: Tensor) -> Tensor:
    leaf = scores.detach().requires_grad_()
    function(leaf).sum().backward()
    assert leaf.grad is not None
    return leaf.grad


def times_of(functions: list[Callable[[], object]]) -> list[float]:
    """Median milliseconds, taking turns by blocks: PyTorch's threads keep a core busy for a while after their work."""
    taken: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for times, function in zip(taken, functions):
            time.sleep(0.3)
            for _ in range(3):
                function()
            for _ in range(CALLS):
                start = time.perf_counter()
                function()
                times.append(1000 * (time.perf_counter() - start))
    return [statistics.median(times) for times in taken]


def main() -> None:
    threads = taproot.get_num_threads()
    torch.set_num_threads(threads)
    print(f"torch {torch.__version__}, torch-struct 0.5, {threads} threads; ms, medians of {ROUNDS * CALLS};", end=" ")
    print("in brackets: times slower than taproot\n")
    print("| task | n | B | taproot | torch-struct, float32 | plain torch, float64 | largest difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for n, batch in SIZES:
        scores = torch.tensor(np.random.default_rng(n).normal(size=(batch, n + 1, n + 1)))
        theirs = without_root(scores).float()
        tasks: list[tuple[str, list[Callable[[], Tensor]]]] = [
            (
                "log-partition",
                [
                    lambda: taproot.torch.log_partition(scores),
                    lambda: NonProjectiveDependencyCRF(theirs).partition,
                    lambda: by_determinant(scores),
                ],
            ),
            (
                "log-partition and its gradient",
                [
                    lambda: without_root(gradient(taproot.torch.log_partition, scores)),
                    lambda: NonProjectiveDependencyCRF(theirs).marginals,
                    lambda: without_root(gradient(by_determinant, scores)),
                ],
            ),
        ]
        for name, functions in tasks:
            answers = [f().detach().double() for f in functions]
            apart = [float((a - answers[0]).abs().max() / answers[0].abs().max()) for a in answers]
            assert apart[1] < 1e-4 and apart[2] < 1e-9, (name, n, apart)
            ours, struct, plain = times_of(list(functions))
            row = [
                name,
                n,
                batch,
                f"{ours:.3f}",
                f"{struct:.2f} ({struct / ours:.1f})",
                f"{plain:.2f} ({plain / ours:.1f})",
            ]
            print("| " + " | ".join(map(str, row)) + f" | {apart[1]:.0e}, {apart[2]:.0e} |")


if __name__ == "__main__":
    main()
    if taproot.cuda_available() and torch.cuda.is_available():
        import peers_cuda

        peers_cuda.main()
