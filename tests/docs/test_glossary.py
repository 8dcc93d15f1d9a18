"""The glossary has every term that a lesson links to, in order, and each term it puts in italics."""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "glossary.md").read_text()
TERMS = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)


def anchor(term):
    return re.sub(r"[^\w-]", "", term.lower().replace(" ", "-"))


def test_terms_are_in_order_and_explained():
    assert [term.lower() for term in TERMS] == sorted((term.lower() for term in TERMS), key=lambda term: term.replace("-", " "))
    for body in re.split(r"^## .+$", TEXT, flags=re.MULTILINE)[1:]:
        assert re.search(r"\[\d\d\]$", body.strip())


def test_every_link_of_a_lesson_leads_to_a_term():
    anchors = {anchor(term) for term in TERMS}
    linked = set()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                linked |= set(re.findall(r"glossary\.md#([\w-]+)", cell.source))
    assert linked and linked <= anchors


def test_words_in_italics_have_an_entry():
    names = {term.lower() for term in TERMS}
    assert {word.lower() for word in re.findall(r"(?<!\*)\*(\w[\w -]*)\*", TEXT)} - {"italics"} <= names
