"""What a verify step of n-gram speculation takes: tokens, and who follows whom."""


class NgramVerifyInput:
    """A tree of draft tokens with its mask; its size never changes, so that graphs can be used."""

    def __init__(self, tokens, mask):
        self.tokens, self.mask = tokens, mask
