"""A question becomes passages, through named stages that can each be traced and swapped."""
