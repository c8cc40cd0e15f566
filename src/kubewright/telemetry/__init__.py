"""The instruments that every layer uses. This slice has structured logs; see `logs`."""

from kubewright.telemetry.logs import Log, LogFormat, new_log, null_log

__all__ = ["Log", "LogFormat", "new_log", "null_log"]
