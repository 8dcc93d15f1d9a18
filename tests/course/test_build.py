"""One source, two versions: students get what is made from the instructor's notebooks; solutions pass, stubs do not."""

import re
import shutil

import nbformat
import pytest

from azlab.course import build, exercises
from azlab.errors import AzlabError
from azlab.files import notebooks_folder
from azlab.repro import refresh

SOURCES = build.instructor_notebooks()
SOLVED = '''def twice(x):
    """Two times x."""
    ### BEGIN SOLUTION
    two = 2
    return two * x
    ### END SOLUTION'''


def test_a_solution_becomes_dots_and_hidden_tests_vanish():
    assert build.without_solutions(SOLVED) == 'def twice(x):\n    """Two times x."""\n    ...  # your answer'
    tested = "result = 1\n### BEGIN HIDDEN TESTS\nassert result\n### END HIDDEN TESTS"
    assert build.without_solutions(tested) == "result = 1"
    assert build.without_solutions("x = 1\n\ny = 2") == "x = 1\n\ny = 2"


@pytest.mark.parametrize(
    "source",
    [
        "### BEGIN SOLUTION\nx = 1",
        "### END SOLUTION",
        "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION",
        "### BEGIN SOLUTION\n### END HIDDEN TESTS",
    ],
)
def test_marks_that_do_not_fit_are_refused(source):
    with pytest.raises(AzlabError, match="A cell has"):
        build.without_solutions(source)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_stored_notebook_is_what_is_built(path, tmp_path):
    stored = nbformat.read(notebooks_folder() / path.name, as_version=4)
    made = nbformat.read(build.build([path.stem], student=tmp_path)[0], as_version=4)
    assert [(cell.id, cell.source, cell.metadata) for cell in made.cells] == [
        (cell.id, cell.source, cell.metadata) for cell in stored.cells
    ]
    assert [cell.get("outputs") for cell in made.cells] == [cell.get("outputs") for cell in stored.cells]  # they are kept
    assert not any(re.search("SOLUTION|HIDDEN", cell.source) for cell in made.cells)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_exercise_of_a_lesson_has_an_answer_and_a_check(path):
    cells = [cell.metadata.nbgrader for cell in nbformat.read(path, as_version=4).cells if "nbgrader" in cell.metadata]
    number = path.stem[:2]
    wanted = {one.id.replace(".", "-"): one.points for one in exercises() if one.id.startswith(number)}
    assert {cell.grade_id.removeprefix("check-"): cell.points for cell in cells if cell.grade} == wanted
    assert {cell.grade_id.removeprefix("answer-") for cell in cells if cell.solution} == set(wanted)
    assert len({cell.grade_id for cell in cells}) == len(cells)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_stub_passes(path):
    """As stored, that is: executed without solutions."""
    for cell in nbformat.read(notebooks_folder() / path.name, as_version=4).cells:
        if "nbgrader" in cell.metadata and cell.metadata.nbgrader.grade:
            (output,) = cell.outputs
            assert "put your answer in place of the dots" in output.text


@pytest.mark.slow
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_solution_passes_and_the_lesson_runs_with_it(path, tmp_path):
    """The hidden tests of the instructor's version raise where a solution does not pass."""
    copied = tmp_path / path.name
    shutil.copy(path, copied)
    refresh.refresh(copied)
    printed = [
        output.text
        for cell in nbformat.read(copied, as_version=4).cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "stream"
    ]
    assert not re.search("the library's is used|in place of the dots|not yet", "\n".join(printed))


def test_building_needs_a_folder_and_spares_the_source(tmp_path):
    with pytest.raises(AzlabError, match="name a folder"):
        build.build()
    with pytest.raises(AzlabError, match="source of both versions"):
        build.build(instructor=build.instructor_folder())
    with pytest.raises(AzlabError, match="no instructor's notebook '99_none'"):
        build.build(["99_none"], student=tmp_path)


def test_outputs_are_kept_only_while_the_cells_are_the_same():
    def book(source, text):
        output = nbformat.v4.new_output("stream", name="stdout", text=text)
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id="a", outputs=[output], execution_count=1)])

    made = build.student_version(book("print(1)", "1\n"))
    assert made.cells[0].outputs == []
    assert build.with_outputs_of(made, book("print(1)", "old\n")).cells[0].outputs[0].text == "old\n"
    made = build.student_version(book("print(2)", "1\n"))
    assert build.with_outputs_of(made, book("print(1)", "old\n")).cells[0].outputs == []
