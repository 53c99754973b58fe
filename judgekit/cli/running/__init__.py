"""Plans, runs and gradings: suites from their files to stored runs."""
