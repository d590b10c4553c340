"""A mixture-of-experts target that also sees."""


class KimiK25ForConditionalGeneration:
    """A mixture-of-experts target that also sees."""

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        """Which hidden states a drafter reads."""


EntryClass = KimiK25ForConditionalGeneration
