"""What serves one page or family of pages: its queries, its figures, its parts."""
