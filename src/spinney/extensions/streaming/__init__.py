"""Trees over streams: each row is learned once and not kept (Hoeffding trees)."""

from spinney.extensions.streaming.growing_stream import (
    GrowingStream,
    StreamStats,
    refuse_options,
)
