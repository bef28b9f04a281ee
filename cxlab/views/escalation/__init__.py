"""A part of the page Judges: how judges err about handing over, under each version of MM-tau-p²'s rule."""
