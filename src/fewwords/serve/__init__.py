"""A model as a service over HTTP: `app` has the routes, `server` listens, `connection` and `workers` bound the work."""

HOST, PORT = "127.0.0.1", 8080
