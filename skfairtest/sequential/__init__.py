"""Streams: batches tested as they come, however often you look."""
