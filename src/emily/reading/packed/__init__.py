"""Files packed in files: ZIP archives, and the packages of iWork."""
