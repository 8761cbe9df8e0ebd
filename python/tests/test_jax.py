# SPDX-License-Identifier: Apache-2.0
"""taproot.jax: values as the NumPy side has them, under jit, vmap and grad."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taproot
from taproot import _taproot

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import taproot.jax as tj  # noqa: E402
from taproot import _jax_operators  # noqa: E402

ROOTS = ["single", "multi"]


@pytest.fixture(autouse=True)
def double_precision() -> Any:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def scores_of(*shape: int, seed: int = 0) -> Any:
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("jit", [False, True])
def test_values_are_those_of_the_numpy_side(root: Any, jit: bool) -> None:
    scores, other = scores_of(3, 6, 6).at[:, 2, 1].set(-jnp.inf), scores_of(3, 6, 6, seed=1)
    lengths = jnp.array([5, 3, 4])
    d = taproot.DependencyTrees(np.asarray(scores), np.asarray(lengths), root)
    q = taproot.DependencyTrees(np.asarray(other), np.asarray(lengths), root)
    values = scores_of(3, 6, 6, seed=2)
    heads = d.sample(1)[0]

    def run(function: Any, *arguments: Any) -> Any:
        bound = lambda *a: function(*a, lengths=lengths, root=root)  # noqa: E731
        return (jax.jit(bound) if jit else bound)(*arguments)

    for ours, theirs in [
        (run(tj.log_partition, scores), d.log_partition()),
        (run(tj.marginals, scores), d.marginals()),
        (run(tj.entropy, scores), d.entropy()),
        (run(tj.cross_entropy, scores, other), d.cross_entropy(q)),
        (run(tj.kl_divergence, scores, other), d.kl_divergence(q)),
        (run(tj.expectation, scores, values), d.expectation(values)),
        (run(tj.log_prob, scores, jnp.asarray(heads)), d.log_prob(heads)),
        (run(tj.argmax, scores), d.argmax()),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("lengths", [None, [4, 2]])
def test_gradients(root: Any, lengths: Any) -> None:
    scores, other = scores_of(2, 5, 5), scores_of(2, 5, 5, seed=1)
    values = scores_of(2, 5, 5, seed=2)
    heads = taproot.DependencyTrees(np.asarray(scores), lengths, root).sample(1)[0]
    rest = dict(lengths=lengths, root=root)
    for function, arguments, order in [
        (lambda s: tj.log_partition(s, **rest), (scores,), 2),
        (lambda s: tj.log_prob(s, heads, **rest), (scores,), 2),
        (lambda s: tj.marginals(s, **rest), (scores,), 1),
        (lambda s: tj.entropy(s, **rest), (scores,), 1),
        (lambda s, v: tj.expectation(s, v, **rest), (scores, values), 1),
        (lambda s, o: tj.cross_entropy(s, o, **rest), (scores, other), 1),
        (lambda s, o: tj.kl_divergence(s, o, **rest), (scores, other), 1),
    ]:
        check_grads(function, arguments, order=order, modes=["rev"])


def test_check_grads_can_fail() -> None:
    with pytest.raises(AssertionError):
        check_grads(
            lambda s: tj.log_partition(s) + (jax.lax.stop_gradient(s) ** 2).sum(),
            (scores_of(4, 4),),
            order=1,
            modes=["rev"],
        )


def test_one_derivative_too_many_is_a_clear_error() -> None:
    with pytest.raises(NotImplementedError, match="one more"):
        jax.grad(lambda s: jax.grad(tj.entropy)(s).sum())(scores_of(4, 4))


def test_an_infinite_divergence_has_no_gradient_in_p() -> None:
    scores = scores_of(2, 4, 4)
    other = scores.at[0, 1, 2].set(-jnp.inf)
    assert tj.kl_divergence(scores, other)[0] == jnp.inf
    grad = jax.grad(lambda s: tj.kl_divergence(s, other).sum())(scores)
    assert np.isnan(grad[0]).all() and np.isfinite(grad[1]).all()


def test_sentences_that_do_not_count_leave_gradients_alone() -> None:
    scores, weights = scores_of(3, 5, 5), jnp.eye(5)
    lengths = jnp.array([4, 3, 0])
    heads = jnp.array([[2, 0, 2, 2], [0, 1, 1, -1], [-1] * 4])
    for function in (
        lambda s: tj.log_partition(s, lengths),
        lambda s: tj.entropy(s, lengths),
        lambda s: tj.log_prob(s, heads, lengths),
        lambda s: tj.kl_divergence(s, s * 2, lengths),
    ):
        masked = jax.grad(lambda w, f=function: jnp.where(lengths > 0, f(scores @ w), 0.0).sum())(weights)
        plain = jax.grad(lambda w, f=function: f(scores @ w)[:2].sum())(weights)
        assert np.isfinite(masked).all()
        np.testing.assert_allclose(masked, plain, rtol=1e-12, atol=1e-12)


def test_a_small_divergence_in_float32() -> None:
    scores = scores_of(4, 41, 41).astype(jnp.float32)
    other = (scores + 1e-3 * scores_of(4, 41, 41, seed=3)).astype(jnp.float32)
    exact = tj.kl_divergence(scores.astype(jnp.float64), other.astype(jnp.float64))
    np.testing.assert_allclose(tj.kl_divergence(scores, other), exact, rtol=1e-6)


@pytest.mark.parametrize(
    "key", [3, jnp.zeros(2), jnp.zeros((5, 2), jnp.uint32), jax.random.split(jax.random.key(0), 5)], ids=str
)
def test_what_is_no_key(key: Any) -> None:
    with pytest.raises(ValueError, match="random keys"):
        tj.sample(key, scores_of(4, 4), 2)


def test_what_cannot_be_is_nan() -> None:
    scores = scores_of(2, 4, 4)
    assert np.isnan(tj.log_prob(scores, jnp.array([[0, 1, 1], [0, 7, 1]]))).tolist() == [False, True]
    for call in (
        lambda: tj.log_partition(scores, root="none"),  # type: ignore[arg-type]
        lambda: tj.sample(jax.random.key(0), scores, 2, algorithm="none"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match="must be"):
            call()


@pytest.mark.parametrize("length", [4, 9, -1])
def test_a_length_that_cannot_be(length: int) -> None:
    """An error where lengths are known, also within jit; NaN for the sentence alone where they are traced."""
    scores = scores_of(2, 4, 4)
    lengths = jnp.array([3, length])
    heads = jnp.array([[0, 1, 1], [0, 1, 1]])
    for call in (
        lambda: tj.log_partition(scores, lengths),
        lambda: tj.nll(scores, heads, np.asarray(lengths)),
        lambda: jax.grad(lambda s: tj.entropy(s, lengths).sum())(scores),
        lambda: jax.jit(lambda s: tj.argmax(s, lengths))(scores),
        lambda: tj.sample(jax.random.key(0), scores, 2, lengths),
    ):
        with pytest.raises(ValueError, match=rf"lengths\[1\] is {length}.*lengths count words, not ROOT"):
            call()
    for function in (tj.log_partition, tj.entropy, lambda s, n: tj.log_prob(s, heads, n), tj.marginals):
        value, grad = jax.jit(
            lambda s, n, f=function: (f(s, n), jax.grad(lambda s: jnp.where(n < 4, f(s, n).T, 0).T.sum())(s))
        )(scores, lengths)
        assert np.isfinite(value[0]).all() and np.isnan(value[1]).all()
        assert np.isfinite(grad[0]).all()
        np.testing.assert_array_equal(value[0], function(scores, jnp.array([3, 3]))[0])
    loss = jax.jit(jax.value_and_grad(lambda s, n: tj.nll(s, heads, n, check=False)))
    value, grad = loss(scores, lengths)
    assert np.isnan(value) and np.isfinite(grad[0]).all() and np.isnan(grad[1]).all()
    assert (jax.jit(tj.argmax)(scores, lengths)[1] == -1).all()


@pytest.mark.parametrize("padding", [-1, 0, 2, -100, 3])
def test_the_gradient_of_log_prob_reads_no_padding(padding: int) -> None:
    scores = scores_of(2, 4, 4)
    lengths = jnp.array([3, 2])
    grad = jax.grad(lambda s: tj.log_prob(s, jnp.array([[2, 0, 2], [2, 0, padding]]), lengths).sum())(scores)
    p = tj.marginals(scores, lengths)
    edges = np.zeros((2, 4, 4))
    edges[0, [2, 0, 2], [1, 2, 3]] = edges[1, [2, 0], [1, 2]] = 1
    np.testing.assert_allclose(grad, edges - p, atol=1e-14)
    assert (grad[1, 3] == 0).all() and (grad[1, :, 3] == 0).all()


def test_where_the_value_is_nan_the_gradient_is() -> None:
    """For sentences with a NaN or without words, and without a tree but for log Z; also where scores are all alike."""
    scores = jnp.zeros((5, 4, 4)).at[1, 0].set(-jnp.inf).at[2, 1, 2].set(jnp.nan)
    lengths = jnp.array([3, 3, 3, 0, 3])
    heads = jnp.array([[2, 0, 2]] * 4 + [[-1, -1, -1]])
    for function, lost in (
        (lambda s: tj.log_partition(s, lengths), [2, 3]),
        (lambda s: tj.entropy(s, lengths), [1, 2, 3]),
        (lambda s: tj.kl_divergence(s, s, lengths), [1, 2, 3]),
        (lambda s: tj.log_prob(s, heads, lengths), [1, 2, 3, 4]),
    ):
        value, grad = function(scores), jax.grad(lambda s, f=function: f(s).sum())(scores)
        assert np.flatnonzero(np.isnan(value)).tolist() == lost
        assert np.flatnonzero(np.isnan(grad).any((1, 2))).tolist() == lost
        assert np.isnan(grad[jnp.array(lost)]).all()


def test_a_sentence_without_a_tree_has_no_weight_and_no_gradient() -> None:
    scores = jnp.zeros((3, 4, 4)).at[1, :, 2].set(-jnp.inf)
    weights = scores_of(3, 4, 4, seed=3)
    assert tj.log_partition(scores)[1] == -jnp.inf
    for matrix in (
        tj.marginals(scores),
        jax.grad(lambda s: tj.log_partition(s).sum())(scores),
        jax.grad(lambda s: (tj.marginals(s) * weights).sum())(scores),
        jax.grad(lambda s: (tj.root_marginals(s) * weights[:, 0, 1:]).sum())(scores),
        jax.grad(lambda s: jax.grad(lambda t: tj.log_partition(t).sum())(s)[:, 0, 1].sum())(scores),
    ):
        assert (matrix[1] == 0).all() and np.isfinite(matrix).all() and (matrix[0] != 0).any()
    assert (tj.root_marginals(scores)[1] == 0).all()
    # A loss that adds up weights goes on without it.
    total = lambda s: jax.nn.logsumexp(tj.log_partition(s))
    value, grad = jax.value_and_grad(total)(scores)
    assert abs(value - np.log(18)) < 1e-12 and (grad[1] == 0).all() and np.isfinite(grad).all()


def test_many_trees_per_sentence() -> None:
    scores = scores_of(2, 5, 5)
    trees = tj.sample(jax.random.key(0), scores, 6).reshape(2, 3, 2, 4)
    found = tj.log_prob(scores, trees)
    assert found.shape == (2, 3, 2)
    one = jax.vmap(jax.vmap(lambda t: tj.log_prob(scores, t)))(trees)
    np.testing.assert_array_equal(found, one)
    weights = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3, 2)))
    grad = jax.grad(lambda s: (weights * tj.log_prob(s, trees)).sum())(scores)
    by_vmap = jax.grad(lambda s: (weights * jax.vmap(jax.vmap(lambda t: tj.log_prob(s, t)))(trees)).sum())(scores)
    np.testing.assert_allclose(grad, by_vmap, atol=1e-14)


def test_keyed_samples_and_best_trees_under_vmap() -> None:
    scores = scores_of(3, 5, 5)
    keys = jax.random.split(jax.random.key(1), 4)
    many = jax.vmap(lambda k: tj.sample_without_replacement(k, scores, 5))(keys)
    for i in range(4):
        own = tj.sample_without_replacement(keys[i], scores, 5)
        np.testing.assert_array_equal(many.heads[i], own.heads)
        np.testing.assert_array_equal(many.kappa[i], own.kappa)
    each = jax.vmap(lambda s: tj.kbest(s, 4).heads, out_axes=1)(scores)
    np.testing.assert_array_equal(each, tj.kbest(scores, 4).heads)
    few = tj.kbest(scores[:, :3, :3], 5)
    assert few.heads.shape == (5, 3, 2) and few.counts.tolist() == [2, 2, 2]
    assert (few.heads[2:] == -1).all() and (few.score[2:] == -jnp.inf).all()


def test_vmap_is_the_batch() -> None:
    scores = scores_of(4, 3, 5, 5)
    lengths = jnp.array([[4, 3, 2]] * 4)
    for function in (tj.log_partition, tj.marginals, tj.entropy, tj.argmax):
        np.testing.assert_array_equal(jax.vmap(function)(scores, lengths), function(scores, lengths))
        np.testing.assert_array_equal(jax.jit(jax.vmap(jax.vmap(function)))(scores, lengths), function(scores, lengths))
    # One operand with the axis, the other without.
    np.testing.assert_array_equal(
        jax.vmap(tj.log_partition, in_axes=(0, None))(scores[:, 0], jnp.array(3)), tj.log_partition(scores[:, 0], 3)
    )
    grads = jax.vmap(jax.grad(tj.log_partition))(scores[:, 0])
    np.testing.assert_array_equal(grads, tj.marginals(scores[:, 0]))
    per_tree = jax.vmap(lambda h: tj.log_prob(scores[0, 0], h))(jnp.array([[0, 1, 1, 1], [2, 0, 2, 2]]))
    assert per_tree.shape == (2,)


def test_samples() -> None:
    scores = scores_of(3, 5, 5)
    key = jax.random.key(1)
    trees = tj.sample(key, scores, 6)
    assert trees.shape == (6, 3, 4) and trees.dtype == jnp.int32
    d = taproot.DependencyTrees(np.asarray(scores))
    assert np.isfinite(d.log_prob(np.asarray(trees))).all()
    np.testing.assert_array_equal(trees, jax.jit(lambda k, s: tj.sample(k, s, 6))(key, scores))
    assert not np.array_equal(trees, tj.sample(jax.random.key(2), scores, 6))
    keys = jax.random.split(key, 5)
    many = jax.vmap(lambda k: tj.sample(k, scores, 6))(keys)
    for i in range(5):
        np.testing.assert_array_equal(many[i], tj.sample(keys[i], scores, 6))
    ragged = tj.sample(key, scores, 2, lengths=jnp.array([4, 1, 2]))
    assert (ragged[:, 1] == jnp.array([0, -1, -1, -1])).all()
    old_key = jax.random.PRNGKey(1)
    assert tj.sample(old_key, scores[0], 2).shape == (2, 4)


def test_dtypes_follow_the_scores() -> None:
    scores = scores_of(4, 4).astype(jnp.float32)
    for function in (tj.log_partition, tj.marginals, tj.entropy):
        assert function(scores).dtype == jnp.float32
    assert tj.log_partition(scores.astype(jnp.bfloat16)).dtype == jnp.bfloat16
    assert abs(tj.log_partition(jnp.zeros((4, 4), jnp.int32)) - np.log(9)) < 1e-6


def test_a_sentence_without_an_answer_harms_no_other() -> None:
    scores = jnp.zeros((3, 4, 4)).at[1, 0].set(-jnp.inf).at[2, 1, 2].set(jnp.nan)
    log_z = jax.jit(tj.log_partition)(scores)
    assert log_z[1] == -jnp.inf and np.isnan(log_z[2]) and abs(log_z[0] - np.log(9)) < 1e-12
    assert (tj.argmax(scores)[1:] == -1).all()
    grads = jax.grad(lambda s: jnp.nansum(tj.log_partition(s)))(scores)
    np.testing.assert_array_equal(grads[0], tj.marginals(scores[0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tj.log_partition(jnp.zeros((3, 4))), "shape"),
        (lambda: tj.log_partition(jnp.zeros(3)), "shape"),
        (lambda: tj.log_partition(jnp.zeros((2, 3, 3)), lengths=jnp.zeros(2)), "integers"),
        (lambda: tj.log_prob(jnp.zeros((3, 3)), jnp.zeros(3, jnp.int32)), "heads"),
        (lambda: tj.kl_divergence(jnp.zeros((3, 3)), jnp.zeros((4, 4))), "shapes"),
    ],
)
def test_misuse(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


LENGTHS = jnp.array([4, 3, 2])
HEADS = jnp.array([[2, 0, 2, 2], [0, 1, 1, -1], [2, 0, -1, -1]])
# Functions of scores (3, 5, 5), and how often the compiled code calls the library.
CALLS: dict[str, tuple[Any, int]] = {
    "log_partition": (lambda s: tj.log_partition(s, LENGTHS), 1),
    "marginals": (lambda s: tj.marginals(s, LENGTHS), 1),
    "root_marginals": (lambda s: tj.root_marginals(s, LENGTHS), 1),
    "entropy": (lambda s: tj.entropy(s, LENGTHS), 1),
    "expectation": (lambda s: tj.expectation(s, s, LENGTHS), 1),
    "kl_divergence": (lambda s: tj.kl_divergence(s, 2 * s, LENGTHS), 1),
    "cross_entropy": (lambda s: tj.cross_entropy(s, 2 * s, LENGTHS), 1),
    "log_prob": (lambda s: tj.log_prob(s, HEADS, LENGTHS), 1),
    "hessian_product": (lambda s: tj.DependencyTrees(s, LENGTHS).hessian_product(s), 1),
    "expected_tries": (lambda s: tj.DependencyTrees(s, LENGTHS).expected_tries(), 1),
    "expected_steps": (lambda s: tj.DependencyTrees(s, LENGTHS).expected_steps(), 1),
    "argmax": (lambda s: tj.argmax(s, LENGTHS), 1),
    "mbr": (lambda s: tj.mbr(s, LENGTHS), 1),
    "labels": (lambda s: tj.argmax(s, LENGTHS, label_scores=jnp.stack([s, -s], -1)), 1),
    "kbest": (lambda s: tj.kbest(s, 3, LENGTHS), 1),
    "sample": (lambda s: tj.sample(jax.random.key(0), s, 3, LENGTHS), 1),
    "without_replacement": (lambda s: tj.sample_without_replacement(jax.random.key(0), s, 3, LENGTHS), 1),
    "gradient of log_partition": (jax.value_and_grad(lambda s: tj.log_partition(s, LENGTHS).sum()), 1),
    "gradient of entropy": (jax.value_and_grad(lambda s: tj.entropy(s, LENGTHS).sum()), 1),
    "gradient of nll": (jax.value_and_grad(lambda s: tj.nll(s, HEADS, LENGTHS)), 1),
    "gradient of kl_divergence": (jax.value_and_grad(lambda s: tj.kl_divergence(s, 2 * s, LENGTHS).sum()), 4),
    "second derivative": (jax.jacrev(jax.grad(lambda s: tj.log_partition(s, LENGTHS).sum())), 1),
    "per sentence": (jax.vmap(jax.grad(lambda s: tj.log_partition(s))), 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_compiled_code_calls_the_library_and_not_python(name: str) -> None:
    function, calls = CALLS[name]
    scores = scores_of(3, 5, 5)
    compiled = jax.jit(function).lower(scores).compile()
    text = compiled.as_text()
    assert "callback" not in text
    assert len(re.findall(r'custom_call_target="taproot_', text)) == calls
    for ours, theirs in zip(jax.tree.leaves(compiled(scores)), jax.tree.leaves(function(scores))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def in_a_process_of_its_own(text: str, **environment: str) -> str:
    package = str(Path(taproot.__file__).parents[1])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    found = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_shard_map_over_the_batch() -> None:
    """Two devices have half of the batch each."""
    text = """
