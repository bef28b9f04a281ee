"""What judges rated beside what was measured of the same turns, on the page Judges."""
