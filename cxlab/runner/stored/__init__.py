"""What becomes of a run once it is stored: retried, judged again, scored anew, brought up to today's records."""
