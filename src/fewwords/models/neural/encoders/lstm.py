"""The Encoding subnet: an LSTM over the words of a sentence, whose state starts anew with each sentence."""

import torch
from torch import Tensor, nn

State = tuple[Tensor, ...]


class LstmEncoder(nn.Module):
    """Word vectors in, context vectors out; time comes first in all shapes.

    With `learned_start` the state before the first word is a parameter, and its h is the first context.
    """

    def __init__(self, input_size: int, size: int, num_layers: int, dropout: float, *, learned_start: bool) -> None:
        super().__init__()
        self.size = size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_size, size, num_layers, dropout=dropout if num_layers > 1 else 0.0)
        for name, parameter in self.lstm.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.xavier_uniform_(parameter)
            elif name.startswith("weight_hh"):
                for gate in parameter.data.chunk(4):
                    nn.init.orthogonal_(gate)
            else:
                nn.init.zeros_(parameter)
        self.learned_start = learned_start
        if learned_start:
            self.start_h = nn.Parameter(torch.zeros(num_layers, size))
            self.start_c = nn.Parameter(torch.zeros(num_layers, size))

    def start_state(self, num_sentences: int) -> State:
        """The state before the first word: h and c, each [num_layers, num_sentences, size]."""
        if self.learned_start:
            shape = (self.num_layers, num_sentences, self.size)
            return self.start_h[:, None].expand(shape).contiguous(), self.start_c[:, None].expand(shape).contiguous()
        weight = self.lstm.all_weights[0][0]
        zeros = torch.zeros(self.num_layers, num_sentences, self.size, dtype=weight.dtype, device=weight.device)
        return zeros, zeros

    def start_context(self, state: State) -> Tensor:
        """The context [num_sentences, size] before any word."""
        return state[0][-1]

    def forward(self, vectors: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Contexts [T, num_sentences, size] after each of the vectors [T, num_sentences, input_size], and the last state."""
        contexts, state = self.lstm(vectors, self.start_state(vectors.shape[1]) if state is None else state)
        return contexts, state
