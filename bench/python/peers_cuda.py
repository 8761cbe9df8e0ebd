# SPDX-License-Identifier: Apache-2.0
"""taproot.torch and taproot.jax on a CUDA device against SynJax, on one machine in one run.

Wall time of the whole call that a user writes, in milliseconds, medians. ``floor`` is an ``autograd.Function`` and its
``sum().backward()`` that read and write as much memory and compute nothing: no operator of PyTorch can be faster.
SynJax (its source on PYTHONPATH) is optional, and so is JAX. Answers are compared before anything is timed.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np
import torch
from torch import Tensor

import taproot
import taproot.torch

SIZES = [(10, 1024), (25, 1024), (50, 256), (100, 64), (100, 1024), (200, 64)]
WARM, CALLS, ROUNDS = 20, 100, 5
WARM_SECONDS = 0.1  # A device that was idle takes that long to raise its clocks.


def taken_by(call: Callable[[], Any], calls: int) -> list[float]:
    """Milliseconds until the answer is there, call by call, after some calls that warm up."""
    begin = time.perf_counter()
    for _ in range(WARM):
        call()
    while time.perf_counter() - begin < WARM_SECONDS:
        call()
    taken = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - start))
    return taken


def median_of(call: Callable[[], Any], calls: int = CALLS) -> float:
    return statistics.median(taken_by(call, calls))


def on_torch(call: Callable[[], Any]) -> Callable[[], None]:
    """The call, and the wait for its answer."""

    def call_and_wait() -> None:
        call()
        torch.cuda.synchronize()

    return call_and_wait


def medians_of(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """In turns, so that what else the machine does for a while is not on the account of one of them."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            taken[name] += taken_by(call, CALLS // ROUNDS)
    return {name: statistics.median(times) for name, times in taken.items()}


def scores_of(n: int, batch: int, dtype: torch.dtype) -> Tensor:
    numbers = np.log(np.random.default_rng(n).uniform(size=(batch, n + 1, n + 1)))
    return torch.tensor(numbers, dtype=dtype, device="cuda", requires_grad=True)


def step_of(function: Callable[[Tensor], Tensor], leaf: Tensor) -> Callable[[], None]:
    def step() -> None:
        leaf.grad = None
        function(leaf).sum().backward()

    return step


def in_a_graph(step: Callable[[], None], leaf: Tensor) -> Callable[[], None]:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    leaf.grad = None
    with torch.cuda.graph(graph):
        step()
    return graph.replay


class Nothing(torch.autograd.Function):
    """As much memory as log Z with its gradient."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        ctx.save_for_backward(scores.clone())
        return scores.sum((1, 2))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (saved,) = ctx.saved_tensors
        return grad[:, None, None] * saved


def jax_steps(n: int, batch: int) -> dict[str, Callable[[], Any]]:
    """The gradient of log Z under jax.jit, by whatever can be imported."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return {}
    scores = jnp.asarray(scores_of(n, batch, torch.float32).detach().cpu().numpy())

    def compiled(log_partition: Callable[[Any], Any]) -> Callable[[], Any]:
        step = jax.jit(jax.grad(lambda s: log_partition(s).sum()))
        return lambda: step(scores).block_until_ready()

    steps = {}
    try:
        import taproot.jax

        steps["taproot.jax"] = compiled(taproot.jax.log_partition)
    except ImportError as error:
        print(f"(taproot.jax: {error})")
    try:
        jax.core.is_constant_dim = lambda size: isinstance(size, int)  # type: ignore[attr-defined]  # For newer JAX.
        from synjax._src.spanning_tree_non_projective_crf import SpanningTreeNonProjectiveCRF

        steps["SynJax"] = compiled(lambda s: SpanningTreeNonProjectiveCRF(s, single_root_edge=True).log_partition())
    except ImportError as error:
        print(f"(SynJax: {error})")
    return steps


