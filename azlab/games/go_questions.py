"""Questions to Go states that playing does not ask: may this one move be played, and which points are one's own eyes?

The answers are kernels over stones alone, so they serve every kind of ko; `Go` has the methods for people.
"""

from azlab.games.kernel import kernel
from azlab.games.stones import is_safe_eye, may_place, point_of


@kernel
def may_place_each(states, actions, marks, stack, allowed):
    """Whether each action, int64 [B], may be played in its state by simple ko: bool [B]. The last action is the pass.

    Where one move of many positions is asked for, as in a record, this is far cheaper than the mask of all moves.
    """
    for i in range(len(states)):
        state = states[i]
        if state.over or actions[i] == (state.stride - 1) * (state.stride - 1):
            allowed[i] = not state.over
        else:
            point = point_of(actions[i], state.stride)
            allowed[i] = may_place(state.board, point, state.to_move, state.ko, state.stride, marks, stack)


@kernel
def safe_eyes(states, mask):
    """The points that are eyes of the player to move which random play would not fill either: bool [B, A]."""
    for i in range(len(states)):
        state = states[i]
        for cell in range(mask.shape[1] - 1):
            mask[i, cell] = is_safe_eye(state.board, point_of(cell, state.stride), state.to_move, state.stride)
        mask[i, mask.shape[1] - 1] = False
