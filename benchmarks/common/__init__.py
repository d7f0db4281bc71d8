"""What several benchmarks share: designs, methods, runs, results and how pages show them."""
