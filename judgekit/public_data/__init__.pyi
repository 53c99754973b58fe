from .download import (
    DownloadedSet as DownloadedSet,
    data_folder as data_folder,
    download_set as download_set,
    joined_files as joined_files,
)
from .sources import PublicDataset as PublicDataset, load_catalog as load_catalog
