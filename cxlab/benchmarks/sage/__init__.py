"""SAGE: service agents held to standard operating procedures as graphs."""
