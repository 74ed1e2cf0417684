"""A GRU, with three gates instead of the LSTM's four: a quarter fewer numbers in the encoder (Cho et al., 2014)."""

from torch import nn

from fewwords.models.neural.recurrent import RecurrentEncoder
from fewwords.models.neural.variants import ModelSettings


class Encoder(RecurrentEncoder):
    """Three gates; the state is h."""

    layer_name, title, num_gates, state_letters = "gru", "GRU", 3, "h"

    @staticmethod
    def make_layer(settings: ModelSettings) -> nn.RNNBase:
        """PyTorch's GRU."""
        return nn.GRU(
            settings.embedding_size, settings.hidden_size, settings.num_layers, dropout=settings.layer_dropout
        )
