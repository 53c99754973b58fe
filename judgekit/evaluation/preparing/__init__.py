"""What a suite's words become before anything runs: its jury, its plan of checks, its models."""
