"""Configs of runs and players made by older versions, read as they were meant.

`[search]` has become `[search]`, `[explore]` and `[budget]`; `evaluation.every` is `network_every` and `search_every`.
"""

from typing import Any

from azlab.errors import AzlabError

# setting -> what it said when it was left out; it now stands in [explore]
EXPLORE = {"noise": 0.0, "noise_alpha": 0.3, "noise_alpha_base": 0.0, "temperature": [[0, 0.0]], "forced_playouts": 0.0}
# a setting that nobody used, or that matches and tests set aside -> the values that mean the same as leaving it out
DROPPED: dict[str, dict[str, Any]] = {
    "search": {"leaves": None, "gumbel_visit_offset": (50.0,), "gumbel_value_scale": (1.0,)},
    "gate": {"simulations": (0,)},
}
# switches of a single source's program -> the values that switch them off
PROGRAM: dict[str, dict[str, Any]] = {
    "search": {"root_values_only": False, "to_the_end": False, "random_ties": False, "drawn_plies": 0},
    "selfplay": {"flip_every_ply": False, "one_hot_from": -1, "first_player": "", "first_games": None},
    "gate": {"new_plays": "both"},
}
OLD = {"simulations", "unit_values", "reuse_tree", "cap_probability", "cap_simulations", "kl_threshold", "kl_step"}
OLD |= EXPLORE.keys() | DROPPED["search"].keys() | PROGRAM["search"].keys()


def renewed(config: dict[str, Any], where: str) -> dict[str, Any]:
    """The tables of a TOML config with today's names."""
    evaluation = config.get("evaluation")
    if isinstance(evaluation, dict) and "every" in evaluation:
        rest = {name: value for name, value in evaluation.items() if name != "every"}
        config = config | {"evaluation": {"network_every": evaluation["every"], "search_every": evaluation["every"]} | rest}
    if {"explore", "budget"} & config.keys():
        return config
    sections = {name: dict(part) if isinstance(part, dict) else part for name, part in config.items()}
    for name in ("search", "test_search", "selfplay", "gate"):
        if isinstance(sections.get(name), dict):
            _drop(sections[name], name, where)
    search, test, play = (sections.get(name) for name in ("search", "test_search", "selfplay"))
    if isinstance(search, dict) and OLD & config["search"].keys():
        sections["explore"] = {name: search.pop(name, value) for name, value in EXPLORE.items()}
        sections["budget"] = _budget(search, play if isinstance(play, dict) else {})
        _in_signed_values(search, where)
        if search.pop("reuse_tree", False):
            sections["selfplay"] = (play if isinstance(play, dict) else {}) | {"reuse_tree": True}
    if isinstance(test, dict) and OLD & config["test_search"].keys():
        if test.get("kl_threshold"):
            raise AzlabError(f"{where}: tests search with a fixed number of simulations now; leave out test_search.kl_threshold.")
        _in_signed_values(test, where)
        sections["evaluation"] = {"simulations": test.pop("simulations", 800), **sections.get("evaluation", {})}
        sections["test_search"] = {name: value for name, value in test.items() if name not in OLD}
    return sections


def _drop(section: dict[str, Any], name: str, where: str) -> None:
    """Take out settings that say nothing, and refuse those that say something which has no place here any more."""
    kind = "search" if name == "test_search" else name
    for key, off in PROGRAM.get(kind, {}).items():
        if key in section and section.pop(key) != off and off is not None:
            raise AzlabError(
                f"{where}: {name}.{key} belongs to the program of one source and stands in [parts] now, together with "
                'program = "s3_dots_and_boxes" (see reproductions/s3_dots_and_boxes/program.py); its presets show how.'
            )
    for key, same in DROPPED.get(kind, {}).items():
        if key in section and (value := section.pop(key)) not in (same or (value,)):
            raise AzlabError(f"{where}: there is no setting {name}.{key} any more; it can only be {same[0]}.")


def _budget(search: dict[str, Any], play: dict[str, Any]) -> dict[str, Any]:
    budget: dict[str, Any] = {"simulations": search.pop("simulations", 800)}
    share, small = search.pop("cap_probability", 1.0), search.pop("cap_simulations", 30)
    bits, step = search.pop("kl_threshold", 0.0), search.pop("kl_step", 50)
    start, turn = play.pop("clock_start", 0), play.pop("clock_per_turn", 50)
    pairs = {"cap": (share != 1, share, small), "gain": (bits != 0, bits, step), "clock": (start != 0, start, turn)}
    return budget | {name: [one, other] for name, (is_set, one, other) in pairs.items() if is_set}


def _in_signed_values(search: dict[str, Any], where: str) -> None:
    """Numbers meant for Q in [0, 1] as those for Q in [-1, 1]."""
    if not search.pop("unit_values", False):
        return
    if search.get("cpuct_base", 19652.0):
        raise AzlabError(f"{where}: cpuct is meant for values in [-1, 1] now; with `unit_values` it needs cpuct_base = 0.")
    search["cpuct"] = 2 * search.get("cpuct", 1.25)
    fpu = search.get("fpu", 0.0)
    search["fpu"] = 2 * fpu if search.get("fpu_relative") else 2 * fpu - 1
    search["draw_value"] = 2 * search.get("draw_value", 0.0) - 1
