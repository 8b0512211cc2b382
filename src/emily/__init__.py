"""Emily: a second brain on its owner's machine."""