import jax, jax.numpy as jnp, numpy as np, taproot.jax as tj
jax.config.update("jax_enable_x64", True)
assert len(jax.devices()) == 2
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
P = jax.sharding.PartitionSpec
scores = jnp.asarray(np.random.default_rng(0).normal(size=(6, 5, 5)))
lengths = jnp.array([4, 3, 2, 4, 4, 1])
heads = tj.sample(jax.random.key(0), scores, 1, lengths)[0]
def loss(s, h, n):
    return tj.log_partition(s, n) - tj.log_prob(s, h, n) + tj.entropy(s, n)
def both(s, h, n):
    return loss(s, h, n), jax.grad(lambda x: loss(x, h, n).sum())(s), tj.argmax(s, n), tj.marginals(s, n)
specs = (P("batch"),) * 3
sharded = jax.jit(jax.shard_map(both, mesh=mesh, in_specs=specs, out_specs=(P("batch"),) * 4))
found = sharded(scores, heads, lengths)
assert len(found[1].sharding.device_set) == 2
for ours, plain in zip(found, both(scores, heads, lengths)):
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(plain))
total = jax.jit(jax.grad(lambda s: jax.shard_map(
    lambda s, h, n: jax.lax.psum(loss(s, h, n).sum(), "batch"), mesh=mesh, in_specs=specs, out_specs=P())(
        s, heads, lengths)))
