"""Result files: those that are committed are complete; the largest profile and the newest result of each seed count."""

import json

import pytest

from azlab.errors import AzlabError
from azlab.files import reproductions_folder
from azlab.repro import claims, experiments, results
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
