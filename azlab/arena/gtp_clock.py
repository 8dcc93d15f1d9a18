"""How long a move may take by the time settings of the Go Text Protocol: main time, then overtime.

Overtime is a time for so many stones (Canadian), or a time for each move with some periods to lose (byo-yomi). The clock
keeps the time itself, and what the controller says by time_left counts more.
"""

from dataclasses import dataclass

from azlab.errors import AzlabError

SHARE, LAG = 0.9, 0.05  # of the time that a move could have, and seconds less: the way to a server takes some
MOVES_PER_POINT = 0.8  # a game's length for the plan; rated games on 9x9 have 0.7 moves a point, programs play on longer
FEWEST_MOVES = 10  # that are always planned for


@dataclass
class Hand:
    """What one player has left."""

    main: float
    overtime: float = 0.0  # seconds of the period that runs
    stones: int = 0  # to be played in it; for byo-yomi the periods


class Clock:
    """Both players' time. Without settings there is no limit."""

    def __init__(self) -> None:
        self.no_limit()

    def no_limit(self) -> None:
        """Every move may take as long as the agent likes."""
        self._has_settings, self._main, self._period, self._stones, self._is_byo_yomi = False, 0.0, 0.0, 0, False
        self.reset()

    def set(self, main: float, period: float, stones: int, is_byo_yomi: bool = False) -> None:
        """Main time, then `stones` stones in each `period`, or a period for each move with so many of them."""
        if not (0 <= main < 1e9 and 0 <= period < 1e9 and 0 <= stones < 1e6):
            raise AzlabError("syntax error: times are seconds from 0 on")
        if period > 0 and stones == 0:  # the protocol's way to say so
            self.no_limit()
            return
        self._has_settings, self._main, self._period, self._stones, self._is_byo_yomi = True, main, period, stones, is_byo_yomi
        self.reset()

    def reset(self) -> None:
        """A new game begins, with the time of the settings."""
        self._is_limited = self._has_settings
        self.hands = [Hand(self._main, self._period, self._stones) for _ in range(2)]

    def left(self, seat: int, seconds: float, stones: int) -> None:
        """What the controller's clock says: main time if `stones` is 0, else time for so many stones, or periods."""
        if not (0 <= seconds < 1e9 and 0 <= stones < 1e6):
            raise AzlabError("syntax error: times are seconds from 0 on")
        hand = self.hands[seat]
        if stones == 0:
            hand.main, hand.overtime, hand.stones = seconds, self._period, self._stones
        else:
            hand.main, hand.overtime, hand.stones = 0.0, seconds, stones
        self._is_limited = True

    def allot(self, seat: int, size: int, moves: int) -> float | None:
        """Seconds for the next move of a game with so many moves behind it; None without a limit."""
        if not self._is_limited:
            return None
        hand = self.hands[seat]
        stones = 1 if self._is_byo_yomi else max(1, hand.stones)
        extra = hand.overtime / stones if hand.stones else 0.0
        to_come = max(FEWEST_MOVES, (MOVES_PER_POINT * size * size - moves) / 2)
        return max(0.0, SHARE * (hand.main / to_come + extra) - LAG)

    def spend(self, seat: int, seconds: float) -> None:
        """Take off what a move has used."""
        hand = self.hands[seat]
        if seconds < hand.main:
            hand.main -= seconds
            return
        seconds -= hand.main
        hand.main = 0.0
        if self._is_byo_yomi:
            hand.overtime = self._period
            return
        hand.overtime, hand.stones = max(0.0, hand.overtime - seconds), hand.stones - 1
        if hand.stones <= 0:
            hand.overtime, hand.stones = self._period, self._stones
