"""A dense target."""


class LlamaForCausalLM:
    """A dense target."""

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        """Which hidden states a drafter reads."""


EntryClass = LlamaForCausalLM
