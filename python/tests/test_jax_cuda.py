# SPDX-License-Identifier: Apache-2.0
"""taproot.jax on a CUDA device: the answers of the CPU, from scores on the device."""

import re
from typing import Any

import numpy as np
import pytest

from taproot import _taproot

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import taproot.jax as tj  # noqa: E402


def cuda_devices() -> list[Any]:
    try:
        return list(jax.devices("cuda"))
    except RuntimeError:
        return []


pytestmark = pytest.mark.skipif(
    not _taproot.cuda_available() or not cuda_devices(), reason="no CUDA in this build, in JAX or on this machine"
)
ROOTS = ["single", "multi"]


@pytest.fixture(autouse=True)
def double_precision() -> Any:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def normal(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def on(platform: str, *arrays: Any) -> list[Any]:
    return [jax.device_put(array, jax.devices(platform)[0]) for array in arrays]


def compare(function: Any, *arrays: Any, **tolerance: float) -> None:
    """function(*arrays) on the device, compiled and not, against the CPU."""
    expected = jax.tree.leaves(function(*on("cpu", *arrays)))
    given = on("cuda", *arrays)
    for run in (function, jax.jit(function)):
        for ours, theirs in zip(jax.tree.leaves(run(*given)), expected, strict=True):
            assert {device.platform for device in ours.devices()} <= {"cuda", "gpu"}
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), **tolerance)


def batch() -> tuple[Any, Any, Any]:
    """Scores with forbidden edges, a sentence without a tree, a NaN, and no words; lengths; trees."""
    scores = normal(7, 13, 13)
    scores[0, 3, 5] = scores[4, 2, :6] = -np.inf
    scores[1, :, 4] = -np.inf
    scores[2, 1, 2] = np.nan
    lengths = np.array([12, 12, 12, 0, 12, 7, 1], np.int32)
    heads = np.where(np.arange(12) == 0, 0, 1)[None].repeat(7, 0).astype(np.int32)
    return scores, lengths, heads


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("projective", [False, True])
def test_numbers(root: Any, dtype: Any, projective: bool) -> None:
    scores, lengths, heads = batch()
    scores, other = scores.astype(dtype), normal(7, 13, 13, seed=1, dtype=dtype)
    near = dict(rtol=1e-11, atol=1e-12) if dtype == np.float64 else dict(rtol=2e-4, atol=2e-5)
    rest = dict(root=root, projective=projective)
    for function in (
        lambda s, n: tj.log_partition(s, n, **rest),
        lambda s, n: tj.marginals(s, n, **rest),
        lambda s, n: tj.root_marginals(s, n, **rest),
        lambda s, n: tj.entropy(s, n, **rest),
        lambda s, n: tj.log_prob(s, heads, n, **rest),
        lambda s, n: tj.DependencyTrees(s, n, **rest).hessian_product(s),
        lambda s, n: tj.kl_divergence(s, s.at[0, 1, 2].add(0.5), n, **rest),
        lambda s, n: tj.cross_entropy(s, jnp.asarray(other), n, **rest),
    ):
        compare(function, scores, lengths, **near)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("projective", [False, True])
def test_gradients(root: Any, dtype: Any, projective: bool) -> None:
    scores, lengths, heads = batch()
    scores, weights = scores.astype(dtype), normal(7, 13, 13, seed=2, dtype=dtype)
    near = dict(rtol=1e-9, atol=1e-10) if dtype == np.float64 else dict(rtol=1e-3, atol=2e-4)
    rest = dict(root=root, projective=projective)
    value_and_grad = lambda f: lambda s, n: jax.value_and_grad(lambda x: jnp.where(n > 0, f(x, n), 0).sum())(s)
    for function in (
        lambda s, n: tj.log_partition(s, n, **rest),
        lambda s, n: tj.entropy(s, n, **rest),
        lambda s, n: tj.log_prob(s, heads, n, **rest),
        lambda s, n: (tj.marginals(s, n, **rest) * weights).sum((1, 2)),
        lambda s, n: (tj.root_marginals(s, n, **rest) * weights[:, 0, 1:]).sum(1),
        lambda s, n: tj.kl_divergence(s, s.at[0, 1, 2].add(0.5), n, **rest),
    ):
        compare(value_and_grad(function), scores, lengths, **near)
    good = scores[4:]
    compare(jax.vmap(jax.jacrev(jax.jacrev(lambda s, n: tj.log_partition(s, n, **rest)))), good, lengths[4:], **near)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("projective", [False, True])
