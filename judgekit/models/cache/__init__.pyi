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
    merge_caches as merge_caches,
)
from .disk_cache import CacheFolder as CacheFolder, DiskCache as DiskCache
from .entries import (
    CacheEntry as CacheEntry,
    CacheWarning as CacheWarning,
    DamagedFileError as DamagedFileError,
    is_servable as is_servable,
)
from .reply_cache import MemoryCache as MemoryCache, ReplyCache as ReplyCache