np.testing.assert_allclose(total(scores), found[1], atol=1e-14)
print("ok")
"""
    assert in_a_process_of_its_own(text, XLA_FLAGS="--xla_force_host_platform_device_count=2") == "ok\n"


def test_one_core_is_enough() -> None:
    text = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import jax, jax.numpy as jnp, taproot.jax as tj
step = jax.jit(jax.value_and_grad(lambda s: tj.log_partition(s).sum()))
x = jnp.zeros((8, 6, 6))
for _ in range(20):
    value, x = step(x)
print(bool(jnp.isfinite(value)))
"""
    assert in_a_process_of_its_own(text) == "True\n"


def test_keys_under_several_axes() -> None:
    """A call's trees are those that it has by itself, whatever is mapped over."""
    scores, lengths = scores_of(2, 3, 5, 5), jnp.array([[4, 2, 3], [3, 4, 1]])
    keys = jax.random.split(jax.random.key(3), (4, 2))
    one = lambda k, s, n: tj.sample(k, s, 6, n)
    many = jax.jit(jax.vmap(jax.vmap(one), in_axes=(0, None, None)))(keys, scores, lengths)
    assert many.shape == (4, 2, 6, 3, 4)
    for i in range(4):
        for j in range(2):
            np.testing.assert_array_equal(many[i, j], one(keys[i, j], scores[j], lengths[j]))
    other = jax.vmap(lambda s: tj.sample(keys[0, 0], s, 6), in_axes=1, out_axes=1)(scores)
    np.testing.assert_array_equal(other[:, 1], one(keys[0, 0], scores[:, 1], None))
    labels = scores_of(2, 3, 5, 5, 2, seed=1)
    labeled = jax.vmap(lambda k, s, l: tj.sample(k, s, 6, label_scores=l))(keys[0], scores, labels)
    own = tj.sample(keys[0, 1], scores[1], 6, label_scores=labels[1])
    np.testing.assert_array_equal(labeled.heads[1], own.heads)
    np.testing.assert_array_equal(labeled.labels[1], own.labels)


