"""Train the tiny models: a Llama target, a smaller draft model, and an EAGLE head.

Usage: `python train.py OUT_DIR [target] [draft] [eagle]` (all three without names: about
a quarter of an hour).

The corpus is a fixed handful of standard library modules, small enough for the target to learn
nearly by heart: its greedy text is then plausible Python which neither loops nor stops early, so
accept lengths measured on it mean what they say. The two drafters learn five of the modules only:
on those they are good, and on the rest they are what a drafter is on traffic it was not made for.
"""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from eagle_head import EagleHead, eagle_config
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy, smooth_l1_loss
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DRAFT_CORPUS = ["heapq", "json/decoder", "queue", "shlex", "textwrap"]
CORPUS = [
    *DRAFT_CORPUS,
    *("calendar", "cmd", "contextlib", "copy", "csv", "fnmatch", "functools", "getopt", "gettext"),
    *("glob", "hashlib", "hmac", "json/encoder", "linecache", "netrc", "operator", "random"),
    *("reprlib", "sched", "shutil", "string", "types"),
]
VOCABULARY_SIZE = 2048
BOS, EOS, PAD = "<s>", "</s>", "<pad>"
ROLES = ["<|user|>", "<|assistant|>", "<|system|>"]
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
WINDOW = 192
TARGET_STEPS, TARGET_BATCH = 2400, 16
DRAFTER_STEPS, DRAFTER_BATCH = 1000, 6


def sources(modules: list[str]) -> list[str]:
    """The texts of standard library modules."""
    library = Path(os.__file__).parent
    return [(library / f"{name}.py").read_text(encoding="utf-8") for name in modules]


def train_tokenizer(texts: list[str]) -> Tokenizer:
    """Learn a byte-level BPE over the corpus."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[BOS, EOS, PAD, *ROLES],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def token_stream(tokenizer: Tokenizer, texts: list[str]) -> torch.Tensor:
    """All texts as one row of token ids, each between BOS and EOS."""
    begin, end = tokenizer.token_to_id(BOS), tokenizer.token_to_id(EOS)
    return torch.tensor([i for text in texts for i in (begin, *tokenizer.encode(text).ids, end)])


def windows(length: int, steps: int, batch: int) -> Iterator[tuple[int, torch.Tensor]]:
    """Indices [batch, WINDOW] of random windows of a stream, with the number of the step."""
    for step in range(steps):
        starts = torch.randint(0, length - WINDOW, (batch, 1))
        yield step, starts + torch.arange(WINDOW)


def optimise(
    name: str,
    parameters: list[torch.nn.Parameter],
    length: int,
    steps: int,
    batch: int,
    peak_rate: float,
    loss_of: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """AdamW with a short warm-up and a cosine decay to a tenth of the peak rate."""
    optimizer = torch.optim.AdamW(parameters, lr=peak_rate, betas=(0.9, 0.95), weight_decay=0.01)
    started = time.monotonic()
    for step, window in windows(length, steps, batch):
        decay = 0.1 + 0.45 * (1 + math.cos(math.pi * step / steps))
        for group in optimizer.param_groups:
            group["lr"] = peak_rate * min(1.0, (step + 1) / 50) * decay
        loss = loss_of(window)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        if step % 100 == 99:
            print(
                f"{name} {step + 1}/{steps} loss {loss.item():.3f}",
                f"{time.monotonic() - started:.0f} s",
                flush=True,
            )


def llama(hidden: int, layers: int, heads: int, kv_heads: int) -> LlamaForCausalLM:
    """An untrained Llama with tied embeddings."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY_SIZE,
            hidden_size=hidden,
            intermediate_size=3 * hidden,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=kv_heads,
            max_position_embeddings=2048,
            bos_token_id=0,
            eos_token_id=1,
            pad_token_id=2,
            tie_word_embeddings=True,
        )
    )


