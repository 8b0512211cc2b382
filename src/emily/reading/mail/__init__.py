"""Mail: messages, Outlook files and mailboxes."""
