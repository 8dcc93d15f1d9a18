"""Value networks by generations: what the source claimed, its exams and experiments, and what came out."""
