"""A Go engine in this process, for the tests of the protocol."""

import pytest

import azlab
from azlab.arena.gtp_engine import Engine
from azlab.errors import AzlabError
from azlab.formats.gtp_server import Server


class Asked:
    """An engine; calling it with a line gives the answer without its sign, a refusal raises."""

    def __init__(self, agent="random", **options):
        self.engine = Engine(azlab.agent(agent, 1) if isinstance(agent, str) else agent, {"size": 5, **options})

    def raw(self, *lines):
        """What is said to these lines, all there at once."""
        return self.raw_bytes("\n".join(lines).encode())

    def raw_bytes(self, data):
        """The same for any bytes."""
        pieces, said = [data], []
        server = Server(self.engine.commands(), lambda: pieces.pop() if pieces else b"", said.append)
        self.engine.is_interrupted = server.is_interrupted
        server.serve()
        return b"".join(said).decode()

    def __call__(self, line):
        said = self.raw(line)
        assert said.endswith("\n\n") and said[0] in "=?"
        if said[0] == "?":
            raise AzlabError(said[2:-2])
        return said[1:-2].removeprefix(" ")


@pytest.fixture(scope="session")
def asked():
    """Makes such engines: asked("uct:100", size=9)("genmove b")."""
    return Asked
