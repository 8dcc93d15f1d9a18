"""Result files: those that are committed are complete; the largest profile and the newest result of each seed count."""

import json

import pytest

from azlab.errors import AzlabError
from azlab.files import reproductions_folder
from azlab.repro import claims, experiments, page, results
from azlab.repro.rows import section

from .conftest import CLAIMS


def result(**changes):
    fields = {
        "source": "s9_toy", "experiment": "toy", "profile": "smoke", "seed": 0, "command": "azlab reproduce s9.toy",
        "settings": {}, "started": "2026-01-01T00:00:00+00:00", "seconds": 1.0, "machine": {}, "versions": {"azlab": "0"},
        "claims": {}, "curves": {}, "data": {},
    }  # fmt: skip
    return results.Result(**{**fields, **changes})


def number(value, **changes):
    return result(claims={"s9.number": {"value": value}}, **changes)


def ours(toy, *given):
    toy.source()
    return results.ours(claims.load("s9"), list(given))["s9.number"]


def test_every_committed_result_is_complete_and_names_claims_that_exist():
    for file in sorted(reproductions_folder().glob("*/results/*")):
        kept = results.read(file)
        assert f"{kept.source.split('_')[0]}.{file.name}" == f"{kept.run_id}.json" and file.parent.parent.name == kept.source, (
            file
        )
        assert kept.command.startswith("azlab reproduce") and kept.seconds > 0 and kept.versions and kept.machine, file
        source = claims.load(kept.source)
        for claim_id in [*kept.claims, *kept.curves]:
            assert source.claim(claim_id).experiment == kept.experiment, claim_id


def test_the_largest_profile_wins_however_old_it_is(toy):
    laptop = number(1.0, profile="laptop", started="2020-01-01T00:00:00+00:00")
    found = ours(toy, laptop, number(5.0))
    assert found.measured.value == 1.0 and found.measured.profile == "laptop"


def test_the_newest_result_of_a_seed_wins(toy):
    assert ours(toy, number(2.0, started="2026-03-01T00:00:00+00:00"), number(1.0)).measured.value == 2.0


def test_seeds_make_a_mean_and_a_spread(toy):
    found = ours(toy, number(1.0), number(2.0, seed=1), number(3.0, seed=2))
    assert (found.measured.value, found.spread, found.runs) == (2.0, 1.0, 3)


def test_words_and_curves_are_judged_seed_by_seed(toy):
    toy.source()
    curve = {"s9.curve": [{"label": "", "x": [1, 3], "y": [1, 3]}]}
    wrong = {"s9.curve": [{"label": "", "x": [1, 3], "y": [9, 9]}]}
    given = [
        result(claims={"s9.word": {"value": "yes"}}, curves=curve),
        result(claims={"s9.word": {"value": "no"}}, curves=wrong, seed=1),
    ]
    verdicts = {row.claim.id: row.verdict for row in section(claims.load("s9"), given).rows}
    assert verdicts == {"s9.number": "not run at this scale", "s9.word": "partly", "s9.curve": "partly"}


def test_a_smaller_run_is_shown_but_not_judged(toy):
    toy.source(CLAIMS.replace('profile = "smoke"', 'profile = "laptop"'))
    row = section(claims.load("s9"), [number(1.0)]).rows[0]
    assert row.verdict == "not run at this scale" and row.our_value == "1 (at smoke)"


def test_a_result_goes_through_its_file(toy):
    toy.source()
    one = number(1.5, profile="laptop", seed=3)
    file = one.keep()
    assert file.name == "toy-laptop-seed3.json" and results.read(file) == one and results.committed() == [one]


@pytest.mark.parametrize("spoil", ["drop", "add", "text", "profile"])
def test_a_damaged_result_file_gets_a_sentence(spoil, toy):
    toy.source()
    file = number(1.0).keep()
    content = json.loads(file.read_text())
    if spoil == "drop":
        del content["command"]
    elif spoil == "profile":
        content["profile"] = "huge"
    else:
        content["extra"] = 1
    file.write_text("{" if spoil == "text" else json.dumps(content))
    with pytest.raises(AzlabError, match=str(file)):
        results.committed()


@pytest.mark.parametrize(("seconds", "text"), [(59.4, "59 s"), (190, "3 min 10 s"), (19_200, "5 h 20 min"), (260_000, "3 days")])
def test_durations_for_people(seconds, text):
    assert results.duration(seconds) == text


def test_a_committed_result_is_small_and_shows_what_its_experiment_does_now():
    for file in results.committed_files():
        kept = results.read(file)
        one = experiments.find(f"{kept.source.split('_')[0]}.{kept.experiment}")
        assert file.stat().st_size < 200_000, file
        assert kept.settings == one.at(kept.profile), f"{file.name} was made with other settings than those of the profile"


def test_the_largest_profile_and_the_seed_asked_for_are_shown(toy):
    toy.source()
    with pytest.raises(AzlabError, match="No result of s9.toy is kept yet: `azlab reproduce s9.toy"):
        results.kept("s9_toy", "toy", 1)
    for profile, seed in (("smoke", 1), ("laptop", 3), ("laptop", 2)):
        number(1.0, profile=profile, seed=seed).keep()
    number(1.0, experiment="toy-two", profile="paper").keep()  # of another experiment
    assert [results.kept("s9_toy", "toy", seed).run_id for seed in (1, 3)] == ["s9.toy-laptop-seed2", "s9.toy-laptop-seed3"]


