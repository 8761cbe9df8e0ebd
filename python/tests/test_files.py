# SPDX-License-Identifier: Apache-2.0
"""CoNLL-U and scores on disk, shared with the command line; and what is measured against gold trees."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taproot
from taproot import DependencyTrees

ROOT = Path(__file__).resolve().parents[2]

CONLLU = """# sent_id = s-1
# text = She won't saw stars
1\tShe\tshe\tPRON\tPRP\tCase=Nom\t3\tnsubj\t_\t_
2-3\twon't\t_\t_\t_\t_\t_\t_\t_\t_
2\twill\twill\tAUX\tMD\t_\t3\taux\t_\t_
3\tsaw\tsee\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tall\tall\tDET\tDT\t_\t_\t_\t3:dep\t_
4\tstars\tstar\tNOUN\tNNS\t_\t3\tobj\t_\tSpaceAfter=No

# sent_id = s-2
1\tIt\tit\tPRON\tPRP\t_\t2\texpl\t_\t_
2\trains\train\tVERB\tVBZ\t_\t0\troot\t_\t_

"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.conllu"
    path.write_text(CONLLU)
    return path


@pytest.fixture
def program() -> str:
    """The command line, built beside the package or installed."""
    built = sorted(ROOT.glob("build/*/cli/taproot"), key=lambda path: path.stat().st_mtime)
    found = str(built[-1]) if built else shutil.which("taproot")
    if found is None:
        pytest.skip("the command line is not built")
    return found


def run(program: str, *arguments: Any) -> str:
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def batch() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    return rng.normal(size=(2, 5, 5)), np.array([4, 2])


def test_read_conllu(two: Path) -> None:
    first, second = taproot.read_conllu(two)
    assert first.words == ["She", "will", "saw", "stars"] and len(first) == 4
    assert first.heads.dtype == np.int32 and first.heads.tolist() == [3, 3, 0, 3]
    assert first.labels == ["nsubj", "aux", "root", "obj"]
    assert first.comments == {"sent_id": "s-1", "text": "She won't saw stars"}
    assert first.lines == CONLLU.splitlines()[:8]
    assert second.comments == {"sent_id": "s-2"} and repr(second).startswith("Sentence(words=['It', 'rains']")
    assert taproot.read_conllu(str(two))[1].heads.tolist() == [2, 0]


def test_the_ending_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "two.conll"
    path.write_text(CONLLU)
    assert len(taproot.read_conllu(path)) == 2


