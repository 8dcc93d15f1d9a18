"""SGF text to game trees: the grammar of the format, and nothing about any game.

`azlab.formats.sgf` is the module to use; it makes Go records of these trees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from azlab.errors import AzlabError

# A value ends at the first bracket that no backslash protects. The loop is unrolled (plain text, then any number of an
# escape and plain text) because the obvious pattern takes exponential time on a value that is never closed.
_VALUE_TEXT = r"[^\]\\]*(?:\\.[^\]\\]*)*"
_NAME = r"[A-Za-z][A-Za-z0-9]*"

_NAME_ALONE = re.compile(_NAME)
_START = re.compile(r"\(\s*;")
_SPACE = re.compile(r"\s*")
_VALUE = re.compile(rf"\[({_VALUE_TEXT})\]", re.DOTALL)
_PROPERTY = re.compile(rf"({_NAME})\s*((?:\[{_VALUE_TEXT}\]\s*)+)", re.DOTALL)
# Nearly every node of a real game is one move such as `;B[dd]`: read it with one match, several times as fast.
_ONE_VALUE_NODE = re.compile(rf";\s*({_NAME})\s*\[([^\]\\]*)\]\s*(?=[;()])")
_ESCAPE = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)


class SgfError(AzlabError):
    """The text is not the SGF that was asked for. `offset` is the character where it shows."""

    def __init__(self, offset: int, problem: str) -> None:
        super().__init__(f"This SGF text cannot be used, see character {offset}: {problem}")
        self.offset = offset
        self.problem = problem


class Node:
    """One node of a game tree.

    `properties` maps a property's name to its values, with escapes removed. `children` are the nodes that may follow;
    the first is the main line. `offset` is where the node begins in the text.
    """

    __slots__ = ("children", "offset", "properties")

    def __init__(self, properties: dict[str, list[str]], offset: int = 0) -> None:
        self.properties = properties
        self.children: list[Node] = []
        self.offset = offset

    def __repr__(self) -> str:
        return f"Node({self.properties!r}, children={len(self.children)})"

    def main_line(self) -> Iterator[Node]:
        """This node, its first child, that one's first child, and so on to the end."""
        node = self
        while True:
            yield node
            if not node.children:
                return
            node = node.children[0]


def parse(text: str) -> list[Node]:
    """The root nodes of all game trees in `text`, in their order.

    Text before the first "(;" is skipped, as the format asks (records were once sent by mail). After it only game
    trees and white space may follow: anything else raises SgfError, because it means that a file is damaged.
    """
    start = _START.search(text)
    if start is None:
        raise SgfError(0, f"expected a game tree that starts with '(;', found {_quote(text, 0)}.")
    roots: list[Node] = []
    position = start.start()
    while position < len(text):
        root, position = _parse_tree(text, position)
        roots.append(root)
        position = _skip_space(text, position)
    return roots


def _parse_tree(text: str, position: int) -> tuple[Node, int]:
    """Read the tree whose "(" is at `position`; give its root and the position after its ")"."""
    if _START.match(text, position) is None:
        raise SgfError(position, f"expected '(;' or the end of the text, found {_quote(text, position)}.")
    tree_start = position
    root: Node | None = None
    last: Node | None = None
    # For each open "(", the node that its first node follows.
    branches: list[Node | None] = []
    while True:
        character = text[position : position + 1]
        if character == ";":
            node, position = _parse_node(text, position)
            if last is None:
                root = node
            else:
                last.children.append(node)
            last = node
        elif character == "(":
            if _START.match(text, position) is None:
                after = _skip_space(text, position + 1)
                raise SgfError(after, f"expected ';' after '(', found {_quote(text, after)}.")
            branches.append(last)
            position = _skip_space(text, position + 1)
            continue
        elif character == ")":
            last = branches.pop()
            position += 1
            if not branches:
                assert root is not None
                return root, position
            position = _skip_space(text, position)
            # After a variation only another one or the parent's end may follow: a node here has no clear parent.
            if text[position : position + 1] not in ("(", ")", ""):
                raise SgfError(position, f"expected '(' or ')' after a variation, found {_quote(text, position)}.")
            continue
        elif character == "":
            raise SgfError(
                position,
                f"expected ')' to close the game tree that was opened at character {tree_start}, found the end of the text.",
            )
        else:
            raise SgfError(position, f"expected ';', '(', ')' or a property, found {_quote(text, position)}.")
        position = _skip_space(text, position)


def _parse_node(text: str, position: int) -> tuple[Node, int]:
    """Read the node whose ";" is at `position`; give it and the position after it."""
    offset = position
    simple = _ONE_VALUE_NODE.match(text, position)
    if simple is not None:
        name, value = simple.groups()
        return Node({_property_name(name): [value]}, offset), simple.end()
    properties: dict[str, list[str]] = {}
    position = _skip_space(text, position + 1)
    while True:
        match = _PROPERTY.match(text, position)
        if match is None:
            break
        values = [_unescape(value) for value in _VALUE.findall(match.group(2))]
        # A name twice in a node is against the format but common; the values are one list then.
        properties.setdefault(_property_name(match.group(1)), []).extend(values)
        position = match.end()
    _check_node_end(text, position)
    return Node(properties, offset), position


def _check_node_end(text: str, position: int) -> None:
    """Explain what is wrong when a node is followed by something that is not a token."""
    name = _NAME_ALONE.match(text, position)
    bracket = position
    if name is not None:
        bracket = _skip_space(text, name.end())
        if text[bracket : bracket + 1] != "[":
            raise SgfError(bracket, f"expected '[' after property {name.group()}, found {_quote(text, bracket)}.")
    if text[bracket : bracket + 1] == "[":
        if _VALUE.match(text, bracket) is None:
            raise SgfError(bracket, "expected ']' to close the value that begins here, found the end of the text.")
        raise SgfError(bracket, f"expected a property name before the value, found {_quote(text, bracket)}.")


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None
    return match.end()


def _quote(text: str, position: int) -> str:
    """A short piece of the text at `position`, for an error message."""
    piece = text[position : position + 12]
    return repr(piece) if piece else "the end of the text"


def _property_name(name: str) -> str:
    """The short name: up to FF[3] lower-case letters were allowed and ignored, so `SiZe` and `SZ` are the same."""
    if name.isupper():
        return name
    short = "".join(character for character in name if not character.islower())
    # Some programs wrote `sz` for `SZ`: ignoring its letters would leave nothing.
    return short if short[:1].isalpha() else name.upper()


def _unescape(value: str) -> str:
    if "\\" not in value:
        return value
    # A backslash before a line break joins the lines; before anything else it protects that character.
    return _ESCAPE.sub(lambda match: "" if match.group(1) in ("\n", "\r", "\r\n", "\n\r") else match.group(1), value)
