"""Settings for nbgrader, so that `nbgrader generate_assignment` makes the same stubs as `azlab course build`."""

c = get_config()  # type: ignore[name-defined]  # noqa: F821  (nbgrader defines it)
c.ClearSolutions.code_stub = {"python": "...  # your answer"}
