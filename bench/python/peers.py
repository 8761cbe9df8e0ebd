# SPDX-License-Identifier: Apache-2.0
"""taproot.torch against torch-struct 0.5 and against plain PyTorch (slogdet, and its gradient by autograd), on one
machine in one run; and for projective trees, which plain PyTorch does not have, against torch-struct and SynJax.

Answers are compared before anything is timed. Needs torch and torch-struct (pip install --no-deps torch-struct). JAX
and SynJax (its source on PYTHONPATH) are optional. Where there is a CUDA device, ``peers_cuda.py`` follows.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

import taproot
import taproot.torch

warnings.filterwarnings("ignore", module="torch_struct")
warnings.filterwarnings("ignore", message=".*arg_constraints.*")
from torch_struct import DependencyCRF, NonProjectiveDependencyCRF  # noqa: E402

SIZES = [(10, 256), (25, 128), (50, 64), (100, 32)]
PROJECTIVE_SIZES = [(10, 256), (25, 128), (50, 32)]
ROUNDS, CALLS = 5, 15
WARM_SECONDS = 0.03  # A processor that has slept is slow at first, for longer than 15 of the shortest calls take.


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


def times_of(functions: list[Callable[[], object]], rounds: int = ROUNDS, most_seconds: float = 1.0) -> list[float]:
    """Median milliseconds, taking turns by blocks: PyTorch's threads keep a core busy for a while after their work."""
    taken: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for times, function in zip(taken, functions):
            time.sleep(0.3)
            start = time.perf_counter()
            function()
            first = time.perf_counter() - start
            calls = max(1, min(CALLS, int(most_seconds / first)))
            while calls == CALLS and time.perf_counter() - start < WARM_SECONDS:
                function()
            for _ in range(calls):
                start = time.perf_counter()
                function()
                times.append(1000 * (time.perf_counter() - start))
    return [statistics.median(times) for times in taken]


