"""The experiments of S3, a function each: `azlab reproduce s3.game`, and so on. Each is in the module of its name."""

from azlab_reproductions.s3_dots_and_boxes.beyond import beyond
from azlab_reproductions.s3_dots_and_boxes.boards import boards
from azlab_reproductions.s3_dots_and_boxes.game import game
from azlab_reproductions.s3_dots_and_boxes.lesson import lesson
from azlab_reproductions.s3_dots_and_boxes.pipeline import pipeline
from azlab_reproductions.s3_dots_and_boxes.speed import speed

__all__ = ["game", "pipeline", "lesson", "beyond", "boards", "speed"]
