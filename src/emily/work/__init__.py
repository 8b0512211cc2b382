"""Work that is done behind the owner's back: the queue, its worker, and the watched folders."""

from emily.work.phases import Done, Due, Failed, Phase, Transient
from emily.work.service import Job, Queued, Retried, Work, WorkCounts

__all__ = [
    "Done",
    "Due",
    "Failed",
    "Job",
    "Phase",
    "Queued",
    "Retried",
    "Transient",
    "Work",
    "WorkCounts",
]
