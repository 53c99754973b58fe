from .access import merge_caches as merge_caches, open_reply_cache as open_reply_cache
from .admin import (
    CacheExplanation as CacheExplanation,
    CacheStats as CacheStats,
    ImportReport as ImportReport,
    KeyDifference as KeyDifference,
    VerifyReport as VerifyReport,
    explain_request as explain_request,
    export_entries as export_entries,
    find_cache_key as find_cache_key,
    import_entries as import_entries,
)
from .disk_cache import CacheFolder as CacheFolder, DiskCache as DiskCache
from .entries import (
    CacheEntry as CacheEntry,
    CacheWarning as CacheWarning,
    is_servable as is_servable,
)
from .location import (
    CacheLocation as CacheLocation,
    CacheUrl as CacheUrl,
    cache_location as cache_location,
    expand_address as expand_address,
    is_misread as is_misread,
    mask_address as mask_address,
)
from .reply_cache import MemoryCache as MemoryCache, ReplyCache as ReplyCache
from .sql_rows import DamagedFileError as DamagedFileError
