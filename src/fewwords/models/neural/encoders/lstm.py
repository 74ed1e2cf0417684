"""The LSTM of the paper (section 4.3)."""

from torch import nn

from fewwords.models.neural.recurrent import RecurrentEncoder


class Encoder(RecurrentEncoder):
    """Four gates; the state is h and c."""

    layer_name, title, num_gates, state_letters = "lstm", "LSTM", 4, "hc"

    @staticmethod
    def make_layer(input_size: int, size: int, num_layers: int, dropout: float) -> nn.RNNBase:
        """PyTorch's LSTM."""
        return nn.LSTM(input_size, size, num_layers, dropout=dropout)
