"""A mixture-of-experts target with latent attention."""


class DeepseekV3ForCausalLM:
    """A mixture-of-experts target with latent attention."""

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        """Which hidden states a drafter reads."""


EntryClass = DeepseekV3ForCausalLM
