"""Word, Excel and PowerPoint before 2007, and what needs LibreOffice."""