def test_conllu_messages(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        taproot.read_conllu(tmp_path / "none.conllu")
    with pytest.raises(IsADirectoryError):
        taproot.read_conllu(tmp_path)
    bad = tmp_path / "bad.conllu"
    for text, expected in [
        ("1\tShe\n", r"bad.conllu, line 1: the line has 2 columns, not 10"),
        (CONLLU.replace("\t3\tobj", "\t9\tobj"), "line 8: the HEAD is 9, but the sentence has 4 words"),
        (CONLLU.replace("\t3\tobj", "\t4\tobj"), "line 8: word 4 is its own HEAD"),
        (CONLLU.replace("\t3\tobj", "\tthree\tobj"), "line 8: the HEAD 'three' is neither a number nor '_'"),
    ]:
        bad.write_text(text)
        with pytest.raises(ValueError, match=expected):
            taproot.read_conllu(bad)
    words = ["It rains", "Yes it does"]
    out = tmp_path / "out.conllu"
    for arguments, expected in [
        (([[2, 0]],), "there are trees of 1 sentences, and words of 2"),
        (([[2, 0], [2, 0]],), "sentence 1: the tree has 2 words, but the sentence has 3$"),
        ((np.array([[2, 0, -1, -1], [2, 0, -1, -1]]),), "sentence 1: the tree has 2 words, but the sentence has 3$"),
        ((np.array([[2, 0, 1, -1], [2, 0, 2, -1]]),), r"the tree has 3 words, but .* give trees\[..., 1:\]"),
        ((np.array([[-1, -1, -1], [2, 0, 2]]),), "sentence 0, word 1: the head is -1"),
        (([[2, 0], [3, 3, 4]],), r"sentence 1, word 3: the head is 4, not one of 0 \(ROOT\) to 3"),
        (([[2, 0], [3, 3, 0]], [[0, 1], [0, 0, 2]]), "labels are numbers, so label_names must give their names"),
        ((None,), "trees must be given for sentences that are words alone"),
    ]:
        with pytest.raises(ValueError, match=expected):
            taproot.write_conllu(out, words, *arguments)
    with pytest.raises(ValueError, match="sentence 1, word 3: label 5 is not one of 0 to 1"):
        taproot.write_conllu(out, words, [[2, 0], [3, 3, 0]], [[0, 1], [0, 0, 5]], label_names=["a", "b"])
    assert list(tmp_path.iterdir()) == [bad]  # Nothing is left of what failed.


def test_what_was_read_is_written(two: Path, tmp_path: Path) -> None:
    sentences = taproot.read_conllu(two)
    out = tmp_path / "out.conllu"
    taproot.write_conllu(out, sentences)
    without_ours = [line for line in out.read_text().splitlines() if not line.startswith("# sentence = ")]
    assert without_ours == CONLLU.splitlines()
    taproot.write_conllu(out, sentences, [[2, 0, 2, 2], [0, 1]])  # Over the old one, with other heads.
    first, second = taproot.read_conllu(out)
    assert first.heads.tolist() == [2, 0, 2, 2] and second.heads.tolist() == [0, 1]
    assert first.comments["sent_id"] == "s-1" and first.lines[4].startswith("2-3\twon't")
    # The relations that were read do not belong to these heads.
    assert first.labels == ["_"] * 4 and second.labels == ["_"] * 2 and "labeled" not in first.comments


def test_trees_of_a_batch_are_written(two: Path, tmp_path: Path) -> None:
    sentences = taproot.read_conllu(two)
    scores, lengths = batch()
    names = ["a", "b", "c"]
    d = DependencyTrees(scores, lengths, label_scores=np.random.default_rng(1).normal(size=(2, 5, 5, 3)))
    out = tmp_path / "out.conllu"

    taproot.write_conllu(out, sentences, d.argmax(), label_names=names)
    heads, labels = d.argmax()
    for b, found in enumerate(taproot.read_conllu(out)):
        n = lengths[b]
        assert found.heads.tolist() == heads[b, :n].tolist()
        assert found.labels == [names[i] for i in labels[b, :n]]

    taproot.write_conllu(out, sentences, d.sample(3, seed=1), label_names=names)
    blocks = taproot.read_conllu(out)
    assert [(s.comments["sentence"], s.comments["sample"]) for s in blocks] == [(b, s) for b in "01" for s in "012"]
    np.testing.assert_array_equal([s.heads for s in blocks[:3]], d.sample(3, seed=1).heads[:, 0])

    best = d.kbest(5)  # The second sentence has two trees.
    taproot.write_conllu(out, sentences, best, label_names=names)
    blocks = taproot.read_conllu(out)
    assert len(blocks) == 7 and [s.comments["rank"] for s in blocks] == ["0", "1", "2", "3", "4", "0", "1"]
    assert [float(s.comments["score"]) for s in blocks[:5]] == best.score[:, 0].tolist()

    different = d.sample_without_replacement(5, seed=2)
    taproot.write_conllu(out, sentences, different, label_names=names)
    blocks = taproot.read_conllu(out)
    assert [float(s.comments["log_prob"]) for s in blocks[:5]] == different.log_prob[:, 0].tolist()
    assert [float(s.comments["weight"]) for s in blocks[5:]] == different.weights[:2, 1].tolist()
    assert blocks[6].comments["exhausted"] == "2" and "exhausted" not in blocks[4].comments


def test_trees_of_one_sentence_are_written(tmp_path: Path) -> None:
    d = DependencyTrees(np.random.default_rng(1).normal(size=(4, 4)))
    out = tmp_path / "out.conllu"
    taproot.write_conllu(out, "She saw stars", d.argmax())
    (found,) = taproot.read_conllu(out)
    assert found.words == ["She", "saw", "stars"] and found.heads.tolist() == d.argmax().tolist()
    taproot.write_conllu(out, "She saw stars", d.sample(4, seed=1))
    assert [s.heads.tolist() for s in taproot.read_conllu(out)] == d.sample(4, seed=1).tolist()


def test_scores(tmp_path: Path) -> None:
    scores, lengths = batch()
    labels = np.random.default_rng(1).normal(size=(2, 5, 5, 3))
    path = tmp_path / "scores.npz"
    taproot.save_scores(path, scores, lengths, labels)
    found, found_labels = taproot.load_scores(path, label_scores=True)
    for b, n in enumerate(lengths):
        np.testing.assert_array_equal(found[b], scores[b, : n + 1, : n + 1])
        np.testing.assert_array_equal(found_labels[b], labels[b, : n + 1, : n + 1])
    a, b = DependencyTrees(found, label_scores=found_labels), DependencyTrees(scores, lengths, label_scores=labels)
    np.testing.assert_array_equal(a.log_partition(), b.log_partition())
    mode = stat.S_IMODE(path.stat().st_mode)
    path.with_name("other").touch()
    assert mode == stat.S_IMODE(path.with_name("other").stat().st_mode)
    for value in (scores[0], [scores[0], scores[1, :3, :3]], scores.astype(np.float32)):
        taproot.save_scores(path, value)
        again = taproot.load_scores(path)
        assert again[0].dtype == np.asarray(value[0]).dtype
        np.testing.assert_array_equal(again[0], scores[0].astype(again[0].dtype))


@pytest.mark.parametrize("layout", ["dependent-head", "head-dependent+root", "dependent-head+root"])
def test_scores_of_other_layouts(layout: Any, tmp_path: Path) -> None:
    scores, lengths = batch()
    labels = np.random.default_rng(1).normal(size=(2, 5, 5, 3))
    ours, theirs = tmp_path / "ours.npz", tmp_path / "theirs.npz"
    taproot.save_scores(ours, scores, lengths, labels)
    turned = layout.startswith("dependent")
    given, given_labels = (scores.swapaxes(1, 2), labels.swapaxes(1, 2)) if turned else (scores, labels)
    taproot.save_scores(theirs, given, lengths + layout.endswith("root"), given_labels, layout=layout)
    of_list = [given[b, : n + 1, : n + 1] for b, n in enumerate(lengths)]
    for found, expected in [
        (taproot.load_scores(theirs), taproot.load_scores(ours)),
        (taproot.load_label_scores(theirs), taproot.load_label_scores(ours)),
    ]:
        for one, matrix in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, matrix)
    taproot.save_scores(theirs, of_list, layout=layout)
    np.testing.assert_array_equal(taproot.load_scores(theirs)[1], scores[1, :3, :3])


