"""What is done with scores once there are some: held against gold, computed again, corrected, shown without a judge."""
