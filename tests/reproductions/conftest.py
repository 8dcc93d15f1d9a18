"""What the tests of the search and of learning share serves the programs of the reproductions, too."""

import importlib.util
from pathlib import Path


def _fixtures_of(folder):
    path = Path(__file__).parents[1] / folder / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"{folder}_conftest", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_search, _learning = _fixtures_of("search"), _fixtures_of("learning")
hash_evaluator, plain_puct, tiny = _search.hash_evaluator, _search.plain_puct, _learning.tiny