def test_label_scores_alone(tmp_path: Path) -> None:
    found = taproot.load_label_scores(ROOT / "data/demo_labels.npz")
    matrices = taproot.load_scores(ROOT / "data/demo.npz")
    count = len((ROOT / "data/labels.txt").read_text().split())
    assert [array.shape for array in found] == [(*matrix.shape, count) for matrix in matrices]
    assert DependencyTrees(matrices, label_scores=found).argmax().labels.max() < count
    with pytest.raises(ValueError, match="no array 'scores', only .*load_label_scores"):
        taproot.load_scores(ROOT / "data/demo_labels.npz")
    np.save(tmp_path / "one.npy", found[0])
    np.savez(tmp_path / "no_lengths.npz", label_scores=found[0])
    for name, message in [("one.npy", "is an .npy array"), ("no_lengths.npz", "no array 'lengths'")]:
        with pytest.raises(ValueError, match=message):
            taproot.load_label_scores(tmp_path / name)


def test_scores_of_others(tmp_path: Path) -> None:
    """What NumPy wrote, in every layout that the command line reads."""
    scores, lengths = batch()
    expected = [scores[0], scores[1, :3, :3]]
    np.save(tmp_path / "batch.npy", scores)
    np.savez(tmp_path / "padded.npz", scores=scores, lengths=lengths)
    np.savez(tmp_path / "each.npz", a=expected[0], b=expected[1])
    for found in (
        taproot.load_scores(tmp_path / "batch.npy", lengths=lengths),
        taproot.load_scores(tmp_path / "padded.npz"),
        taproot.load_scores(tmp_path / "each.npz"),
    ):
        assert len(found) == 2
        for one, matrix in zip(found, expected):
            np.testing.assert_array_equal(one, matrix)
    np.save(tmp_path / "one.npy", scores[0])
    assert [m.shape for m in taproot.load_scores(tmp_path / "one.npy")] == [(5, 5)]


