"""The settings of every notebook at every scale: `reproductions/<source>/profiles.toml`.

    ["04_value_generations".smoke]        # seconds: every cell runs; the notebook's own defaults are these
    games = [200, 200]
    ["04_value_generations".laptop]       # two cores, no GPU, at most about an hour
    games = [5000, 30000]
    ["04_value_generations".paper]        # the source's own settings
    games = [5000, 30000, 30000]

Keys are parameters of the notebook. `profile`, `seed` and `out` are set by the runner and must not stand here.

For `azlab reproduce --estimate` a notebook also has a `probe`, a run somewhat larger than smoke, and `work`: numbers in
proportion to the running time of each. Timing smoke and probe gives start-up and speed on this machine.

    ["04_value_generations".probe]
    games = [400, 400]
    ["04_value_generations".work]         # positions trained on, in thousands
    smoke = 2
    probe = 4
    laptop = 1750
    paper = 3250
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.files import root
from azlab.repro.reading import is_name, is_number, read_toml
from azlab.repro.sources import PROFILES, find_source, notebook_path, source_names

OF_THE_RUNNER = ("profile", "seed", "out")
PART = "part:"
TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,), "list": (list,)}


@dataclass(frozen=True)
class NotebookProfiles:
    """One notebook of a source: its parameters at each profile, and what --estimate needs."""

    source: str
    notebook: str
    parameters: dict[str, dict[str, Any]]  # by profile, and `probe` if there is one
    work: dict[str, float]

    @property
    def path(self) -> Path:
        return notebook_path(self.notebook)

    def at(self, profile: str) -> dict[str, Any]:
        if profile not in self.parameters:
            raise AzlabError(
                f"{self.notebook} has no profile {profile!r} in the profiles.toml of {self.source}; "
                f"it has {', '.join(self.parameters)}."
            )
        return self.parameters[profile]


def load(source: str) -> list[NotebookProfiles]:
    """The notebooks of a source (its full name) that have profiles, in the order of their names."""
    file = root() / "reproductions" / source / "profiles.toml"
    if not file.exists():
        return []
    found = []
    for notebook, tables in sorted(read_toml(file, "Mend it, or restore it with git.").items()):
        place = f"{file}, {notebook}"
        if not is_name(notebook):
            raise AzlabError(f"{file}: {notebook!r} cannot be the name of a notebook, such as 04_value_generations.")
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            raise AzlabError(f'{place}: a profile is a table of its own, such as ["{notebook}".smoke].')
        work = tables.pop("work", {})
        for name, parameters in tables.items():
            if name not in (*PROFILES, "probe"):
                raise AzlabError(f"{place}: there is no profile {name!r}; there are {', '.join(PROFILES)}, probe and work.")
            taken = [key for key in OF_THE_RUNNER if key in parameters]
            if taken:
                raise AzlabError(f"{place}, {name}: {taken[0]} is set by the runner and must not stand in a profile.")
        for name, amount in work.items():
            if name not in tables or not is_number(amount) or amount <= 0:
                raise AzlabError(f"{place}, work: {name} has to be one of its profiles with a positive number.")
        if "probe" in work and not work.get("smoke", 0) < work["probe"]:
            raise AzlabError(f"{place}, work: a probe has more work than smoke, or no speed can be told from the two.")
        found.append(NotebookProfiles(source, notebook, tables, work))
    return found


def select(names: list[str]) -> tuple[list[NotebookProfiles], list[str]]:
    """The notebooks that the words of a command mean, and the sources among them without any; no words mean everything.

    A word is a source (s1, s1_value_generations) or a notebook (04_value_generations, with or without .ipynb).
    """
    everything = {name: load(name) for name in source_names()}
    chosen: dict[str, NotebookProfiles] = {}
    empty = []
    for word in names or list(everything):
        source = find_source(word)
        if source is not None:
            written = [one for one in everything[source] if one.path.exists()]
            chosen.update({one.notebook: one for one in written})
            if not written:
                empty.append(source)
            continue
        stem = Path(word).name.removesuffix(".ipynb")
        one = next((one for known in everything.values() for one in known if one.notebook == stem), None)
        if one is None:
            notebooks = [one.notebook for known in everything.values() for one in known]
            raise AzlabError(
                f"There is no source or notebook {word!r}. Sources: {', '.join(everything)}. Notebooks: {', '.join(notebooks)}."
            )
        if not one.path.exists():
            raise AzlabError(f"The notebook {one.notebook} is not written yet: there is no {one.path}.")
        chosen[one.notebook] = one
    return sorted(chosen.values(), key=lambda one: one.notebook), empty


def read_notebook(path: Path) -> Any:
    """A notebook of the checkout as nbformat has it."""
    import nbformat

    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError, AttributeError, KeyError, TypeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:100]
        raise AzlabError(f"{path} cannot be read as a notebook ({reason}). Restore it with git.") from None


def notebook_parameters(path: Path) -> dict[str, str]:
    """The parameters a notebook declares in its cell tagged `parameters`, and the type each is annotated with ("" without)."""
    cells = [cell for cell in read_notebook(path).cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise AzlabError(
            f"{path.name} needs one cell tagged `parameters` and has {len(cells)}; CONTRIBUTING.md says what belongs there."
        )
    try:
        lines = ast.parse(cells[0].source).body
    except (SyntaxError, ValueError) as error:
        raise AzlabError(f"{path.name}: the cell tagged `parameters` is not Python ({error}).") from None
    declared = {}
    for line in lines:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            declared[line.target.id] = ast.unparse(line.annotation)
        elif isinstance(line, ast.Assign):
            declared.update({target.id: "" for target in line.targets if isinstance(target, ast.Name)})
    return declared


def notebook_parts(path: Path) -> list[str]:
    """The parts of a notebook that can be run alone: its cells have tags such as part:tictactoe; cells without belong to all."""
    tags = [tag for cell in read_notebook(path).cells for tag in cell.metadata.get("tags", [])]
    return list(dict.fromkeys(tag.removeprefix(PART) for tag in tags if tag.startswith(PART)))


def check_parameters(path: Path, parameters: dict[str, Any]) -> None:
    """Refuse a parameter that the notebook does not have, or a value of another type: papermill only warns, or not even that."""
    declared = notebook_parameters(path)
    for name, value in parameters.items():
        if name not in declared:
            raise AzlabError(f"{path.name} has no parameter {name!r}; its parameters are {', '.join(declared)}.")
        wanted = TYPES.get(declared[name].split("[")[0])
        if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
            raise AzlabError(f"{path.name}: the parameter {name} is of type {declared[name]}, so {value!r} does not fit.")


def check_texts(one: NotebookProfiles, parameters: dict[str, Any]) -> None:
    """Refuse text that no profile of the checkout has for that parameter.

    A player's name can be a program to start: the numbers of a run may be anyone's, its words only ours.
    """
    for name, value in parameters.items():
        known = {text for profile in one.parameters.values() for text in _texts(profile.get(name))}
        for text in _texts(value):
            if text not in known:
                raise AzlabError(f"{one.notebook}: no profile of this checkout has {text!r} for the parameter {name}.")


def _texts(value: Any) -> Iterator[str]:
    """Every text in a parameter's value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(part)
