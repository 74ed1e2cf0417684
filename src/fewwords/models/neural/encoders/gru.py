"""A GRU, with three gates instead of the LSTM's four: a quarter fewer numbers in the encoder (Cho et al., 2014)."""

from torch import nn

from fewwords.models.neural.recurrent import RecurrentEncoder


class Encoder(RecurrentEncoder):
    """Three gates; the state is h."""

    layer_name, title, num_gates, state_letters = "gru", "GRU", 3, "h"

    @staticmethod
    def make_layer(input_size: int, size: int, num_layers: int, dropout: float) -> nn.RNNBase:
        """PyTorch's GRU."""
        return nn.GRU(input_size, size, num_layers, dropout=dropout)