def test_scores_messages(tmp_path: Path) -> None:
    scores, lengths = batch()
    path = tmp_path / "s.npz"
    with pytest.raises(ValueError, match="does not end in .npz"):
        taproot.save_scores(tmp_path / "s.npy", scores)
    with pytest.raises(ValueError, match=r"lengths\[0\] is 5, and the scores are for up to 4 words"):
        taproot.save_scores(path, scores, [5, 2])
    with pytest.raises(ValueError, match="has 4 words in scores and 2 in label_scores"):
        taproot.save_scores(path, scores[0], label_scores=np.zeros((3, 3, 2)))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        taproot.load_scores(path)
    path.write_text("no scores")
    with pytest.raises(ValueError, match="neither an .npy array nor an .npz archive"):
        taproot.load_scores(path)
    for arrays, expected in [
        ({"scores": np.zeros(30), "lengths": [4, 2]}, "scores has 30 numbers, but the lengths need 34 cells"),
        ({"score": np.zeros(34), "lengths": [4, 2]}, "there is no array 'scores', only score, lengths"),
        ({"scores": np.zeros((2, 3, 3))}, r"'scores' must be a matrix .*'lengths' beside it"),
        ({"scores": np.zeros((2, 3, 3)), "lengths": [2, 3]}, r"lengths\[1\] is 3, and the scores are for up to 2"),
    ]:
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=f"s.npz: .*{expected}"):
            taproot.load_scores(path)


def test_the_command_line_reads_saved_scores(program: str, tmp_path: Path) -> None:
    scores, lengths = batch()
    labels = np.random.default_rng(1).normal(size=(2, 5, 5, 3))
    path = tmp_path / "scores.npz"
    taproot.save_scores(path, scores, lengths, labels)
    d = DependencyTrees(scores, lengths)
    lines = [json.loads(line) for line in run(program, "logz", path).splitlines()]
    assert [line["log_partition"] for line in lines] == d.log_partition().tolist()
    assert [line["n"] for line in lines] == lengths.tolist()
    lines = [json.loads(line) for line in run(program, "sample", path, "-k", 3, "--seed", 5).splitlines()]
    trees = d.sample(3, seed=5)
    assert [line["heads"] for line in lines] == [
        trees[s, b, :n].tolist() for b, n in enumerate(lengths) for s in range(3)
    ]
    (tmp_path / "names.txt").write_text("a\nb\nc\n")
    out = run(program, "argmax", path, "--label-scores", path, "--labels", tmp_path / "names.txt")
    heads, of_words = DependencyTrees(scores, lengths, label_scores=labels).argmax()
    for b, line in enumerate(map(json.loads, out.splitlines())):
        assert line["heads"] == heads[b, : lengths[b]].tolist()
        assert line["labels"] == ["abc"[i] for i in of_words[b, : lengths[b]]]


def test_the_command_line_and_python_read_each_other(program: str, two: Path, tmp_path: Path) -> None:
    scores, lengths = batch()
    d = DependencyTrees(scores, lengths)
    path, ours, theirs = tmp_path / "scores.npz", tmp_path / "ours.conllu", tmp_path / "theirs.conllu"
    taproot.save_scores(path, scores, lengths)
    run(program, "swor", path, "-k", 4, "--seed", 3, "--words", two, "-o", theirs)
    taproot.write_conllu(ours, taproot.read_conllu(two), d.sample_without_replacement(4, seed=3))
    assert ours.read_text() == theirs.read_text()
    taproot.write_conllu(ours, taproot.read_conllu(two), d.argmax())
    found = taproot.evaluate(d.argmax(), taproot.read_conllu(two))
    assert f"UAS        {found.uas:.4f}" in run(program, "eval", ours, "--gold", two)


