"""The report: complete, safe, self-contained, and readable on a phone."""

from html.parser import HTMLParser

import pytest

from azlab.repro import claims, page, report, results
from azlab.repro.plot import number, ticks
from azlab.repro.rows import section

from .test_results import result

NASTY = '<script>alert("x")</script> & "quotes" | pipes'
VOID = {"meta", "col", "line", "polyline", "br"}


class Reader(HTMLParser):
    """Collects tags and text, and fails where a tag is closed that is not open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], set(), []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_every_claim_of_every_source_is_in_both_forms():
    sections = report.gather().sections
    html, markdown = page.html(sections), page.markdown(sections)
    text = " ".join(Reader(html).text)
    sources = claims.load_all()
    assert len(sources) == 5
    for source in sources:
        assert source.title in text and source.title in markdown
        for claim in source.claims:
            assert claim.metric in text, claim.id
            assert f"`{claim.id}`" in markdown, claim.id
    ours = {claim_id for one in results.committed() for claim_id in one.curves}
    drawn = sum(claim.x is not None or claim.id in ours for source in sources for claim in source.claims)
    assert html.count('<svg class="plot"') == drawn


def test_the_page_needs_no_network_and_no_script():
    html = page.html(report.gather().sections)
    tags = Reader(html).tags
    assert not tags & {"script", "link", "img", "iframe"} and "://" not in html and "url(" not in html


def test_nothing_from_claims_or_results_becomes_html(toy):
    nasty = NASTY.replace('"', '\\"')
    toy.source(
        f'title = "{nasty}"\nsummary = "{nasty}"\n[[group]]\nwhere = "{nasty}"\nprofile = "smoke"\nexperiment = "n"\nclaims = ['
        f'{{ id = "s9.a", metric = "{nasty}", value = 1, unit = "<i>", tolerance = 0 }},'
        f'{{ id = "s9.w", metric = "m", value = "{nasty}" }},'
        f'{{ id = "s9.u", metric = "m", unchecked = "{nasty}" }}]'
    )
    measured = result(
        experiment=NASTY, command=NASTY, machine={"processor": NASTY}, versions={NASTY: NASTY},
        claims={"s9.a": {"value": 1, "note": NASTY}, "s9.w": {"value": NASTY}},
        curves={"s9.a": [{"label": NASTY, "x": [1, 2], "y": [1, 2]}]},
    )  # fmt: skip
    sections = [section(claims.load("s9"), [measured])]
    reader = Reader(page.html(sections))
    assert not reader.tags & {"script", "i"} and sum(NASTY in text for text in reader.text) > 8
    for line in page.markdown(sections).splitlines():
        if line.startswith("|"):
            assert "<script" not in line and line.replace("\\|", "").count("|") == 7


def test_curves_are_drawn_over_the_sources(toy):
    toy.source()
    measured = result(
        curves={"s9.curve": [{"label": "", "x": [1, 3], "y": [1, 3.05]}]}, claims={"s9.number": {"value": 1, "spread": 0.25}}
    )
    html = page.html([section(claims.load("s9"), [measured])])
    assert html.count('<polyline class="source"') == 1 and html.count('<polyline class="ours"') == 1
    assert "1 ± 0.25" in html and 'href="#s9.toy-smoke-seed0"' in html and 'id="s9.toy-smoke-seed0"' in html
    assert html.count("✔ reproduced") == 2 and "azlab reproduce s9.toy" in html


def test_markdown_and_html_say_the_same_verdicts():
    sections = report.gather().sections
    html, markdown = page.html(sections), page.markdown(sections)
    for mark, verdict in zip(
        "✔◐✘·–", ("reproduced", "partly", "not reproduced", "not run at this scale", "cannot be checked here")
    ):
        assert html.count(f">{mark} {verdict}<") == markdown.count(f"| {mark} {verdict} |")


@pytest.mark.parametrize(
    ("value", "text"),
    [(8197221, "8,197,221"), (0.9896, "0.9896"), (48642.5, "48,640"), (1 / 3, "0.3333"), (-0.1, "-0.1"), (0, "0")],
)
def test_numbers_for_people(value, text):
    assert number(value) == text


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 7), (1e-4, 3e-4), (0.99, 1.0), (0, 1e6), (5, 5.5)])
def test_ticks_are_few_and_inside(low, high):
    marks = ticks(low, high)
    assert 2 <= len(marks) <= 7 and all(low - 1e-9 <= mark <= high + 1e-9 for mark in marks) and marks == sorted(set(marks))


@pytest.mark.slow
def test_the_page_fits_a_phone(need, tmp_path):
    chromium = need("chromium")
    from playwright.sync_api import sync_playwright

    html, _ = report.write(tmp_path, report.gather())
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]  # fmt: skip
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=flags)
        for width in (360, 800, 1280):
            view = browser.new_page(viewport={"width": width, "height": 800})
            view.goto(html.as_uri())
            assert view.evaluate("document.documentElement.scrollWidth") <= width
            cells = "[...document.querySelectorAll('tbody td, tbody th')]"
            spilled = view.evaluate(f"{cells}.filter(cell => cell.scrollWidth > cell.clientWidth + 1).length")
            assert spilled == 0
        browser.close()
