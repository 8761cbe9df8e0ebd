# SPDX-License-Identifier: Apache-2.0
"""The tutorial runs, and what is stored in it is what it shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.ipynb"

# What Jupyter warns about is not ours; what the notebook warns about lands in its outputs, and is checked there.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """As stored, and as it is when a copy has been executed."""
    for module in ("ipykernel", "matplotlib.font_manager"):  # The latter says so, once, when it has to look for fonts.
        pytest.importorskip(module)
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    folder = tmp_path_factory.mktemp("notebook")
    copy = folder / TUTORIAL.name
    shutil.copy(TUTORIAL, copy)
    executed = nbformat.read(copy, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))  # Neither the user's settings nor their history.
        patch.setenv("JUPYTER_DATA_DIR", str(folder / "jupyter"))  # Nor their kernels: this interpreter's.
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patch.delenv("MPLBACKEND", raising=False)
        # It looks for the data from where it is upwards, so it runs where the stored one is. Errors are raised here.
        resources = {"metadata": {"path": str(TUTORIAL.parent)}}
        nbclient.NotebookClient(executed, timeout=300, kernel_name="python3", resources=resources).execute()
    nbformat.write(executed, copy)
    return nbformat.read(TUTORIAL, as_version=4), nbformat.read(copy, as_version=4)


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(notebook: Any) -> list[set[str]]:
    """The MIME types of every output."""
    return [set(output.get("data", {})) for cell in code(notebook) for output in cell.outputs]


def wording(cell: Any) -> str:
    """What a cell says, numbers and spaces aside: the former differ in their last digits from machine to machine."""
    said = []
    for output in cell.outputs:
        if output.output_type == "stream":
            said.append(output.text)
        else:
            said.append(
                output.data["text/plain"] if set(output.data) == {"text/plain"} else " ".join(sorted(output.data))
            )
    return re.sub(r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|nan|inf)|\s+", "", "".join(said))


def test_stored_is_what_runs(notebooks: tuple[Any, Any]) -> None:
    stored, executed = notebooks
    assert [cell.source for cell in stored.cells] == [cell.source for cell in executed.cells]
    for notebook in notebooks:
        assert [cell.execution_count for cell in code(notebook)] == list(range(1, len(code(notebook)) + 1))
    for before, after in zip(code(stored), code(executed)):
        if "varies" not in before.metadata.get("tags", []):  # A failing inverse fails in many ways.
            assert wording(before) == wording(after), before.source


def test_no_errors_or_warnings(notebooks: tuple[Any, Any]) -> None:
    for notebook in notebooks:
        for cell in code(notebook):
            for output in cell.outputs:
                assert output.output_type != "error", cell.source
                assert output.get("name") != "stderr", output.text


def test_drawings_and_plots(notebooks: tuple[Any, Any]) -> None:
    for notebook in notebooks:
        found = kinds(notebook)
        assert sum("image/svg+xml" in kind and "text/html" in kind for kind in found) >= 5
        assert sum("image/png" in kind for kind in found) >= 5
        drawings = [
            o.data["text/html"] for cell in code(notebook) for o in cell.outputs if "text/html" in o.get("data", {})
        ]
        assert all(drawing.startswith("<svg") and "telescope" in drawing for drawing in drawings[:3])


def test_is_clean() -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    assert len(text.encode()) < 600_000
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"} and dict(notebook.metadata.language_info) == {
        "name": "python"
    }
    assert all(set(cell.metadata) <= {"tags"} for cell in notebook.cells)
    for cell in notebook.cells:
        shown = [cell.source]
        for output in cell.get("outputs", []):
            shown += [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
        assert not re.search(r"/(home|tmp|work|root|usr)/| at 0x[0-9a-f]+", "\n".join(shown))
