"""Pages become chunks, vectors, words and postings, written in one transaction."""
