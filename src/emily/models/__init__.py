"""Models behind one protocol per role; one module per backend."""
