"""Two variants side by side: pairs, questions in both orders, figures, a decision."""
