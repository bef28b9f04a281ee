"""How an attempt is judged beyond its score: what its queries asked for, and where a wrong answer left the way."""
