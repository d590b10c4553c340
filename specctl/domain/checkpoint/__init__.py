"""What a draft's small files say about how it will do beside a target."""
