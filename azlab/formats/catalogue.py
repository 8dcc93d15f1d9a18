"""The catalogue of public data sets: what each is, its origin and checksum. `datasets` finds and reads them."""

from __future__ import annotations

from dataclasses import dataclass

NONE_STATED = "none stated"  # its origin names no licence; azlab ships none of these files


@dataclass(frozen=True)
class Dataset:
    """One file of the catalogue."""

    name: str
    description: str
    # Where it comes from, for people.
    origin: str
    # The licence that its origin states, as an SPDX name, or NONE_STATED.
    licence: str
    # Checksum of the content (see azlab.formats.datasets).
    sha256: str
    # Bytes of the packed file; one that was packed by another compressor may differ a little.
    size: int
    # Bytes of the content: of the text, or of all files of an archive together.
    content: int
    # Address of the download without "https://", or "" when there is none.
    address: str = ""
    # For archives: which files of the download belong to the set, as a pattern for their full names.
    members: str = ""
    # The number of these files.
    files: int = 1


_CONNECT4 = "raw.githubusercontent.com/ColaColin/MasterThesis/master/src/datasets/connect4/"
_CONNECT4_ORIGIN = "github.com/ColaColin/MasterThesis src/datasets/connect4/"
# A commit instead of a branch: the archive can then never change under its checksum.
_GO9 = "codeload.github.com/michaelnny/alpha_zero/tar.gz/01e6d4addfc6a601a02b1cff7e628d8116f7e4c9"
_GO9_ORIGIN = "github.com/michaelnny/alpha_zero games/pro_games/go"
_KGS_ORIGIN = "u-go.net/gamerecords, also in github.com/godmoves/Standard_Computer_Go_Dataset KGS_6d_190000"
# The games of rated players are named by the moment they were played; all others there but the records of a
# program's own games (minigo) are the professionals'.
_RATED_NAME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_\w+\.sgf"

CATALOGUE: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="connect4/hard_test.txt.gz",
            description="10,000 Connect 4 test positions from games with 50% random moves, with all best moves",
            origin=_CONNECT4_ORIGIN + "testset.txt.zip",
            licence=NONE_STATED,
            sha256="34f246f5023d1b530d5464aa5855810c370ae3c03f7c4fc34c0669c557f51f44",
            size=68795,
            content=180879,
            address=_CONNECT4 + "testset.txt.zip",
        ),
        Dataset(
            name="connect4/easy_test.txt.gz",
            description="10,000 Connect 4 test positions from games with 10% random moves, with all best moves",
            origin=_CONNECT4_ORIGIN + "testset_90p.txt.zip",
            licence=NONE_STATED,
            sha256="8ddc31d77652945e56bbe40827f24ef79bf37d7adbe3408d67b0f0398d746690",
            size=195340,
            content=1024028,
            address=_CONNECT4 + "testset_90p.txt.zip",
        ),
        Dataset(
            name="connect4/perfect_test.txt.gz",
            description="10,000 Connect 4 test positions from games of perfect play, with all best moves",
            origin=_CONNECT4_ORIGIN + "testset_100p.txt.zip",
            licence=NONE_STATED,
            sha256="d747cea8f066cf45c544c3d0714545e8dc1a4af121675cbea5d960398bc1a319",
            size=211223,
            content=1355957,
            address=_CONNECT4 + "testset_100p.txt.zip",
        ),
        Dataset(
            name="connect4/train_100k.txt.gz",
            description="100,000 Connect 4 training positions, all positions of games with 50% random moves",
            origin=_CONNECT4_ORIGIN + "100k.txt.zip",
            licence=NONE_STATED,
            sha256="2fa6962982a4d6f063c062e1a2a6f4fd487ffd32369cca75978f620b6e441d90",
            size=401162,
            content=2062810,
            address=_CONNECT4 + "100k.txt.zip",
        ),
        Dataset(
            name="connect4/train_1m_hard.txt.gz",
            description="1,000,000 Connect 4 training positions, all positions of games with 50% random moves",
            origin=_CONNECT4_ORIGIN + "1M.txt.zip",
            licence=NONE_STATED,
            sha256="78f3f3ec6ef64b156bfa4c014c09dcb4553a9c1e93a479e1ca03eb33f601a9a3",
            size=4187130,
            content=22136581,
            address=_CONNECT4 + "1M.txt.zip",
        ),
        Dataset(
            name="connect4/source_curves.json",
            description="Learning curves of 19 figures of the Connect 4 thesis: hours of self-play against accuracy",
            origin="numbers read off the figures of the thesis that belongs to github.com/ColaColin/MasterThesis",
            licence=NONE_STATED,
            sha256="26c5819d44eb90768ec61b5860c1f2bc38d76ce8a5579abf3146c33073ff0a81",
            size=105259,
            content=105259,
        ),
        Dataset(
            name="go/9x9_pro.tar.gz",
            description="384 games of professionals on the 9x9 board, as SGF",
            origin=_GO9_ORIGIN,
            licence="Apache-2.0",
            sha256="737100047fc68b0d918a127408830d142bb4dd1e89a31f147107933d0c58af02",
            size=50400,
            content=159205,
            files=384,
            address=_GO9,
            members=rf"[^/]+/games/pro_games/go/(?:[^/]+/)*(?!{_RATED_NAME}$)(?![^/]*minigo)[^/]+\.sgf",
        ),
        Dataset(
            name="go/9x9_rated.tar.gz",
            description="5,046 games of people rated 2100 and above on the 9x9 board, as SGF",
            origin=_GO9_ORIGIN,
            licence="Apache-2.0",
            sha256="f609bfa36f0d5ae860aa237360e50f4c6d3832db7e6228896fe6ebd21212dc67",
            size=744529,
            content=2127758,
            files=5046,
            address=_GO9,
            members=rf"[^/]+/games/pro_games/go/(?:[^/]+/)*{_RATED_NAME}",
        ),
        Dataset(
            name="go/kgs_2003.tar.gz",
            description="7,582 games of 2003 between strong players (6 dan and above) on the KGS server, 19x19, as SGF",
            origin=_KGS_ORIGIN,
            licence=NONE_STATED,
            sha256="e55495ec51c83bcfc4678486f4413cc05f856d18ccf4ec1f606e2b7f66b3f951",
            size=2926104,
            content=12114271,
            files=7582,
            address="dl.u-go.net/gamerecords/KGS-2003-19-7582-.tar.gz",
            members=r"[^/]+/[^/]+\.sgf",
        ),
        Dataset(
            name="go/kgs_2015.tar.gz",
            description="8,133 games of 2015 between strong players (6 dan and above) on the KGS server, 19x19, as SGF",
            origin=_KGS_ORIGIN,
            licence=NONE_STATED,
            sha256="4800a942c7a08633797b7ab595b172517bbffb355542a9817aae93dd91e192d0",
            size=3169443,
            content=11392092,
            files=8133,
            address="dl.u-go.net/gamerecords/KGS-2015-19-8133-.tar.gz",
            members=r"[^/]+/[^/]+\.sgf",
        ),
    )
}
