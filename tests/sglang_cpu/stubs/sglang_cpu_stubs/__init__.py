"""What lets SGLang 0.5.23 serve, and speculate on, a small Llama without a GPU.

* `startup`: run by every Python of the environment (from its `.pth` file); sets defaults and
  installs the import hooks.
* `absent`: stand-ins for packages which SGLang imports and never uses on this path (torchvision,
  torchaudio, triton).
* `patches`: which SGLang modules are amended once imported, and how.
* `torch_native`, `draft_backend`: the amendments, to the attention backend that runs anywhere.
* `draft_tree`: the arithmetic of draft trees, on lists; the ops in the sibling package `sgl_kernel`
  are written on it.
"""
