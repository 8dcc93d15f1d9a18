"""Learning from games: tables, and value networks by generations."""
