# SPDX-License-Identifier: Apache-2.0
"""taproot.jax: values as the NumPy side has them, under jit, vmap and grad."""

from typing import Any

import numpy as np
import pytest

import taproot

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import taproot.jax as tj  # noqa: E402

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
    """For sentences without a tree, with a NaN, without words; also where scores are all alike."""
    scores = jnp.zeros((5, 4, 4)).at[1, 0].set(-jnp.inf).at[2, 1, 2].set(jnp.nan)
    lengths = jnp.array([3, 3, 3, 0, 3])
    heads = jnp.array([[2, 0, 2]] * 4 + [[-1, -1, -1]])
    for function, lost in (
        (lambda s: tj.log_partition(s, lengths), [1, 2, 3]),
        (lambda s: tj.entropy(s, lengths), [1, 2, 3]),
        (lambda s: tj.kl_divergence(s, s, lengths), [1, 2, 3]),
        (lambda s: tj.log_prob(s, heads, lengths), [1, 2, 3, 4]),
    ):
        value, grad = function(scores), jax.grad(lambda s, f=function: f(s).sum())(scores)
        assert np.flatnonzero(np.isnan(value)).tolist() == lost
        assert np.flatnonzero(np.isnan(grad).any((1, 2))).tolist() == lost


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


def test_a_sentence_without_an_answer_is_nan_and_harms_no_other() -> None:
    scores = jnp.zeros((3, 4, 4)).at[1, 0].set(-jnp.inf).at[2, 1, 2].set(jnp.nan)
    log_z = jax.jit(tj.log_partition)(scores)
    assert np.isnan(log_z[1:]).all() and abs(log_z[0] - np.log(9)) < 1e-12
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
