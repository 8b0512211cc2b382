"""The command line: a face of the brain, without logic of its own."""