def test_trees(root: Any, dtype: Any, projective: bool) -> None:
    scores, lengths, _ = batch()
    scores = scores.astype(dtype)
    key = jax.random.key(5)
    labels = normal(7, 13, 13, 3, seed=3, dtype=dtype)
    rest = dict(root=root, projective=projective)
    compare(lambda s, n: tj.argmax(s, n, **rest), scores, lengths)
    compare(lambda s, n: tj.mbr(s, n, **rest), scores, lengths)
    compare(lambda s, n, l: tj.argmax(s, n, label_scores=l, **rest), scores, lengths, labels)
    compare(lambda s, n: tj.sample(key, s, 20, n, **rest), scores, lengths)
    near = dict(rtol=1e-9, atol=1e-9) if dtype == np.float64 else dict(rtol=1e-5, atol=1e-5)
    beam = lambda s, n: tj.sample_without_replacement(key, s, 20, n, algorithm="beam", **rest)
    if projective:
        with pytest.raises(Exception, match="a device has no beam for projective trees"):
            jax.block_until_ready(beam(*on("cuda", scores, lengths)))
    else:
        compare(beam, scores, lengths, **near)
    compare(lambda s, n: tj.sample_without_replacement(key, s, 20, n, **rest), scores, lengths, **near)
    keys = jax.random.split(key, 3)
    many = jax.jit(jax.vmap(lambda k, s: tj.sample(k, s, 5, **rest), in_axes=(0, None)))(keys, *on("cuda", scores[4:]))
    for i in range(3):
        np.testing.assert_array_equal(many[i], tj.sample(keys[i], on("cpu", scores[4:])[0], 5, **rest))


@pytest.mark.parametrize("projective", [False, True])
def test_sentences_beyond_the_range_of_double(projective: bool) -> None:
    scores = 400 * normal(3, 20, 20)
    key = jax.random.key(5)
    rest: Any = dict(projective=projective)
    compare(lambda s: tj.log_partition(s, **rest), scores, rtol=1e-12)
    compare(lambda s: tj.marginals(s, **rest), scores, rtol=1e-9, atol=1e-12)
    compare(lambda s: tj.sample(key, s, 10, **rest), scores)
    if projective:
        return
    compare(lambda s: tj.sample_without_replacement(key, s, 10, algorithm="beam").heads, scores)


@pytest.mark.parametrize("shape", [(0, 4, 4), (2, 1, 1)])
def test_no_sentences_and_no_words(shape: tuple[int, ...]) -> None:
    key, scores = jax.random.key(5), np.zeros(shape, np.float32)
    for function in (
        tj.log_partition,
        tj.marginals,
        tj.root_marginals,
        tj.entropy,
        lambda s: tj.kl_divergence(s, s),
        lambda s: tj.log_prob(s, jnp.zeros((s.shape[0], s.shape[1] - 1), jnp.int32)),
        lambda s: jax.grad(lambda x: tj.entropy(x).sum())(s),
        tj.argmax,
        tj.mbr,
        lambda s: tj.sample(key, s, 3),
        lambda s: tj.sample_without_replacement(key, s, 3, algorithm="beam"),
    ):
        compare(function, scores)


def test_a_small_divergence_in_float32() -> None:
    scores = normal(4, 41, 41, dtype=np.float32)
    other = scores + 1e-3 * normal(4, 41, 41, seed=3, dtype=np.float32)
    compare(tj.kl_divergence, scores, other, rtol=1e-6)


def test_a_step_is_one_call_without_python() -> None:
    (scores,) = on("cuda", normal(4, 13, 13, dtype=np.float32))
    heads = jnp.zeros((4, 12), jnp.int32).at[:, 1:].set(1)
    for function in (
        lambda s: tj.log_partition(s).sum(),
        lambda s: tj.entropy(s).sum(),
        lambda s: tj.nll(s, heads, check=False),
    ):
        text = jax.jit(jax.value_and_grad(function)).lower(scores).compile().as_text()
        assert "callback" not in text
        assert len(re.findall(r'custom_call_target="taproot_', text)) == 1


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda s: tj.kbest(s, 3), "kbest"),
        (lambda s: tj.DependencyTrees(s).expected_tries(), "Wilson"),
        (lambda s: tj.sample(jax.random.key(0), s, 3, algorithm="elimination"), "elimination"),
        (lambda s: tj.sample_without_replacement(jax.random.key(0), s, 3, algorithm="trie"), "trie"),
        (lambda s: tj.sample(jax.random.key(0), s, 3, label_scores=jnp.zeros((4, 13, 13, 2))), "labels"),
    ],
)
def test_what_a_device_does_not_do(function: Any, what: str) -> None:
    (scores,) = on("cuda", normal(4, 13, 13))
    with pytest.raises(Exception, match=f"(?s){what}.*is not done on a CUDA device.*put the scores on the CPU"):
        jax.jit(function).lower(scores).compile()
