"""An archive such as a person keeps, built from readable sources."""
