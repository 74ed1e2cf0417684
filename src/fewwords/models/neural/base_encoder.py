"""What an encoder is: it turns word vectors into context vectors, counts its own numbers and describes itself."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from fewwords.models.neural.variants import ModelSettings

EncoderState = tuple[Tensor, ...]


class BaseEncoder(nn.Module, ABC):
    """Word vectors in, context vectors out; time comes first in all shapes, sentences second, also in every part of a state."""

    @abstractmethod
    def __init__(self, settings: ModelSettings) -> None:
        """An encoder of such settings; raises InputError for settings that mean nothing to it."""
        super().__init__()

    @abstractmethod
    def start_state(self, num_sentences: int) -> EncoderState:
        """The state before the first word."""

    @abstractmethod
    def context(self, state: EncoderState) -> Tensor:
        """The context [num_sentences, size] of a state."""

    @abstractmethod
    def forward(self, vectors: Tensor, state: EncoderState | None = None) -> tuple[Tensor, EncoderState]:
        """Contexts [T, num_sentences, size] after each of the vectors [T, num_sentences, input_size], and the last state."""

    @classmethod
    @abstractmethod
    def num_numbers(cls, settings: ModelSettings) -> int:
        """The parameters that an encoder of such settings has, by formula."""

    @classmethod
    def num_second_biases(cls, settings: ModelSettings) -> int:
        """How many of them are PyTorch's second bias vectors, which the paper's table 1 does not count."""
        return 0

    @classmethod
    @abstractmethod
    def describe(cls, settings: ModelSettings) -> str:
        """What the model card says of it: `LSTM, 1 layer of 200`."""
