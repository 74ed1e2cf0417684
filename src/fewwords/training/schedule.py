"""The learning rate as a function of the words seen: constant, or falling in a straight line over the budget."""

from fewwords.training.settings import TrainingSettings


def learning_rate(settings: TrainingSettings, words: int, budget: int) -> float:
    """The rate of the step that starts after `words` of `budget` running words."""
    if settings.schedule == "constant":
        return settings.learning_rate
    left = max(0.0, 1 - words / budget)
    return settings.learning_rate * (settings.final_rate + (1 - settings.final_rate) * left)
