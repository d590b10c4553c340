"""Reads the flags that a YAML file named by `--config` holds."""

from specctl.lab.server.config_file import merge_config

__all__ = ["merge_config"]
