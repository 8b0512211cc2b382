"""Measurements of speed and of quality; ``python -m benchmarks`` lists and runs them."""