def test_the_trees_of_a_key_are_those_of_its_seed() -> None:
    scores, key = scores_of(3, 5, 5), jax.random.key(7)
    high, low = (int(word) for word in jax.random.key_data(key)[-2:])
    d = taproot.DependencyTrees(np.asarray(scores))
    np.testing.assert_array_equal(tj.sample(key, scores, 9), d.sample(9, high << 32 | low))
    ours, theirs = tj.sample_without_replacement(key, scores, 9), d.sample_without_replacement(9, high << 32 | low)
    np.testing.assert_array_equal(ours.heads, theirs.heads)
    np.testing.assert_array_equal(ours.log_prob, theirs.log_prob)


def test_hessians() -> None:
    scores = scores_of(2, 5, 5)
    lengths = jnp.array([4, 3])
    direction = scores_of(2, 5, 5, seed=1)
    d = taproot.DependencyTrees(np.asarray(scores), np.asarray(lengths))
    f = lambda s, n: tj.log_partition(s, n)
    hessian = jax.jit(jax.vmap(jax.jacrev(jax.jacrev(f))))(scores, lengths)
    np.testing.assert_allclose(
        jnp.einsum("bhmij,bij->bhm", hessian, direction), d.hessian_product(np.asarray(direction)), atol=1e-12
    )
    np.testing.assert_allclose(hessian, jnp.transpose(hessian, (0, 3, 4, 1, 2)), atol=1e-12)


