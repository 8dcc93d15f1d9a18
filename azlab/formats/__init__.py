"""The outside world's files and protocols: game records, data sets and engines."""
