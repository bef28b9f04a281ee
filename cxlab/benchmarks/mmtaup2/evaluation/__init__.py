"""What a conversation comes to: measured and judged metrics, verdicts, and sums over runs."""
