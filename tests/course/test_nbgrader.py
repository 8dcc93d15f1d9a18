"""nbgrader, where it is installed: it makes the same notebooks from the instructor's as we do, and gives the points it should."""

import os
import shutil
import sqlite3
import subprocess
import sys

import nbformat
import pytest

from azlab.course import build, exercises
from azlab.files import notebooks_folder

pytest.importorskip("nbgrader")
LESSON = "02_minimax"
BROKEN = "def value(position:"  # no Python at all


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course of one lesson, handed in by four students."""
    folder = tmp_path_factory.mktemp("course")
    source = build.instructor_folder() / f"{LESSON}.ipynb"
    shutil.copy(build.instructor_folder() / "nbgrader_config.py", folder)
    (folder / "source" / "lesson").mkdir(parents=True)
    shutil.copy(source, folder / "source" / "lesson")
    run(folder, "generate_assignment", "lesson", "--create", "--force", may_fail=True)  # the first call makes the database
    run(folder, "generate_assignment", "lesson", "--create", "--force")
    stubs = nbformat.read(notebooks_folder() / f"{LESSON}.ipynb", as_version=4)
    solved = nbformat.read(source, as_version=4)
    for student in ("right", "untouched", "wrong", "broken"):
        book = nbformat.from_dict(solved if student == "right" else stubs)
        for cell in book.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "answer-02-1" and student in ("wrong", "broken"):
                cell.source = "def value(position):\n    return 1" if student == "wrong" else BROKEN
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "answer-02-2" and student in ("wrong", "broken"):
                cell.source = "worth = '4'"
        (folder / "submitted" / student / "lesson").mkdir(parents=True)
        nbformat.write(book, folder / "submitted" / student / "lesson" / f"{LESSON}.ipynb")
    run(folder, "autograde", "lesson", "--create", "--force", may_fail=True)
    return folder


def run(folder, *words, may_fail=False):
    binaries = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words], cwd=folder, env={**os.environ, "PATH": binaries, "HOME": str(folder)},
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert may_fail or done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_it_makes_the_notebook_that_students_get(course):
    made = nbformat.read(course / "release" / "lesson" / f"{LESSON}.ipynb", as_version=4)
    stored = nbformat.read(notebooks_folder() / f"{LESSON}.ipynb", as_version=4)
    assert [cell.source for cell in made.cells] == [cell.source for cell in stored.cells]


@pytest.mark.slow
def test_it_gives_the_points_that_answers_deserve(course):
    """All to the solutions, none to stubs, those of 02.2 alone to a wrong 02.1 and to one that is no Python."""
    with sqlite3.connect(course / "gradebook.db") as book:
        query = """
            select submitted_assignment.student_id, sum(coalesce(grade.auto_score, 0)) from grade
            join submitted_notebook on grade.notebook_id = submitted_notebook.id
            join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
            group by submitted_assignment.student_id"""
        points = dict(book.execute(query))
    of = {one.id: one.points for one in exercises() if one.id.startswith("02")}
    assert points == {"right": sum(of.values()), "untouched": 0, "wrong": of["02.2"], "broken": of["02.2"]}
