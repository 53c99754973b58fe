"""Keeps every reply that was paid for, under exactly what was asked."""
