"""Learning from games: tables first."""
