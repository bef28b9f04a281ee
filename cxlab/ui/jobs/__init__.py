"""Work under way, as pages show it: the panel of jobs, how far a run is, and the stages of a generation."""
