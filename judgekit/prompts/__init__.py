"""Records to messages, and reply text to fields: templates, fences, reply formats, evidence."""
