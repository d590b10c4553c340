"""SGLang's own releases, downloaded by name, unpacked and read; nothing of them is imported."""