def test_a_result_says_how_it_came_about(toy):
    toy.source()
    one = number(1.5, seconds=90.0, machine={"processor": "a chip", "cores": 2})
    assert str(one) == "azlab reproduce s9.toy: 2026-01-01, 1 min 30 s on 2 cores (a chip)" and one.value("s9.number") == 1.5
    with pytest.raises(AzlabError, match="has nothing for 's9.word'; it has s9.number"):
        one.value("s9.word")


SURE = """
title = "A toy"
summary = "Nothing to see."
[[group]]
where = "Table 1"
profile = "smoke"
experiment = "toy"
sure = true
claims = [
    { id = "s9.number", metric = "a number", value = 1.0, tolerance = 6, unit = "%%" },
    { id = "s9.more", metric = "more", direction = "above", than = "s9.number", sure = %s },
    { id = "s9.list", metric = "a list", value = [1, 2], tolerance = 0.5 },
]
"""


def judged(toy, *entries, sure="true"):
    """The rows of results with these entries by claim id, one for each seed."""
    toy.source(SURE % sure)
    return section(claims.load("s9"), [result(claims=entry, seed=seed) for seed, entry in enumerate(entries)]).rows


def test_a_sure_claim_has_the_interval_of_the_mean_over_seeds(toy):
    row = judged(toy, *({"s9.number": {"value": value, "spread": 0.1}} for value in (1.0, 2.0, 3.0)))[0]
    assert row.our_value == "2 ± 2.5 % (3 runs)" and row.verdict == "reproduced"  # 4.303 / sqrt(3)
    assert row.interval == "Sure: it holds for the whole interval. The interval is -0.4841 to 4.484 %."
    assert row.criterion == "within 6 % of the source, for the whole 95 % interval"
    row = judged(toy, *({"s9.number": {"value": value}} for value in (1.0, 6.0)))[0]
    assert row.verdict == "partly" and row.interval.startswith(
        "Not sure: it holds for the value, not for the whole interval. The"
    )


@pytest.mark.parametrize(
    ("more", "verdict", "sentence"),
    [
        ({"value": 7.1, "spread": 3}, "reproduced", "Sure: it holds for the whole interval. The difference is 5.1 ± 5."),
        ({"value": 6.5, "spread": 3}, "partly", "Not sure: it holds for the value, not for the whole interval. The differ"),
        ({"value": 6.5, "paired": 1}, "reproduced", "Sure: it holds for the whole interval. The difference is 4.5 ± 1."),
        ({"value": 6.5}, "partly", "Not sure: no interval."),
        ({"value": 1.5, "spread": 3}, "not reproduced", "It does not hold for the value. The difference is -0.5 ± 5."),
    ],
)  # fmt: skip
def test_a_sure_comparison_shows_its_difference(toy, more, verdict, sentence):
    row = judged(toy, {"s9.number": {"value": 2.0, "spread": 4}, "s9.more": more})[1]
    assert row.verdict == verdict and row.interval.startswith(sentence)
    assert judged(toy, {"s9.number": {"value": 2.0, "spread": 4}, "s9.more": more}, sure="false")[1].interval == ""


def test_a_comparison_with_several_seeds_takes_intervals_of_means_not_deviations(toy):
    """Deviations of 1 each would make a difference of 2 sure; the intervals of the means, 2.48 each, do not."""
    entries = [{"s9.number": {"value": value}, "s9.more": {"value": value + 2}} for value in (1.0, 2.0, 3.0)]
    row = judged(toy, *entries)[1]
    assert row.verdict == "partly" and row.interval.endswith("The difference is 2 ± 3.5.")


def test_parts_of_a_list_have_their_intervals_beside_them(toy):
    row = judged(toy, {"s9.list": {"value": [1, 2], "spread": [0.25, 0.5]}})[2]
    assert (row.verdict, row.our_value) == ("reproduced", "1 ± 0.25, 2 ± 0.5")
    assert row.interval == "Sure: it holds for the whole interval."


def test_html_and_markdown_show_intervals(toy):
    toy.source(SURE % "true")
    measured = result(claims={"s9.number": {"value": 2.0, "spread": 0.5}})
    sections = [section(claims.load("s9"), [measured])]
    sentence = "Sure: it holds for the whole interval. The interval is 1.5 to 2.5 %."
    assert f"<small>{sentence}</small>" in page.html(sections)
    assert f"| 2 ± 0.5 % {sentence} |" in page.markdown(sections)
    assert "for the whole 95 % interval" in page.html(sections) and "for the whole 95 % interval" in page.markdown(sections)


def test_a_paired_width_is_a_number(toy):
    toy.source()
    file = number(1.0).keep()
    content = json.loads(file.read_text())
    content["claims"]["s9.number"]["paired"] = "wide"
    file.write_text(json.dumps(content))
    with pytest.raises(AzlabError, match="is no measurement"):
        results.committed()
