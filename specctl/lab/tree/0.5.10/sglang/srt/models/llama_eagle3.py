"""A drafter that mixes three layers of hidden states, with a vocabulary of its own."""


class LlamaForCausalLMEagle3:
    """A drafter that mixes three layers of hidden states, with a vocabulary of its own."""


EntryClass = LlamaForCausalLMEagle3
