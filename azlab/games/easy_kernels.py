"""The kernels of an easy game: templates around the four functions that its author wrote, compiled where Numba can.

The author's functions see a board of their own, a copy, and a player, +1 or -1. What they return may have several forms; the
functions `mark`, `next_player` and `outcome` understand them all, as plain Python and, by `overload`, in compiled code.
"""

import functools
import re
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.extending import overload

from azlab.errors import AzlabError
from azlab.games.game import NO_TRACE, Kernels
from azlab.games.kernel import JIT, kernel, new_rng, note, random_below, specialise

GOES_ON = 2  # in the place of a result
LEGAL = "legal returns the numbers of the legal actions, from 0 on, or one truth value for each action"
OUT_OF_RANGE = f"legal returned an action that is below 0 or above the last one; {LEGAL}."
WRONG_SIZE = f"legal returned truth values, but not one for each action; {LEGAL}."
NO_MOVE = "legal returned no action, but result says that the game goes on; let result return who won, or legal return a pass."
NEXT_PLAYER = "play returns the player who moves next, +1 or -1, or nothing if the players take turns."
OUTCOME = "result returns None while the game goes on; at the end +1 or -1, the player who won, or 0 for a draw."

# --- what the author's functions return ---------------------------------------------------------------------------------


def mark(found, mask):
    """Write what `legal` returned into mask bool [A]."""
    if found is None:
        raise AzlabError(f"legal returned nothing; {LEGAL}.")
    array = np.asarray(list(found) if isinstance(found, set | frozenset | range) else found).reshape(-1)
    if array.dtype == np.bool_:
        if len(array) != len(mask):
            raise AzlabError(WRONG_SIZE)
        mask[:] = array
        return
    mask[:] = False
    if len(array) == 0:
        return
    if array.dtype.kind not in "iu":
        raise AzlabError(f"legal returned {found!r}; {LEGAL}.")
    if array.min() < 0 or array.max() >= len(mask):
        raise AzlabError(OUT_OF_RANGE)
    mask[array] = True


@overload(mark)
def _mark(found, mask):
    if isinstance(found, types.Array) and isinstance(found.dtype, types.Boolean):

        def from_truths(found, mask):
            if found.size != mask.size:
                raise AzlabError(WRONG_SIZE)
            for action, is_legal in enumerate(found.flat):
                mask[action] = is_legal

        return from_truths

    def from_numbers(found, mask):
        for action in range(len(mask)):
            mask[action] = False
        for action in found:
            if action < 0 or action >= len(mask):
                raise AzlabError(OUT_OF_RANGE)
            mask[action] = True

    return from_numbers


def next_player(returned, player):
    """Who moves next, by what `play` returned after a move of `player`."""
    if returned is None:
        return -player
    if isinstance(returned, np.ndarray | list | tuple | bool | np.bool_) or returned not in (-1, 1):
        raise AzlabError(NEXT_PLAYER)
    return int(returned)


@overload(next_player)
def _next_player(returned, player):
    if isinstance(returned, types.NoneType):
        return lambda returned, player: -player

    def checked(returned, player):
        following = -player
        if returned is not None:
            following = np.int64(returned + 0)  # + 0 makes a number of Numba's "number or None"
        if following != 1 and following != -1:
            raise AzlabError(NEXT_PLAYER)
        return following

    return checked if _is_number(returned) else None


def outcome(returned):
    """+1, 0, -1 or GOES_ON, by what `result` returned."""
    if returned is None:
        return GOES_ON
    if isinstance(returned, np.ndarray | list | tuple | bool | np.bool_) or returned not in (-1, 0, 1):
        raise AzlabError(OUTCOME)
    return int(returned)


@overload(outcome)
def _outcome(returned):
    if isinstance(returned, types.NoneType):
        return lambda returned: GOES_ON

    def checked(returned):
        if returned is None:
            return GOES_ON
        value = returned + 0
        if value != -1 and value != 0 and value != 1:
            raise AzlabError(OUTCOME)
        return np.int64(value)

    return checked if _is_number(returned) else None


def _is_number(returned: Any) -> bool:
    """Whether a type of Numba's is that of a number or None; others are left to plain Python, which says what is wrong."""
    inner = returned.type if isinstance(returned, types.Optional) else returned
    return isinstance(inner, types.Integer | types.Float | types.IntegerLiteral)


# --- the templates --------------------------------------------------------------------------------------------------------


@kernel
def count_of(mask):
    """How many actions are legal; loops like this one compile much faster than mask.sum()."""
    count = 0
    for action in range(len(mask)):
        if mask[action]:
            count += 1
    return count


legal_of: Any = None  # these stand for the author's functions; `specialise` fills them in
play_of: Any = None
result_of: Any = None
encode_of: Any = None
step: Any = None


def _step(state, board, action):
    """Play one action on `board`, which is the board of `state`; all else in the state is kept up to date."""
    player = 1 - 2 * np.int64(state.to_move)
    following = next_player(play_of(board, player, action), player)
    state.ply += 1
    state.to_move = (1 - following) // 2
    result = outcome(result_of(board, player))
    if result != GOES_ON:
        state.over = True
        state.result = result
    elif state.ply >= state.max_length:
        state.over = True  # drawn


def _legal(states, mask):
    """See `Kernels`."""
    for i in range(len(states)):
        if states[i].over:
            for action in range(mask.shape[1]):
                mask[i, action] = False
        else:
            mark(legal_of(states[i].board.copy(), 1 - 2 * np.int64(states[i].to_move)), mask[i])
            if count_of(mask[i]) == 0:
                raise AzlabError(NO_MOVE)


