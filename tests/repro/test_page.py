"""Whatever stands in claims and results, the page and the Markdown have the elements of the template and no others."""

import json
import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from azlab.repro import claims, page, report
from azlab.repro.claims import Claim, Source
from azlab.repro.rows import section

from .test_results import result

NASTY = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "</style><script>",
    "</svg><script>", "[x](javascript:alert(1))", "](javascript:alert(1))", "![x](javascript:alert(1))", "<javascript:alert(1)>",
    "javascript:alert(1)", "[a]: javascript:alert(1)", "a | b", "x\\| y", "\\",
    "one\n\ntwo\n# three\n<b>", "# x", "- x", "1. x", "--- ---",
    "    x", "> x", "`c` *b* _i_ ~~s~~ **b**", "&lt;script&gt;", "&#60;script&#62;",
    "{{ 7 * 7 }}{% raw %}", "<!--", "<![CDATA[", "$x$",
]  # fmt: skip
HARMLESS = "some words"


class Elements(HTMLParser):
    """Every element with the names of its attributes, links, and all text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.links, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, *(name for name, _ in attributes)))
        self.links += [value for name, value in attributes if name in ("href", "src", "action", "xlink:href")]

    def handle_endtag(self, tag):
        self.found.append("/" + tag)

    def handle_comment(self, data):
        self.found.append("comment")

    def handle_pi(self, data):
        self.found.append("instruction")

    def handle_data(self, data):
        self.text += data


def filled(text):
    """A report in which every field that can hold text holds `text`, whether or not it could be read from a file so."""
    shared = {"where": text, "metric": text, "unit": text, "profile": "smoke", "experiment": text}
    source = Source(
        text, text, text,
        (
            Claim(id=f"{text} 1", value=1.0, tolerance=0.0, **shared), Claim(id=f"{text} 2", value=text, **shared),
            Claim(id=f"{text} 3", unchecked=text, **shared), Claim(id=f"{text} 4", value={text: 1.0}, relative=0.1, **shared),
            Claim(id=f"{text} 5", value=[1, 2], x=[1, 2], tolerance=1.0, **shared),
            Claim(id=f"{text} 6", direction="above", than=f"{text} 1", **shared),
        ),
    )  # fmt: skip
    curve = [{"label": text, "x": [1, 2], "y": [1, 2]}]
    measured = result(
        source=text, experiment=text, seed=text, command=text, settings={text: text}, started=text,
        machine=dict.fromkeys(("processor", "cores", "system"), text), versions={text: text}, curves={f"{text} 5": curve},
        claims={
            f"{text} 1": {"value": 1.0, "note": text}, f"{text} 2": {"value": text}, f"{text} 4": {"value": {text: 1.0}},
            f"{text} 6": {"value": 2.0},
        },
    )  # fmt: skip
    return [section(source, [measured])], [f"a file: {text}"]


@pytest.mark.parametrize("text", NASTY)
def test_no_text_becomes_html(text):
    wanted, found = (Elements(page.html(*filled(given))) for given in (HARMLESS, text))
    assert found.found == wanted.found
    assert found.links and all(link.startswith("#") for link in found.links)
    assert found.text.count(text.strip()) >= wanted.text.count(HARMLESS) > 20  # all of it is there to be read


def rendered(text):
    """The Markdown of a report as the strictest and the most lenient reader would have it: raw HTML is let through."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(page.markdown(*filled(text)))
    kinds = [part.type for token in tokens for part in [token, *(token.children or [])]]
    words = [
        part.content for token in tokens for part in token.children or [] if part.type in ("text", "text_special", "code_inline")
    ]
    return [kind for kind in kinds if not kind.startswith("text")], "".join(words)


@pytest.mark.parametrize("text", NASTY)
def test_no_text_becomes_markdown(text):
    wanted, words = rendered(HARMLESS)
    found, shown = rendered(text)
    assert found == wanted and not {"html_block", "html_inline", "link_open", "image"} & set(found)
    cut_off = 6 if "_" in text else 0  # the name of a run begins with the source's up to the underscore
    assert shown.count(" ".join(text.split())) >= words.count(HARMLESS) - cut_off > 20


def test_files_full_of_markup_give_a_report_without(toy):
    """The same from files: what may be any text is escaped, what may not is refused, and the sentence about it is escaped too."""
    text = "".join(NASTY[:6]) + " | \n"
    quoted = json.dumps(text)
    home = toy.source(
        f"title = {quoted}\nsummary = {quoted}\n[[group]]\nwhere = {quoted}\nprofile = 'smoke'\nexperiment = {quoted}\nclaims = ["
        f"{{ id = 's9.a', metric = {quoted}, value = 1, unit = {quoted}, tolerance = 0 }},"
        f"{{ id = 's9.w', metric = {quoted}, value = {quoted} }}, {{ id = 's9.u', metric = {quoted}, unchecked = {quoted} }}]"
    )
    good = result(
        command=text, machine={"processor": text}, versions={text: text},
        curves={"s9.a": [{"label": text, "x": [1, 2], "y": [1, 2]}]},
        claims={"s9.a": {"value": 1, "note": text}, "s9.w": {"value": text}},
    )  # fmt: skip
    file = good.write(home / "results" / "good.json")
    for name in ("seed", "profile", "experiment", "source", "started", "seconds"):
        (home / "results" / f"{name}.json").write_text(json.dumps(json.loads(file.read_text()) | {name: text}))
    content = report.gather()
    assert [row.runs for row in content.sections[0].rows] == [(good,), (good,), ()] and len(content.faults) == 6
    found = Elements(page.html(content.sections, content.faults))
    names = {name for element in found.found if isinstance(element, tuple) for name in element}
    assert not {"script", "img", "src"} & names and not any(name.startswith("on") for name in names)
    assert found.text.count("<script>alert(1)</script>") > 15
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page.markdown(content.sections, content.faults))
    kinds = {part.type for token in tokens for part in [token, *(token.children or [])]}
    assert not kinds & {"html_block", "html_inline", "link_open", "image"}
    toy.source((home / "claims.toml").read_text().replace("'s9.u'", json.dumps("s9.<script>")))
    with pytest.raises(claims.AzlabError, match="an id is made of letters"):
        claims.load("s9")


def test_the_page_asks_browsers_to_run_and_load_nothing():
    html = page.html(*filled(HARMLESS))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html).group(1)
    assert "default-src 'none'" in policy and "script" not in policy
