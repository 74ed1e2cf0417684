"""The LSTM of the paper (section 4.3); with `cell_size` more cells than values in h, and h is a projection of them."""

import warnings

from torch import nn

from fewwords.models.neural.recurrent import RecurrentEncoder
from fewwords.models.neural.variants import ModelSettings


class Encoder(RecurrentEncoder):
    """Four gates; the state is h and c."""

    layer_name, title, num_gates, state_letters = "lstm", "LSTM", 4, "hc"

    @staticmethod
    def make_layer(settings: ModelSettings) -> nn.RNNBase:
        """PyTorch's LSTM."""
        sizes = (settings.embedding_size, settings.num_cells, settings.num_layers)
        if settings.cell_size is None:
            return nn.LSTM(*sizes, dropout=settings.layer_dropout)
        warnings.filterwarnings("ignore", "LSTM with projections is not supported with oneDNN")
        return nn.LSTM(*sizes, dropout=settings.layer_dropout, proj_size=settings.hidden_size)
