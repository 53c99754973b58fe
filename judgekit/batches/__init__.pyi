from .jobs import (
    BatchPrices as BatchPrices,
    Submission as Submission,
    cancel_batch as cancel_batch,
    refresh_batches as refresh_batches,
    settle_submission as settle_submission,
    submit_requests as submit_requests,
)
from .records import BatchFolder as BatchFolder, BatchRecord as BatchRecord
