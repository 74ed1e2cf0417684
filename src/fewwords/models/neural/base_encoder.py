"""What an encoder is: it turns word vectors into context vectors, counts its own numbers and describes itself."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from fewwords.models.neural.variants import ModelSettings

EncoderState = tuple[Tensor, ...]


class BaseEncoder(nn.Module, ABC):
    """Word vectors in, context vectors out; in all shapes time is first and sentences second, in states too."""

    @abstractmethod
    def __init__(self, settings: ModelSettings) -> None:
        """An encoder with these settings; raises InputError for settings that do not apply to it."""
        super().__init__()

    @property
    def context_words(self) -> int | None:
        """How many of the last words decide the state; None where all of a sentence's do."""
        return None

    @abstractmethod
    def start_state(self, num_sentences: int) -> EncoderState:
        """The state before the first word."""

    @abstractmethod
    def context(self, state: EncoderState) -> Tensor:
        """The context [num_sentences, size] of a state."""

    @abstractmethod
    def forward(self, vectors: Tensor, state: EncoderState | None = None) -> tuple[Tensor, EncoderState]:
        """Contexts [T, num_sentences, size] after each vector [T, num_sentences, input_size], and the last state."""

    @classmethod
    @abstractmethod
    def num_numbers(cls, settings: ModelSettings) -> int:
        """The number of parameters of an encoder with these settings, by formula."""

    @classmethod
    def num_second_biases(cls, settings: ModelSettings) -> int:
        """How many of them are PyTorch's second bias vectors, which the paper's table 1 does not count."""
        return 0

    @classmethod
    @abstractmethod
    def describe(cls, settings: ModelSettings) -> str:
        """The description on the model card: `LSTM, 1 layer of 200`."""
