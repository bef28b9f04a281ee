"""What a person sees of work while it goes: of runs, and of the stages of a generation."""