def gradients() -> None:
    print("\nGradient of log Z, ms:\n")
    print("| n | B | SynJax, jit | floor | eager, float32 | eager, float64 | CUDA graph, float32 | taproot.jax, jit |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for n, batch in SIZES:
        leaf, exact = scores_of(n, batch, torch.float32), scores_of(n, batch, torch.float64)
        steps = [step_of(taproot.torch.log_partition, s) for s in (leaf, exact)]
        for step in steps:
            step()
        assert leaf.grad is not None and exact.grad is not None
        with_jax = jax_steps(n, batch)
        for name, call in with_jax.items():
            found = np.asarray(call())
            apart = np.abs(found - exact.grad.cpu().numpy())[:, :, 1:].max()
            assert apart < 1e-3, (name, n, apart)
        assert float((leaf.grad - exact.grad).abs().max()) < 1e-4
        # A graph writes into the gradient that was there when it was made, so it has a leaf of its own.
        captured = scores_of(n, batch, torch.float32)
        times = medians_of(
            {
                **with_jax,
                "floor": on_torch(step_of(Nothing.apply, leaf)),
                "float32": on_torch(steps[0]),
                "float64": on_torch(steps[1]),
                "graph": on_torch(in_a_graph(step_of(taproot.torch.log_partition, captured), captured)),
            }
        )
        row = [times.get(name) for name in ("SynJax", "floor", "float32", "float64", "graph", "taproot.jax")]
        print(f"| {n} | {batch} | " + " | ".join("" if t is None else f"{t:.3f}" for t in row) + " |", flush=True)


def others() -> None:
    print("\nOther calls from PyTorch, ms; the floor is that of a gradient:\n")
    print("| call | n | B | floor | float32 | float64 |")
    print("| --- | --- | --- | --- | --- | --- |")

    def line(name: str, n: int, batch: int, make: Callable[[Tensor], Callable[[], Any]]) -> None:
        row = [median_of(on_torch(step_of(Nothing.apply, scores_of(n, batch, torch.float32))), 40)]
        row += [median_of(on_torch(make(scores_of(n, batch, dtype))), 40) for dtype in (torch.float32, torch.float64)]
        print(f"| {name} | {n} | {batch} | " + " | ".join(f"{t:.3f}" for t in row) + " |", flush=True)

    tt = taproot.torch
    for n, batch in ((25, 1024), (100, 64)):
        line("entropy and its gradient", n, batch, lambda s: step_of(tt.entropy, s))
        line("marginals", n, batch, lambda s: lambda: tt.marginals(s.detach()))
        gold = tt.argmax(scores_of(n, batch, torch.float64).detach())
        line("nll and its gradient", n, batch, lambda s: step_of(lambda x: tt.nll(x, gold), s))  # noqa: B023
    for n in (25, 100):
        line("argmax", n, 1024, lambda s: lambda: tt.argmax(s.detach()))
        line("mbr", n, 1024, lambda s: lambda: tt.mbr(s.detach()))
    for n, batch, k in ((25, 1024, 100), (100, 64, 1000), (100, 16, 1000)):
        line(f"sample, k = {k}", n, batch, lambda s: lambda: tt.DependencyTrees(s.detach()).sample((k,), 1))  # noqa: B023
    line(
        "sample_without_replacement, k = 1000",
        100,
        16,
        lambda s: lambda: tt.DependencyTrees(s.detach()).sample_without_replacement(1000, 1),
    )


def jax_projective(scores: Any) -> dict[str, dict[str, Callable[[], Any]]]:
    """A gradient step, the best trees and ten samples of projective trees under jax.jit, by task and library."""
    import jax

    key = jax.random.key(0)

    def steps(log_partition: Any, argmax: Any, sample: Any) -> dict[str, Callable[[], Any]]:
        slope = jax.jit(jax.grad(lambda s: log_partition(s).sum()))
        best, trees = jax.jit(argmax), jax.jit(sample)
        wait = jax.block_until_ready
        return {
            "gradient": lambda: wait(slope(scores)),
            "argmax": lambda: wait(best(scores)),
            "sample": lambda: wait(trees(key, scores)),
        }

    found = {}
    try:
        import taproot.jax as tj

        found["taproot.jax"] = steps(
            lambda s: tj.log_partition(s, projective=True),
            lambda s: tj.argmax(s, projective=True),
            lambda k, s: tj.sample(k, s, 10, projective=True),
        )
    except ImportError as error:
        print(f"(taproot.jax: {error})")
    try:
        jax.core.is_constant_dim = lambda size: isinstance(size, int)  # type: ignore[attr-defined]  # For newer JAX.
        from synjax._src.spanning_tree_projective_crf import SpanningTreeProjectiveCRF

        theirs = lambda s: SpanningTreeProjectiveCRF(s, single_root_edge=True)
        found["SynJax"] = steps(
            lambda s: theirs(s).log_partition(), lambda s: theirs(s).argmax(), lambda k, s: theirs(s).sample(k, 10)
        )
    except ImportError as error:
        print(f"(SynJax: {error})")
    return found


def projective() -> None:
    print("\nProjective trees, float32, ms; samples are 10 trees per sentence:\n")
    print("| task | n | B | SynJax, jit | taproot.jax, jit | eager | CUDA graph |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    tt = taproot.torch
    for n, batch in ((25, 1024), (50, 256), (100, 64)):
        leaf, exact = scores_of(n, batch, torch.float32), scores_of(n, batch, torch.float64)
        step, own = (step_of(lambda s: tt.log_partition(s, projective=True), s) for s in (leaf, exact))
        step(), own()
        assert leaf.grad is not None and exact.grad is not None
        import jax.numpy as jnp

        by_jax = jax_projective(jnp.asarray(leaf.detach().cpu().numpy()))
        for name, tasks in by_jax.items():
            apart = np.abs(np.asarray(tasks["gradient"]()) - exact.grad.cpu().numpy())[:, :, 1:].max()
            assert apart < 1e-3, (name, n, apart)
        still = leaf.detach()
        eager = {
            "gradient": step,
            "argmax": lambda s=still: tt.argmax(s, projective=True),
            "sample": lambda s=still: tt.DependencyTrees(s, projective=True).sample((10,), 1),
        }
        for task, call in eager.items():
            row: list[float | None] = []
            for name in ("SynJax", "taproot.jax"):
                own_call = by_jax.get(name, {}).get(task)
                calls = 10 if name == "SynJax" else CALLS
                row.append(None if own_call is None else median_of(own_call, calls))
            row.append(median_of(on_torch(call)))
            row.append(median_of(on_torch(in_a_graph(step, leaf))) if task == "gradient" else None)
            print(
                f"| {task} | {n} | {batch} | " + " | ".join("" if t is None else f"{t:.3f}" for t in row) + " |",
                flush=True,
            )


def main() -> None:
    print(f"{taproot.cuda_description()}, torch {torch.__version__}; medians of {CALLS} calls, gradients in turns")
    parts = {"gradients": gradients, "others": others, "projective": projective}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
