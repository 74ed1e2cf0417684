"""The model card: what a trained model is, what it was trained on, how good and how large it is, how to load it, its limits."""

from fewwords.models.card import make_card
from fewwords.models.neural.encoders import encoder_of
from fewwords.models.neural.variants import ModelSettings
from fewwords.training.settings import TrainingSettings
from fewwords.training.summary import TrainingSummary

_STORAGE = {
    "dense": "a vector for every word",
    "coded": "vectors of the base words, combined by sparse codes for all others",
    "low-rank": "short vectors and one projection of them",
    "hashed": "weighted sums of the rows of a few buckets, found by hashing",
    "quotient": "a row for the word's remainder combined with one for its quotient",
    "adaptive": "wide vectors for frequent words, narrow ones with a projection for rare words",
}


def model_card(
    summary: TrainingSummary, model_settings: ModelSettings, settings: TrainingSettings, sources: list[str]
) -> str:
    """The text of the model folder's README.md."""
    biases = "coded as well" if model_settings.coded_bias else "one per word"
    end = "`</s>` is predicted" if model_settings.boundary == "end" else "the end of a sentence is not predicted"
    numbers = summary.num_parameters + summary.num_code_values
    codes = f" and {summary.num_code_values:,} indices and values of the codes" if summary.num_code_values else ""
    what = """A language model that predicts the next word of a sentence, made with fewwords after Chen et al.,
*Compressing Neural Language Models by Sparse Word Representations*, ACL 2016."""
    facts = [
        ("Embedding", f"{_STORAGE[model_settings.embedding]} ({model_settings.embedding_size} values)."),
        ("Encoder", f"{encoder_of(model_settings.encoder).describe(model_settings)}."),
        (
            "Output",
            f"{_STORAGE[model_settings.output]}; biases {biases}{'; tied to the embedding' * model_settings.tied}.",
        ),
        ("Sentences", f"stand alone: the state starts over with each, and {end}."),
        ("Size", f"{summary.num_parameters:,} parameters{codes}; {4 * numbers / 1e6:.1f} MB at four bytes each."),
    ]
    text = ", ".join(sources) or "a corpus without named sources"
    told = (
        ""
        if summary.diverged is None
        else f"- The training diverged: {summary.diverged}. The weights are those before.\n"
    )
    training = f"""- Text: {text}; {summary.words + summary.words_before:,} running words, the best weights on dev kept.
- Loss {settings.loss}, normaliser {model_settings.normaliser}, Adam at {summary.learning_rate:g} ({settings.schedule}), batches of
  {settings.batch_words:,} words, seed {settings.seed}. `model.json` has all settings, `training.jsonl` the course of the training.
{told}- Dev perplexity {summary.dev_perplexity:.2f}, over the whole dev part, normalised explicitly over all words, `<unk>`
  counted as a word{" and `</s>` too" * (model_settings.boundary == "end")}."""
    title = f"{summary.variant}, {summary.vocabulary_size:,} words"
    return make_card(title, what, facts, ("Training", training))
