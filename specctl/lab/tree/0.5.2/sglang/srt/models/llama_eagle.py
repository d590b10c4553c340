"""A drafter of the first EAGLE kind."""


class LlamaForCausalLMEagle:
    """A drafter of the first EAGLE kind."""


EntryClass = LlamaForCausalLMEagle
