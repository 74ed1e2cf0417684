"""What recurrent encoders share: a layer of PyTorch's, with a new state for each sentence.

Weights start as in the authors' code: Glorot for the input, orthogonal for the recurrence, zero biases. If the end of a
sentence is not predicted (the paper's boundary), the state before the first word is a parameter, and its h is the first
context. An LSTM can have more cells than values in h (`cell_size`): its output is then projected to h, so that the encoder
can grow while the base matrix, whose rows are as long as h, does not (Sak et al., 2014).
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
        self.num_layers = settings.num_layers
        self.state_sizes = {letter: settings.state_size(letter) for letter in self.state_letters}
        self.add_module(self.layer_name, self.make_layer(settings))
        for name, parameter in self.layer.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.xavier_uniform_(parameter)
            elif name.startswith("weight_hh"):
                for gate in parameter.data.chunk(self.num_gates):
                    nn.init.orthogonal_(gate)
            elif name.startswith("weight_hr"):
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
        self.learned_start = settings.boundary == "paper"
        if self.learned_start:
            for letter, size in self.state_sizes.items():
                self.register_parameter(f"start_{letter}", nn.Parameter(torch.zeros(self.num_layers, size)))

    @staticmethod
    @abstractmethod
    def make_layer(settings: ModelSettings) -> nn.RNNBase:
        """PyTorch's layer."""

    @property
    def layer(self) -> nn.RNNBase:
        """PyTorch's layer."""
        layer: nn.RNNBase = getattr(self, self.layer_name)
        return layer

    def start_state(self, num_sentences: int) -> EncoderState:
        """The state before the first word: each part [num_layers, num_sentences, size]."""
        if self.learned_start:
            starts = [getattr(self, f"start_{letter}") for letter in self.state_sizes]
            return tuple(start[:, None].expand(-1, num_sentences, -1).contiguous() for start in starts)
        weight = self.layer.all_weights[0][0]
        return tuple(weight.new_zeros(self.num_layers, num_sentences, size) for size in self.state_sizes.values())

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
        """gates (C E + C H + 2 C) for each layer of C cells, H C for the projection where C > H, and the learned start."""
        size, cells, layers = settings.hidden_size, settings.num_cells, settings.num_layers
        inputs = settings.embedding_size + (layers - 1) * size
        projections = layers * size * cells if cells > size else 0
        starts = cls.state_letters if settings.boundary == "paper" else ""
        return (
            cls.num_gates * cells * (inputs + layers * (size + 2))
            + projections
            + layers * sum(map(settings.state_size, starts))
        )

    @classmethod
    def num_second_biases(cls, settings: ModelSettings) -> int:
        """PyTorch has two bias vectors where table 1 has one."""
        return cls.num_gates * settings.num_cells * settings.num_layers

    @classmethod
    def describe(cls, settings: ModelSettings) -> str:
        """`LSTM, 1 layer of 200`."""
        layers = f"{settings.num_layers} layer{'s' * (settings.num_layers > 1)}"
        cells = f" from {settings.cell_size} cells" if settings.cell_size else ""
        return f"{cls.title}, {layers} of {settings.hidden_size}{cells}"
