"""Rich Text."""
