"""Emily measures herself: whether all parts work, and how well she finds."""
