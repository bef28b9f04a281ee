"""A task played in front of people: the Persona lab's sessions."""
