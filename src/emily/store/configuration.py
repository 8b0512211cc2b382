"""Settings of the embedded server: safe for the data, modest in memory, silent on content."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["configuration"]

_SETTINGS = {
    # One socket, no network.
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "password_encryption": "scram-sha-256",
    "max_connections": "60",
    # What is acknowledged is on the disk.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # A personal machine: little memory while idle.
    "shared_buffers": "128MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "effective_cache_size": "1GB",
    "max_wal_size": "1GB",
    "min_wal_size": "80MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "on",
    # Compiling a query costs more than these queries take.
    "jit": "off",
    # Solid-state disks: random reads cost little more than sequential ones.
    "random_page_cost": "1.1",
    # Documents and questions are private. Messages of errors and of queries quote them, so
    # the log holds only what the server says of itself.
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_connections": "",
    "log_disconnections": "off",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
    # A client that was killed is noticed, and what it held is given back.
    "client_connection_check_interval": "10s",
}


def configuration(socket_folder: Path, options: Mapping[str, str]) -> bytes:
    """The text of ``emily.conf``; ``options`` replace settings of the same name.

    A path is bytes to the server, whatever the locale, so this is bytes too.
    """
    # The value is a list of folders: in double quotes a comma or blank is part of the name.
    folders = '"' + str(socket_folder).replace('"', '""') + '"'
    settings = {**_SETTINGS, **options, "unix_socket_directories": folders}
    lines = (f"{name} = '{_quoted(value)}'\n" for name, value in settings.items())
    return os.fsencode(
        "# Written by Emily at every start; changes here are lost.\n" + "".join(lines)
    )


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")
