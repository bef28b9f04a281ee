"""What is done with scores: compared with gold, computed again, corrected by people, shown without a judge."""
