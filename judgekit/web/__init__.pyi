from .app import create_app as create_app, serve as serve
from .context import ViewContext as ViewContext
