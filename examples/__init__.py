"""What a newcomer runs first: an archive of everyday documents and a demonstration on it."""
