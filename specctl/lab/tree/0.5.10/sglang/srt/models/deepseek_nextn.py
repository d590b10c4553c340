"""The layer of a target that predicts one token more."""


class DeepseekV3ForCausalLMNextN:
    """The layer of a target that predicts one token more."""


EntryClass = DeepseekV3ForCausalLMNextN
