"""`fewwords serve`: a model as a service over HTTP."""

from typing import Annotated

import typer

from fewwords.cli.texts import DEFAULT_MODEL, ModelFolder
from fewwords.serve import HOST, PORT


def serve(
    model: ModelFolder = DEFAULT_MODEL,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 for all of this machine.")] = HOST,
    port: Annotated[int, typer.Option(help="The port; 0: any that is free.")] = PORT,
) -> None:
    """Answer requests over HTTP: /suggest, /score, /rescore, /explain, /health, and a page to type on at /.

    There is no authentication: whoever can reach the address can use the model. /openapi.json describes the requests.

    \b
    Examples:
      fewwords serve
      fewwords serve work/models/lstm-z-w-v50000 --port 8081
      curl http://127.0.0.1:8080/suggest -H 'content-type: application/json' -d '{"text": "The quick brown f", "k": 3}'
    """
    from fewwords.serve.server import serve as serve_model

    serve_model(model, host, port)
