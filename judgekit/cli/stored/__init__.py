"""What is kept, looked at and carried out: runs, comparisons, labels to give."""
