"""Three sides and more in one order: who meets whom, strengths with their doubt, a decision."""