def test_gradients_go_past_trees() -> None:
    """Trees have no gradient, so an estimator may sample and differentiate in one function."""
    scores, key = scores_of(2, 5, 5), jax.random.key(0)
    trees = tj.sample(key, scores, 4)
    found = jax.jit(jax.grad(lambda s: tj.log_prob(s, tj.sample(key, s, 4)).sum()))(scores)
    np.testing.assert_allclose(found, jax.grad(lambda s: tj.log_prob(s, trees).sum())(scores), atol=1e-14)
    for function in (lambda s: tj.kbest(s, 3).score, lambda s: tj.DependencyTrees(s).expected_tries()):
        assert (jax.grad(lambda s, f=function: f(s).sum())(scores) == 0).all()


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.float16])
def test_narrow_scores(dtype: Any) -> None:
    """Numbers are found in float64, and rounded once; float32 holds what is narrower."""
    scores = scores_of(40, 26, 26).astype(dtype)
    exact = scores.astype(jnp.float64)
    labels = scores_of(40, 26, 26, 2, seed=1).astype(jnp.float32)
    tolerance = 2 * float(jnp.finfo(dtype).eps)
    for function in (
        tj.log_partition,
        tj.marginals,
        tj.root_marginals,
        tj.entropy,
        lambda s: tj.log_prob(s, jnp.zeros((40, 25), jnp.int32).at[:, 1:].set(1)),
        lambda s: tj.DependencyTrees(s).hessian_product(scores),
        jax.grad(lambda s: tj.log_partition(s).sum()),
    ):
        found = function(scores)
        assert found.dtype == dtype
        np.testing.assert_allclose(found.astype(jnp.float64), function(exact), rtol=tolerance, atol=tolerance / 10)
    np.testing.assert_array_equal(tj.argmax(scores), tj.argmax(exact))
    ours, theirs = (tj.argmax(s, label_scores=labels) for s in (scores, exact))
    np.testing.assert_array_equal(ours.heads, theirs.heads)
    np.testing.assert_array_equal(ours.labels, theirs.labels)