def test_evaluate(two: Path) -> None:
    gold = taproot.read_conllu(two)
    heads = np.array([[3, 3, 0, 2], [2, 0, -1, -1]])
    found = taproot.evaluate(heads, gold)
    assert (found.words, found.heads, found.trees, found.exact, found.labels) == (6, 5, 2, 1, None)
    assert found.uas == 5 / 6 and found.exact_match == 0.5
    assert found.las is None
    assert taproot.evaluate(heads, two) == taproot.evaluate(heads, str(two)) == found
    names = ["nsubj", "aux", "root", "obj", "expl"]
    labels = np.array([[0, 1, 2, 0], [3, 2, -1, -1]])
    trees = taproot.LabeledTrees(heads, labels)
    assert taproot.evaluate(trees, gold, label_names=names).las == 4 / 6
    assert taproot.evaluate(trees, heads, gold_labels=labels, label_names=names).las == 1
    texts = [["nsubj", "aux", "root", "obj"], ["expl", "root"]]
    assert taproot.evaluate(heads, gold, texts, labels, label_names=names).labels == 4
    for given in [(trees, gold), (heads, gold, texts, labels)]:
        with pytest.raises(ValueError, match="labels are numbers, so label_names must give their names"):
            taproot.evaluate(*given)
    assert taproot.evaluate(heads, gold, [["nsubj"] * 4, ["expl", "root"]]).labels == 3
    assert taproot.evaluate(heads[0], gold[0]).uas == 3 / 4
    assert taproot.evaluate(np.stack([heads, heads]), gold).words == 12
    assert taproot.evaluate([heads[0], heads[1, :2]], [s.heads for s in gold]).uas == 5 / 6
    # Padding of the gold trees, and words that it says nothing about.
    for padding in (-1, -100):
        padded = np.array([[3, padding, 0, 3], [2, 0, padding, padding]])
        assert taproot.evaluate(heads, padded).words == 5
    # Sentences without an answer, and best trees that are not there.
    lost = np.array([[3, 3, 0, 2], [-1, -1, -1, -1]])
    assert taproot.evaluate(lost, gold).trees == 1
    scores, lengths = batch()
    d = DependencyTrees(scores, lengths)
    assert taproot.evaluate(d.kbest(5), gold).trees == 7


def test_trees_with_an_entry_for_root(two: Path, tmp_path: Path) -> None:
    gold = taproot.read_conllu(two)
    scores, lengths = batch()
    names = ["a", "b", "c"]
    labels = np.random.default_rng(1).normal(size=(2, 5, 5, 3))
    d = DependencyTrees(scores, lengths, label_scores=labels)
    e = DependencyTrees(scores, lengths + 1, label_scores=labels, layout="head-dependent+root")
    padded = np.array([[3, 3, 0, 3], [2, 0, -100, -100]])
    plain, rooted = tmp_path / "plain.conllu", tmp_path / "rooted.conllu"
    for ask in (lambda x: x.argmax(), lambda x: x.sample(4, seed=1), lambda x: x.kbest(3)):
        ours, theirs = ask(d), ask(e)
        assert theirs.heads.shape[-1] == ours.heads.shape[-1] + 1
        taproot.write_conllu(plain, gold, ours, label_names=names)
        taproot.write_conllu(rooted, gold, theirs, label_names=names)
        assert rooted.read_text() == plain.read_text()
        given = {"label_names": [*names[:2], "root"]}
        assert taproot.evaluate(theirs, gold, **given) == taproot.evaluate(ours, gold, **given)
        for of_gold in (padded, np.pad(padded, ((0, 0), (1, 0)), constant_values=-100)):
            assert taproot.evaluate(theirs.heads, of_gold) == taproot.evaluate(ours.heads, padded)


def test_evaluate_messages(two: Path) -> None:
    gold = taproot.read_conllu(two)
    for arguments, expected in [
        (([[3, 3, 0, 2], [2, 0], [0]], gold), "gold has 2 sentences, but trees has trees of sentence 2"),
        (([], gold), "trees has no trees to compare"),
        ((np.full((2, 4), -1), gold), "trees has no trees to compare: all of its 2 sentences failed"),
        (([[3, 3, 0, 2], [1]], gold), "sentence 1 has 1 words in trees, but 2 in gold"),
        (([[3, 3, 0, 2], [2, 0, 1]], gold), r"sentence 1 has 3 words in trees, but 2 in gold.*give trees\[..., 1:\]"),
        (([[2, 0, 2]], [[-1, 2, 0, 2]]), r"sentence 0 has 3 words in trees, but 4 in gold.*give gold\[..., 1:\]"),
        (([[2, 0]], [[-1, -1]]), "there is nothing to compare: no word of a tree has a gold head"),
        (([[2, 0]], [[2, 0]], [[1, 2]]), "labels and gold_labels must be given both, or neither"),
        (([[2, 0]], [[2, 0]], [[1, 2]], [[1]]), "gold_labels of sentence 0 has 1 labels, but the sentence has 2 words"),
        (([[0.5, 0]], [[2, 0]]), "trees of sentence 0 must be integers"),
    ]:
        with pytest.raises(ValueError, match=expected):
            taproot.evaluate(*arguments)


