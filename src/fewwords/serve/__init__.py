"""A model as a service over HTTP: `app` has the routes, `server` listens, `workers` bound the work at a time."""

HOST, PORT = "127.0.0.1", 8080
