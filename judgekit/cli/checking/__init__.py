"""What is said of files before anything runs: soundness, quality, remarks."""
