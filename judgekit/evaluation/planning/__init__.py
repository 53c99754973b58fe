"""What a run or a grading would ask, cost, take and be able to detect."""
