"""Levels of what the package logs, which Python's logger `qd` has."""

import logging

TRACE, DEBUG, INFO, WARN, ERROR, CRITICAL = "trace", "debug", "info", "warn", "error", "critical"
# Python has none for traces.
LEVELS = {TRACE: 5, DEBUG: logging.DEBUG, INFO: logging.INFO, WARN: logging.WARNING, ERROR: logging.ERROR, CRITICAL: logging.CRITICAL}

logger = logging.getLogger("qd")


def _number(level):
    if level not in LEVELS:
        raise ValueError(f"{level!r} is no level of logs: expected one of {', '.join(LEVELS)}")
    return LEVELS[level]


def set_logging_level(level):
    """From here on what is below a level is not logged."""
    logger.setLevel(_number(level))


def is_logging_effective(level):
    """Whether what is of a level is logged."""
    return logger.isEnabledFor(_number(level))
