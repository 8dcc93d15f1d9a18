"""The larger commands of `azlab`: their words and what they do. `azlab.cli` puts them together."""