def as_the_program_says(found: taproot.Attachment, gold: Any) -> str:
    """An evaluation in the words of the command line."""
    of = f" of {found.gold_sentences} in {gold}" if found.sentences < found.gold_sentences else ""
    las = "" if found.las is None else f"LAS        {found.las:.4f}\n"
    return (
        f"sentences  {found.sentences}{of}\nwords      {found.words}\nUAS        {found.uas:.4f}\n{las}"
        f"exact      {found.exact_match:.4f}\n"
    )


@pytest.mark.parametrize("ending", ["jsonl", "npz", "conllu"])
def test_evaluate_takes_files_as_the_command_line_does(program: str, two: Path, tmp_path: Path, ending: str) -> None:
    scores, lengths = batch()
    labels = np.random.default_rng(1).normal(size=(2, 5, 5, 3))
    path, trees, names = tmp_path / "scores.npz", tmp_path / f"trees.{ending}", tmp_path / "names.txt"
    taproot.save_scores(path, scores, lengths, labels)
    names.write_text("nsubj\nroot\nobj\n")
    labeled = ("--label-scores", path, "--labels", names)
    for command in (
        ("argmax",),
        ("argmax", *labeled),
        ("argmax", "--sentences", 1),  # A part of the gold sentences.
        ("swor", "-k", 5, "--seed", 2, *labeled),
        ("sample", "-k", 5),
    ):
        run(program, command[0], path, *command[1:], "--words", two, "-o", trees)
        for over in ("best", "mean"):
            found = taproot.evaluate(trees, two, over=over)
            assert as_the_program_says(found, two) == run(program, "eval", trees, "--gold", two, "--over", over)
        assert taproot.evaluate(str(trees), taproot.read_conllu(two)) == taproot.evaluate(trees, two, over="best")
    with pytest.raises(ValueError, match="a file of trees has its own"):
        taproot.evaluate(trees, two, [["a"] * 4, ["b"] * 2])
    short = tmp_path / "short.conllu"
    taproot.write_conllu(short, taproot.read_conllu(two)[:1])
    message = f"{re.escape(str(short))} has 1 sentences, but {re.escape(str(trees))} has trees of sentence 1"
    with pytest.raises(ValueError, match=message):
        taproot.evaluate(trees, short)
    with pytest.raises(subprocess.CalledProcessError) as error:
        run(program, "eval", trees, "--gold", short)
    assert re.search(message, error.value.stderr)


def test_evaluate_takes_a_part_of_the_gold_sentences(two: Path, tmp_path: Path) -> None:
    found = taproot.evaluate([[3, 3, 0, 2]], two)
    assert (found.words, found.sentences, found.gold_sentences, found.failed) == (4, 1, 2, 0)
    assert taproot.evaluate([[3, 3, 0, 2], [-1, -1]], two).failed == 1
    # Relations that are missing make no LAS, as on the command line.
    texts = [["nsubj", "aux", "root", "obj"], ["expl", "root"]]
    open_gold = tmp_path / "open.conllu"
    open_gold.write_text(two.read_text().replace("\texpl\t", "\t_\t"))
    assert taproot.evaluate([[3, 3, 0, 3], [2, 0]], two, texts).las == 1
    assert taproot.evaluate([[3, 3, 0, 3], [2, 0]], open_gold, texts).las is None
    assert taproot.evaluate([[3, 3, 0, 3]], open_gold, texts[:1]).las == 1
    # The best of several trees.
    scores, lengths = batch()
    d = DependencyTrees(scores, lengths)
    assert taproot.evaluate(d.kbest(3), two, over="best") == taproot.evaluate(d.argmax(), two)
    different = d.sample_without_replacement(6, seed=1)
    most = different.log_prob.argmax(axis=0)
    chosen = different.heads[most, np.arange(2)]
    assert taproot.evaluate(different, two, over="best") == taproot.evaluate(chosen, two)
    assert taproot.evaluate(different, two).trees == different.counts.sum()
    with pytest.raises(ValueError, match='over="best" needs trees that know their probability'):
        taproot.evaluate(d.sample(3, seed=1), two, over="best")
    with pytest.raises(ValueError, match='over must be "best" or "mean"'):
        taproot.evaluate(d.argmax(), two, over="all")  # type: ignore[arg-type]