@pytest.mark.parametrize("name", ["argmax", "mbr"])
@pytest.mark.parametrize("root", ROOTS)
def test_labels_are_decoded_alike_on_a_device(name: str, root: Any) -> None:
    """What runs on a device, where the library knows no labels, runs here."""
    scores, labels = scores_of(20, 6, 6), scores_of(20, 6, 6, 3, seed=1)
    labels = labels.at[0, :, 2].set(-jnp.inf).at[1, 1, 2, 0].set(jnp.nan).at[2, 0, 1:3].set(-jnp.inf)
    words = jnp.array([5] * 10 + [3] * 10, jnp.int32)
    on_cpu, on_device = _jax_operators.labeled_decoders(name, _jax_operators.Kind(root, False))
    for function in (jax.jit(on_device), jax.vmap(on_device)):
        for ours, theirs in zip(function(scores, labels, words), on_cpu(scores, labels, words)):
            np.testing.assert_array_equal(ours, theirs)
    mapped = jax.vmap(lambda s, l: getattr(tj, name)(s, root=root, label_scores=l))(scores, labels)
    plain = getattr(tj, name)(scores, root=root, label_scores=labels)
    np.testing.assert_array_equal(mapped.heads, plain.heads)
    np.testing.assert_array_equal(mapped.labels, plain.labels)


