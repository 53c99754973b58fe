from .app import create_app as create_app, serve_view as serve_view
from .context import ViewContext as ViewContext