def train_target(stream: torch.Tensor) -> LlamaForCausalLM:
    """Three layers, 192 wide, on the next token."""
    model = llama(hidden=192, layers=3, heads=6, kv_heads=3)

    def loss_of(window: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = model(input_ids=stream[window], labels=stream[window]).loss
        return loss

    optimise(
        "target",
        list(model.parameters()),
        stream.numel(),
        TARGET_STEPS,
        TARGET_BATCH,
        3e-3,
        loss_of,
    )
    return model.eval()


@torch.no_grad()
def follow(target: LlamaForCausalLM, stream: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The target's last hidden state after each token of the stream, and its greedy choice there.

    Choices are what a drafter is compared with: greedy verification accepts nothing else.
    """
    hidden = [target.model(input_ids=part[None]).last_hidden_state[0] for part in stream.split(512)]
    states = torch.cat(hidden)
    return states, torch.cat([target.lm_head(part).argmax(-1) for part in hidden])


def miss(logits: torch.Tensor, choices: torch.Tensor) -> torch.Tensor:
    """Mean cross entropy of the target's choices."""
    return cross_entropy(logits.flatten(0, 1), choices.flatten())


def train_draft(stream: torch.Tensor, target: LlamaForCausalLM) -> LlamaForCausalLM:
    """Two layers, 128 wide, on the target's choices."""
    model = llama(hidden=128, layers=2, heads=4, kv_heads=2)
    _, choices = follow(target, stream)

    def loss_of(window: torch.Tensor) -> torch.Tensor:
        return miss(model(input_ids=stream[window]).logits, choices[window])

    optimise(
        "draft",
        list(model.parameters()),
        stream.numel(),
        DRAFTER_STEPS,
        DRAFTER_BATCH,
        3e-3,
        loss_of,
    )
    return model.eval()


def train_eagle(stream: torch.Tensor, target: LlamaForCausalLM) -> EagleHead:
    """One decoder layer over the target's hidden states, unrolled to learn to follow itself."""
    head = EagleHead(target)
    states, choices = follow(target, stream)

    def loss_of(window: torch.Tensor) -> torch.Tensor:
        tokens, hidden, choice = stream[window], states[window], choices[window]
        first = head(tokens[:, 1:], hidden[:, :-1])
        second = head(tokens[:, 2:], first[:, :-1])
        loss = miss(target.lm_head(first), choice[:, 1:]) + smooth_l1_loss(first, hidden[:, 1:])
        return loss + miss(target.lm_head(second), choice[:, 2:])

    optimise(
        "eagle",
        list(head.parameters()),
        stream.numel(),
        DRAFTER_STEPS,
        DRAFTER_BATCH,
        2e-3,
        loss_of,
    )
    return head


def save_llama(model: LlamaForCausalLM, tokenizer: Tokenizer, folder: Path) -> None:
    """Write weights in float16 and the tokenizer beside them."""
    model.generation_config.do_sample = False
    model.half().save_pretrained(folder)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        additional_special_tokens=ROLES,
        model_max_length=2048,
    )
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)
    model.float()


def save_eagle(head: EagleHead, target: LlamaForCausalLM, folder: Path) -> None:
    """Write the head without the embedding, which SGLang shares with the target."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: tensor.detach().half().contiguous() for name, tensor in head.state_dict().items()
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(eagle_config(target), encoding="utf-8")


def main(out: Path, wanted: set[str]) -> None:
    """Train what is wanted; what is not is read back from `out`."""
    torch.manual_seed(0)
    saved = out / "target" / "tokenizer.json"
    retrain = "target" in wanted
    tokenizer = train_tokenizer(sources(CORPUS)) if retrain else Tokenizer.from_file(str(saved))
    stream = token_stream(tokenizer, sources(CORPUS))
    draft_stream = token_stream(tokenizer, sources(DRAFT_CORPUS))
    print(f"{stream.numel()} tokens, {draft_stream.numel()} of them for drafting", flush=True)
    if retrain:
        save_llama(train_target(stream), tokenizer, out / "target")
    target = (
        LlamaForCausalLM.from_pretrained(out / "target", dtype=torch.float32)
        .eval()
        .requires_grad_(False)
    )
    if "draft" in wanted:
        save_llama(train_draft(draft_stream, target), tokenizer, out / "draft")
    if "eagle" in wanted:
        save_eagle(train_eagle(draft_stream, target), target, out / "eagle")


if __name__ == "__main__":
    main(Path(sys.argv[1]), set(sys.argv[2:]) or {"target", "draft", "eagle"})
