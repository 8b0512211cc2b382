"""PDF: page by page, by the text layer where it can be trusted, else by OCR."""
