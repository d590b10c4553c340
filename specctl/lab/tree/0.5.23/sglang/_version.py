__version__ = version = '0.5.23'
__commit_id__ = commit_id = None
