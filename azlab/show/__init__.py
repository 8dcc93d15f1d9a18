"""Pictures of boards and searches, and the progress of long work."""

from azlab.show.progress import progress

__all__ = ["progress"]