def test_files_of_trees_that_are_wrong(two: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    tree = '{"sentence":0,"heads":[3,3,0,3]}\n'
    for text, expected in [
        ("[1]\n", "line 1: the line is not an object"),
        (tree + "{\n", "line 2: the line is not JSON"),
        ('{"heads":[1]}\n', "line 1: the key 'sentence' is missing"),
        ('{"sentence":0,"heads":[3,3,0,9]}\n', "line 1: the head of word 4 is 9, not one of 0 to 4"),
        ('{"sentence":0,"heads":[1,3,0,3]}\n', "line 1: word 1 is its own head"),
        ('{"sentence":0,"heads":[3,3,0,3],"labels":["a"]}\n', "line 1: the tree has 1 labels but 4 heads"),
        ('{"sentence":1,"heads":[2,0]}\n' + tree, "sentence 0 comes after sentence 1; trees must be in the order"),
        ('{"sentence":0,"heads":[2,0]}\n', "sentence 0 has 2 words in .*t.jsonl, but 4 in .*two.conllu"),
        ("", "has no trees to compare"),
        ('{"sentence":0,"status":"no_tree","message":"none"}\n', "no trees to compare: all of its 1 sentences failed"),
    ]:
        path.write_text(text)
        with pytest.raises(ValueError, match=expected):
            taproot.evaluate(path, two)
    path.write_text(tree + '{"sentence":1,"status":"no_tree","message":"none"}\n')
    found = taproot.evaluate(path, two)
    assert (found.uas, found.failed, found.sentences) == (1, 1, 1)
    archive = tmp_path / "t.npz"
    for arrays, expected in [
        ({"heads": [[3, 3, 0, 3]]}, "has no array 'sentence'"),
        ({"heads": [[3, -1, 0, 3]], "sentence": [0]}, "row 0: word 4 has a head behind the padding"),
        ({"heads": [[3, 3, 0, 3]], "sentence": [0, 1]}, r"sentence must have shape \(1,\), and has \(2,\)"),
        ({"heads": [[3, 3, 0, 3]], "sentence": [-1]}, "row 0: sentence is -1, which is negative"),
    ]:
        np.savez(archive, **arrays)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=expected):
            taproot.evaluate(archive, two)
    archive.write_text("no archive")
    with pytest.raises(ValueError, match="t.npz is not an .npz archive"):
        taproot.evaluate(archive, two)
    with pytest.raises(FileNotFoundError):
        taproot.evaluate(tmp_path / "none.jsonl", two)


def test_expected_attachment(two: Path) -> None:
    scores, lengths = batch()
    d = DependencyTrees(scores, lengths)
    gold = np.array([[3, 3, 0, 3], [2, 0, -1, -1]])
    p = d.marginals()
    expected = [np.mean([p[b, gold[b, i], i + 1] for i in range(n)]) for b, n in enumerate(lengths)]
    np.testing.assert_allclose(d.expected_attachment(gold), expected)
    assert d[0].expected_attachment(gold[0]) == pytest.approx(expected[0])
    # It is what evaluate() gives on average.
    trees = d[0].sample(20_000, seed=1)
    uas = taproot.evaluate(trees, gold[0]).uas
    assert uas == pytest.approx(expected[0], abs=0.01)
    assert np.isnan(d.expected_attachment(np.full((2, 4), -1))).all()
    np.testing.assert_allclose(d.expected_attachment(np.stack([gold, gold])), [expected, expected])
    for heads, message in [
        (gold[0], r"heads must have shape \(2, 4\)"),
        ([[3, 3, 0, 3], [2, 3, -1, -1]], r"sentence 1, word 2: the head is 3, not one of 0 \(ROOT\) to 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            d.expected_attachment(heads)
