"""Gateways: doors by which programs of other makers reach the archive; no logic of their own."""
