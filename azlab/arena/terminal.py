"""A person plays in the terminal."""

from collections.abc import Callable

from azlab.arena.agents import Agent
from azlab.errors import AzlabError, IllegalMove
from azlab.games.game import Position

HELP = "Type a move by name. Other words: ? (legal moves), undo, quit."


def play(position: Position, agent: Agent, person: int | None, ask: Callable[[str], str] = input) -> Position:
    """Play on from `position`: seat `person` is asked (both seats if None), `agent` plays the other. Return where it ended.

    Ctrl-C, end of input and "quit" stop the game; the line printed then shows how to take it up again.
    """
    if person not in (0, 1, None):
        raise AzlabError("The person's seat must be 0, 1 or None.")
    past = [position]
    print(f"{position.game.name}. {HELP}\n\n{position.text}")
    try:
        while not past[-1].over:
            position = past[-1]
            if person is None or position.to_move == person:
                if not _ask_move(past, person, ask):
                    break
            else:
                past.append(position.play(agent.choose(position)))
                print(f"\n{agent.name} plays {past[-1].moves[-1]}")
            if past[-1] is not position:
                print(f"\n{past[-1].text}")
    except (KeyboardInterrupt, EOFError):
        print()
    if not past[-1].over and past[-1].moves:
        print(f'Stopped. To go on from here: --moves "{" ".join(past[-1].moves)}"')
    return past[-1]


def _ask_move(past: list[Position], person: int | None, ask: Callable[[str], str]) -> bool:
    """Read one answer and change `past` by it; return False if the person wants to quit."""
    position = past[-1]
    answer = ask(f"{position.game.seats[position.to_move]}, your move: ").strip()
    if answer.lower() in ("quit", "exit", "q"):
        return False
    if answer in ("", "?", "help"):
        print(f"{HELP}\nLegal moves: {' '.join(position.legal_moves)}")
    elif answer.lower() == "undo":
        _undo(past, person)
    else:
        try:
            past.append(position.play(answer))
        except IllegalMove as error:
            print(error)
    return True


def _undo(past: list[Position], person: int | None) -> None:
    """Go back to the person's previous turn."""
    if len(past) == 1:
        print("There is nothing to take back.")
        return
    past.pop()
    while len(past) > 1 and person is not None and past[-1].to_move != person:
        past.pop()
