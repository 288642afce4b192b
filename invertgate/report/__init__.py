"""Render what was found."""
