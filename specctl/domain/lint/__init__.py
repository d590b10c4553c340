"""What an SGLang build would refuse, rewrite or quietly ignore in a profile."""
