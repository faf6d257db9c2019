"""The pages are true."""

import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/use-from-python.md"])
def test_the_example_prints_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    (number,) = [i for i, (language, _) in enumerate(blocks) if language == "python"]
    path = tmp_path / "example.py"
    path.write_text(blocks[number][1])
    monkeypatch.chdir(ROOT)
    spec = importlib.util.spec_from_file_location("example", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert capsys.readouterr().out == blocks[number + 1][1]
