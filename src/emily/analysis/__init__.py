"""Analysis: a document gets a summary, and from the summary a description and categories."""
