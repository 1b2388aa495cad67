"""Trees over streams: each row is learned once and not kept (Hoeffding trees)."""

from spinney.growth.streaming.growing_stream import GrowingStream, Learned
from spinney.growth.streaming.stream_limits import refuse_options

__all__ = ["GrowingStream", "Learned", "refuse_options"]
