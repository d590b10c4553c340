"""The lab, through the same ssh, agent and services as any host."""
