"""What recurrent encoders share: a layer of PyTorch's, with a new state for each sentence.

Weights start as in the authors' code: Glorot for the input, orthogonal for the recurrence, zero biases. If the end of a
sentence is not predicted (the paper's boundary), the state before the first word is a parameter, and its h is the first
context.
"""

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from fewwords.models.neural.base_encoder import BaseEncoder, EncoderState
from fewwords.models.neural.variants import ModelSettings


class RecurrentEncoder(BaseEncoder):
    """A recurrent layer `layer_name` with `num_gates` gates and one state per letter of `state_letters`, h first."""

    layer_name: ClassVar[str]
    title: ClassVar[str]
    num_gates: ClassVar[int]
    state_letters: ClassVar[str]

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(settings)
        self.size, self.num_layers = settings.hidden_size, settings.num_layers
        dropout = settings.dropout if settings.num_layers > 1 else 0.0
        self.add_module(self.layer_name, self.make_layer(settings.embedding_size, self.size, self.num_layers, dropout))
        for name, parameter in self.layer.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.xavier_uniform_(parameter)
            elif name.startswith("weight_hh"):
                for gate in parameter.data.chunk(self.num_gates):
                    nn.init.orthogonal_(gate)
            else:
                nn.init.zeros_(parameter)
        self.learned_start = settings.boundary == "paper"
        if self.learned_start:
            for letter in self.state_letters:
                self.register_parameter(f"start_{letter}", nn.Parameter(torch.zeros(self.num_layers, self.size)))

    @staticmethod
    @abstractmethod
    def make_layer(input_size: int, size: int, num_layers: int, dropout: float) -> nn.RNNBase:
        """PyTorch's layer."""

    @property
    def layer(self) -> nn.RNNBase:
        """PyTorch's layer."""
        layer: nn.RNNBase = getattr(self, self.layer_name)
        return layer

    def start_state(self, num_sentences: int) -> EncoderState:
        """The state before the first word: each part [num_layers, num_sentences, size]."""
        shape = (self.num_layers, num_sentences, self.size)
        if self.learned_start:
            starts = [getattr(self, f"start_{letter}") for letter in self.state_letters]
            return tuple(start[:, None].expand(shape).contiguous() for start in starts)
        weight = self.layer.all_weights[0][0]
        zeros = torch.zeros(shape, dtype=weight.dtype, device=weight.device)
        return tuple(zeros for _ in self.state_letters)

    def context(self, state: EncoderState) -> Tensor:
        """The context [num_sentences, size] of a state: h of the last layer."""
        return state[0][-1]

    def forward(self, vectors: Tensor, state: EncoderState | None = None) -> tuple[Tensor, EncoderState]:
        """Contexts [T, num_sentences, size] after each vector [T, num_sentences, input_size], and the last state."""
        before = self.start_state(vectors.shape[1]) if state is None else state
        contexts, after = self.layer(vectors, before if len(before) > 1 else before[0])
        return contexts, after if isinstance(after, tuple) else (after,)

    @classmethod
    def num_numbers(cls, settings: ModelSettings) -> int:
        """gates (C E + C^2 + 2 C) for each layer, and the learned start."""
        size = settings.hidden_size
        inputs = settings.embedding_size + (settings.num_layers - 1) * size
        start = len(cls.state_letters) * settings.num_layers * size if settings.boundary == "paper" else 0
        return cls.num_gates * (size * inputs + settings.num_layers * (size**2 + 2 * size)) + start

    @classmethod
    def num_second_biases(cls, settings: ModelSettings) -> int:
        """PyTorch has two bias vectors where table 1 has one."""
        return cls.num_gates * settings.hidden_size * settings.num_layers

    @classmethod
    def describe(cls, settings: ModelSettings) -> str:
        """`LSTM, 1 layer of 200`."""
        layers = f"{settings.num_layers} layer{'s' * (settings.num_layers > 1)}"
        return f"{cls.title}, {layers} of {settings.hidden_size}"
