"""What every worker does: draft, verify with the target, keep what agrees and one token more."""


class BaseSpecWorker:
    """Drafts for a batch and has the target verify it."""

    def draft(self, batch):
        raise NotImplementedError

    def verify(self, batch, drafts):
        raise NotImplementedError
