"""How far a judge can be trusted: labels, tuning, audits, another judge."""