def _play(states, actions):
    """See `Kernels`."""
    for i in range(len(states)):
        board = states[i].board.copy()
        step(states[i], board, np.int64(actions[i]))
        states[i].board[...] = board


def _playout(states, rng, trace):
    """See `Kernels`."""
    mask = np.empty(states[0].num_actions, np.bool_)
    for i in range(len(states)):
        state = states[i]
        board = state.board.copy()
        start = state.ply
        while not state.over:
            mark(legal_of(board, 1 - 2 * np.int64(state.to_move)), mask)
            count = count_of(mask)
            if count == 0:
                raise AzlabError(NO_MOVE)
            left = random_below(rng, i, count)
            action = 0
            while left > 0 or not mask[action]:
                left -= mask[action]
                action += 1
            note(trace, i, state.ply - start, action)
            step(state, board, np.int64(action))
        state.board[...] = board


def _encode(states, planes):
    """What the author's own `encode` returns."""
    for i in range(len(states)):
        planes[i] = encode_of(states[i].board.copy(), 1 - 2 * np.int64(states[i].to_move))


@kernel
def encode(states, planes):
    """A plane for each of `values`, one where a cell holds it, and a last plane of ones if seat 1 is to move.

    If the values are of the two players by their sign, the board is seen from the side of the player to move: its own pieces
    are positive. A board of several layers has these planes for each layer.
    """
    values = states[0].values
    is_signed = True
    for value in values:
        has_opposite = False
        for other in values:
            has_opposite |= np.int64(other) == -np.int64(value)
        is_signed &= has_opposite
    height, width = planes.shape[2], planes.shape[3]
    for i in range(len(states)):
        seat = np.int64(states[i].to_move)
        sign = 1 - 2 * seat if is_signed else 1
        for place, cell in enumerate(states[i].board.flat):
            layer, row, col = place // (height * width), place // width % height, place % width
            for k in range(len(values)):
                planes[i, layer * len(values) + k, row, col] = sign * np.int64(cell) == np.int64(values[k])
        planes[i, planes.shape[1] - 1] = seat


# --- compiling ------------------------------------------------------------------------------------------------------------


class Functions(NamedTuple):
    """What the author of a game wrote, or the same compiled."""

    legal: Any
    play: Any
    result: Any
    encode: Any  # None if a network sees the usual planes


def kernels_of(functions: Functions) -> Kernels:
    """The kernels of a game: compiled if the functions are, else plain Python."""
    rules = {"legal_of": functions.legal}
    one_step = specialise(_step, play_of=functions.play, result_of=functions.result)
    return Kernels(
        legal=specialise(_legal, **rules),
        play=specialise(_play, step=one_step),
        encode=encode if functions.encode is None else specialise(_encode, encode_of=functions.encode),
        playout=specialise(_playout, **rules, step=one_step),
    )


def compiled_kernels(functions: Functions, states: np.ndarray, num_actions: int, planes: tuple) -> Kernels | str:
    """The kernels of a game, compiled for `states` [1]; a clause with the reason if Numba cannot."""
    made = compiled_functions(functions)
    board = numba.typeof(states["board"][0].copy())
    for function, numbers in ((made.legal, 1), (made.play, 2), (made.result, 1), (made.encode, 1)):
        if function is not None and JIT:
            try:
                function.compile((board, *[types.int64] * numbers))
            except Exception as error:  # Numba's own, and what its insides raise
                return f"{function.__name__} cannot be compiled ({_reason(error)})"
    found = kernels_of(made)
    mask, actions = np.zeros((1, num_actions), np.bool_), np.zeros(1, np.int64)
    inputs = (mask,), (actions,), (np.zeros((1, *planes), np.float32),), (new_rng(0), NO_TRACE)
    for name, extra in zip(("legal", "play", "encode", "playout"), inputs, strict=True):
        if JIT:
            try:
                getattr(found, name).compile(tuple(map(numba.typeof, (states, *extra))))
            except Exception as error:
                return f"what {name.replace('out', '')} returns cannot be compiled ({_reason(error)})"
    return found


@functools.cache
def compiled_functions(functions: Functions) -> Functions:
    """The functions, compiled at their first call; the same ones again for a game that is made again."""
    done: dict[Callable, Callable] = {}
    return Functions(*(function and compiled_function(function, done) for function in functions))


def compiled_function(function: Any, done: dict[Callable, Callable]) -> Any:
    """`function` compiled, with the functions of the same file that it calls."""
    if function in done or not isinstance(function, FunctionType):  # an azlab.kernel of the author's already
        return done.get(function, function)
    names = dict(function.__globals__)
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__, copy.__module__, copy.__doc__ = function.__qualname__, function.__module__, function.__doc__
    done[function] = kernel(copy, careful=True)
    for name in _names_in(function.__code__):
        other = names.get(name)
        if isinstance(other, FunctionType) and other.__globals__ is function.__globals__:
            names[name] = compiled_function(other, done)
    return done[function]


def _names_in(code: CodeType) -> set[str]:
    """The global names that a function uses, those inside its comprehensions too."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def _reason(error: Exception) -> str:
    """The line of Numba's long message that says what is wrong, and where."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines() if line.strip()]
    said = (line for line in lines if not re.match(r"Failed in|Traceback|-+$|>+|During:|- Resolution|Overload|\W*$", line))
    places = re.findall(r'File "([^"]+)", line (\d+)', str(error))
    where = f", line {places[-1][1]}" if places else ""
    return f"{next(said, type(error).__name__).rstrip('.')}{where}"
