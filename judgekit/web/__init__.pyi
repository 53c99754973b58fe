from .app import ViewServer as ViewServer, serve_view as serve_view
from .editor import CheckedFile as CheckedFile, editor_routes as editor_routes
from .labelling import labelling_routes as labelling_routes
from .replies import (
    ViewContext as ViewContext,
    page_reply as page_reply,
    write_route as write_route,
)
from .site import export_site as export_site
