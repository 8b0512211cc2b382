"""Word, Excel and PowerPoint since 2007."""
