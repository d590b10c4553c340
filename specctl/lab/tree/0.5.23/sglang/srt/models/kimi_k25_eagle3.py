"""An EAGLE-3 drafter with latent attention."""


class Eagle3DeepseekV2ForCausalLM:
    """An EAGLE-3 drafter with latent attention."""


EntryClass = Eagle3DeepseekV2ForCausalLM
