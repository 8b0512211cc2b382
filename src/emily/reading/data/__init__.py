"""XML, JSON, notebooks, invoices and what is signed."""