class Nothing(torch.autograd.Function):
    """What PyTorch takes for a step of any function from scores to numbers per sentence."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        ctx.save_for_backward(torch.empty_like(scores))
        return scores.new_empty(scores.shape[:-2])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return ctx.saved_tensors[0]


def main() -> None:
    threads = taproot.get_num_threads()
    torch.set_num_threads(threads)
    print(f"torch {torch.__version__}, torch-struct 0.5, {threads} threads; ms, medians of {ROUNDS * CALLS};", end=" ")
    print("in brackets: times slower than taproot\n")
    print("The floor is a gradient through a function that does nothing.\n")
    print("| task | n | B | taproot | torch-struct, float32 | plain torch, float64 | floor | largest difference |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
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
                    lambda: gradient(taproot.torch.log_partition, scores),
                    lambda: NonProjectiveDependencyCRF(theirs).marginals,
                    lambda: gradient(by_determinant, scores),
                ],
            ),
        ]
        for name, functions in tasks:
            answers = [f().detach().double() for f in functions]
            if answers[0].ndim == 3:  # In the layout of torch-struct, which is not part of what is timed.
                answers = [without_root(answers[0]), answers[1], without_root(answers[2])]
            apart = [float((a - answers[0]).abs().max() / answers[0].abs().max()) for a in answers]
            assert apart[1] < 1e-4 and apart[2] < 1e-9, (name, n, apart)
            is_gradient = answers[0].ndim == 3
            floor: Callable[[], Tensor] = lambda: gradient(Nothing.apply, scores)  # noqa: B023, E731
            ours, struct, plain, *floors = times_of([*functions, floor] if is_gradient else list(functions))
            row = [
                name,
                n,
                batch,
                f"{ours:.3f}",
                f"{struct:.2f} ({struct / ours:.1f})",
                f"{plain:.2f} ({plain / ours:.1f})",
                f"{floors[0]:.3f}" if floors else "",
            ]
            print("| " + " | ".join(map(str, row)) + f" | {apart[1]:.0e}, {apart[2]:.0e} |")


def short_batch(n: int = 25, batch: int = 1024) -> None:
    """A batch of short sentences on one thread; bench_lanes has the time of one sentence again and again."""
    taproot.set_num_threads(1)
    scores = np.random.default_rng(0).normal(size=(batch, n + 1, n + 1))
    tasks: list[tuple[str, Callable[[taproot.DependencyTrees], Any]]] = [
        ("log-partition", lambda d: d.log_partition()),
        ("marginals", lambda d: d.marginals()),
    ]
    print(f"\n{batch} sentences of {n} words, one thread, us per sentence (median, fastest call):\n")
    for name, ask in tasks:
        assert np.array_equal(ask(taproot.DependencyTrees(scores))[0], ask(taproot.DependencyTrees(scores[0])))
        taken = []
        for _ in range(300):
            start = time.perf_counter()
            ask(taproot.DependencyTrees(scores, copy=False))
            taken.append(1e6 * (time.perf_counter() - start) / batch)
        print(f"{name}: {statistics.median(taken):.2f}, {min(taken):.2f}")


def synjax(gradient_too: bool) -> Callable[[Tensor], Callable[[], Tensor]] | None:
    """log Z, or its gradient, by SynJax: compiled, float32."""
    try:
        import jax

        jax.core.is_constant_dim = lambda size: isinstance(size, int)  # type: ignore[attr-defined]  # For newer JAX.
        from synjax._src.spanning_tree_projective_crf import SpanningTreeProjectiveCRF
    except ImportError as error:
        print(f"(SynJax: {error})")
        return None

    def log_partition(scores: jax.Array) -> jax.Array:
        return SpanningTreeProjectiveCRF(scores, single_root_edge=True).log_partition()

    step = jax.jit(jax.grad(lambda s: log_partition(s).sum()) if gradient_too else log_partition)

    def on(scores: Tensor) -> Callable[[], Tensor]:
        own = jax.numpy.array(scores.numpy(), dtype=jax.numpy.float32)
        return lambda: torch.from_numpy(np.array(step(own).block_until_ready()))

    return on


def projective() -> None:
    """On one thread; JAX takes as many as it is given, so pin the process to one core."""
    taproot.set_num_threads(1)
    torch.set_num_threads(1)
    print("\nProjective trees, one thread:\n")
    print("| task | n | B | taproot | torch-struct, float32 | SynJax, float32 | largest difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for n, batch in PROJECTIVE_SIZES:
        scores = torch.tensor(np.random.default_rng(n).normal(size=(batch, n + 1, n + 1)))
        theirs = without_root(scores).float().requires_grad_()  # Or it fails.

        def ours(s: Tensor) -> Tensor:
            return taproot.torch.log_partition(s, projective=True)

        for name, gradient_too in (("log-partition", False), ("log-partition and its gradient", True)):
            functions: list[Callable[[], Tensor]] = [
                (lambda: gradient(ours, scores)) if gradient_too else (lambda: ours(scores)),  # noqa: B023
                (lambda: DependencyCRF(theirs, multiroot=False).marginals)  # noqa: B023
                if gradient_too
                else (lambda: DependencyCRF(theirs, multiroot=False).partition),  # noqa: B023
            ]
            by_synjax = synjax(gradient_too)
            if by_synjax is not None:
                functions.append(by_synjax(scores))
            answers = [f().detach().double() for f in functions]
            if gradient_too:  # In the layout of torch-struct, which is not part of what is timed.
                answers = [a if i == 1 else without_root(a) for i, a in enumerate(answers)]
            apart = [float((a - answers[0]).abs().max() / answers[0].abs().max()) for a in answers]
            assert max(apart) < 1e-4, (name, n, apart)
            times = times_of(list(functions), rounds=3, most_seconds=2.0)
            cells = [f"{times[0]:.3f}"] + [f"{t:.1f} ({t / times[0]:.0f})" for t in times[1:]]
            cells += [""] * (3 - len(cells)) + [", ".join(f"{a:.0e}" for a in apart[1:])]
            print(f"| {name} | {n} | {batch} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
    short_batch()
    projective()
    if taproot.cuda_available() and torch.cuda.is_available():
        import peers_cuda

        peers_cuda.main()
