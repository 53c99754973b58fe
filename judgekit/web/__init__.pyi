from .app import create_app as create_app, serve_view as serve_view, view_server as view_server
from .context import ViewContext as ViewContext
from .edit_files import CheckedFile as CheckedFile
from .editor import editor_routes as editor_routes
from .labelling import labelling_routes as labelling_routes
from .replies import (
    error_reply as error_reply,
    page_reply as page_reply,
    write_route as write_route,
)
from .site import export_site as export_site
