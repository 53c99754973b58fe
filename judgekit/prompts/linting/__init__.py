"""The rules by which rubrics and templates are found to mislead judges."""
