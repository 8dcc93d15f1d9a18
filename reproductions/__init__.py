"""What belongs to one source alone: claims, profiles, presets, programs, results."""