def test_no_sentences_and_no_words() -> None:
    assert jax.jit(tj.log_partition)(jnp.zeros((0, 4, 4))).shape == (0,)
    assert tj.marginals(jnp.zeros((2, 0, 4, 4))).shape == (2, 0, 4, 4)
    assert tj.sample(jax.random.key(0), jnp.zeros((0, 4, 4)), 3).shape == (3, 0, 3)
    assert np.isnan(tj.log_partition(jnp.zeros((2, 1, 1)))).all()
    assert tj.argmax(jnp.zeros((2, 1, 1))).shape == (2, 0)
    assert tj.sample_without_replacement(jax.random.key(0), jnp.zeros((2, 1, 1)), 3).counts.tolist() == [0, 0]
    assert tj.log_prob(scores_of(2, 4, 4), jnp.zeros((0, 2, 3), jnp.int32)).shape == (0, 2)


def test_several_threads_at_once() -> None:
    scores = scores_of(64, 16, 16)
    step = jax.jit(jax.value_and_grad(lambda s: tj.log_partition(s).sum()))
    value, grad = step(scores)
    wrong = []

    def work() -> None:
        for _ in range(20):
            v, g = step(scores)
            if v != value or not np.array_equal(g, grad):
                wrong.append(v)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def refused(name: str, shapes: Any, *arguments: Any, **attributes: Any) -> Any:
    """The call of a handler for CUDA, on the CPU."""
    target = f"refused_{name}"
    jax.ffi.register_ffi_target(target, _taproot.jax_handlers()["CUDA"][name], platform="cpu")
    call = jax.ffi.ffi_call(target, shapes)
    return jax.jit(lambda *a: call(*a, **attributes)).lower(*arguments).compile()


def test_what_a_device_does_not_do_is_not_compiled() -> None:
    shape = [jax.ShapeDtypeStruct((2, 3, 3), jnp.int32), jax.ShapeDtypeStruct((2, 3), jnp.float64)]
    with pytest.raises(Exception, match="(?s)CUDA.*put the scores on the CPU"):
        refused("taproot_kbest", shape, jnp.zeros((2, 4, 4)), jnp.zeros(2, jnp.int32), multi=False)


def test_both_platforms_have_the_same_functions() -> None:
    platforms = _taproot.jax_handlers()
    assert platforms["cpu"].keys() == platforms["CUDA"].keys()


def test_a_build_without_jax_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_taproot, "jax_handlers", dict)
    with pytest.raises(ImportError, match="jaxlib was not there when it was built"):
        _jax_operators._register()
