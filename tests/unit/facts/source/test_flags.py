from __future__ import annotations

from specctl.facts.source.flags import read_flags
from tests.unit.facts.source.small import ARGUMENTS, CALLS, texts


def read(**files):
    found = texts(**files)
    flags = {flag.name: flag for flag in read_flags(found)}
    return flags, [f"{p.place}: {p.words}" for p in found.problems]


def test_calls_of_add_argument():
    flags, problems = read(**{ARGUMENTS: CALLS})
    assert problems == []
    model, steps = flags["--model-path"], flags["--speculative-num-steps"]
    assert (model.aliases, model.is_required, model.field_name) == (
        ("--model",), True, "model_path",
    )  # fmt: skip
    assert (steps.type, steps.default, steps.how) == ("int", None, "argparse")
    assert flags["--speculative-eagle-topk"].default == 8
    assert flags["--device"].choices == ("fast", "exact")
    assert flags["--device"].default == "cuda"
    switch, modes = flags["--enable-dp-attention"], flags["--modes"]
    assert (switch.is_switch, switch.type, switch.default) == (True, "bool", False)
    assert (modes.takes_many, modes.nargs, modes.default) == (True, "+", "['fast']")
    line = CALLS.split("\n")[(steps.place.line or 0) - 1]
    assert line.strip() == "parser.add_argument("


RETIRED = """
    import argparse

    class DeprecatedAction(argparse.Action):
        def __init__(self, option_strings, dest, nargs=0, **kwargs):
            super().__init__(option_strings, dest, nargs=nargs, **kwargs)

    class ServerArgs:
        @staticmethod
        def add_cli_args(parser):
            names = ["auto"] + list(Parser.Known.keys())
            parser.add_argument("--gone", action=DeprecatedAction, help="It is gone.",
                                error_message="Use --here instead.")
            parser.add_argument("--old", dest="new", type=int, action=DeprecatedAliasStoreAction,
                                new_flag="--new", default=argparse.SUPPRESS)
            parser.add_argument("--was", action="store_true", help="(Deprecated: use --is) Was.")
            parser.add_argument("--x", action=argparse.BooleanOptionalAction, default=True)
            parser.add_argument("-p", "--parser", choices=names)
            parser.add_argument("--mode", choices=[m.name.lower() for m in Mode])
            parser.add_argument("positional")

    class Parser:
        Known = {"one": object, "two": object}

    class Mode(IntEnum):
        NONE = 0
        ALL = 1
    """


def test_retired_switched_and_worked_out_ones():
    flags, problems = read(**{ARGUMENTS: RETIRED})
    assert len(problems) == 1  # of the flags that this small file has not
    gone, old, was, x = (flags[name] for name in ("--gone", "--old", "--was", "--x"))
    assert (gone.is_deprecated, gone.is_switch, gone.refusal) == (True, True, "Use --here instead.")
    assert (old.is_deprecated, old.replacement, old.field_name, old.default) == (
        True, "--new", "new", None,
    )  # fmt: skip
    assert (was.is_deprecated, x.is_deprecated) == (True, False)
    assert (x.negations, x.is_switch, x.default) == (("--no-x",), True, True)
    assert (flags["--parser"].aliases, flags["--parser"].choices) == (
        ("-p",), ("auto", "one", "two"),
    )  # fmt: skip
    assert flags["--mode"].choices == ("none", "all")
    assert "positional" not in flags


ANNOTATED = """
    from somewhere import KINDS, Kind
    LIST = ["a", "b"]

    class ServerArgs:
        model_path: A[str, Arg(help="Where.", aliases=["--model"])]
        speculative_algorithm: A[Optional[str], "Which" " one."] = None
        draft_tokens: A[int | None, "How many."] = None
        tp_size: A[int, Arg(help="TP.", cli_name="--tensor-parallel-size")] = 1
        role: A[Literal["null", "one"], "Role."] = "null"
        hidden: A[int, Arg(no_cli=True)] = 3
        plain: int = 4
        off: A[bool, "Off."] = False
        both: A[Optional[bool], Arg(help="Both.", action=argparse.BooleanOptionalAction)] = None
        many: A[List[int], "Many."] = field(default_factory=list)
        paths: A[Optional[List[str]], Arg(action=PathAction, action_kwargs={"nargs": "*"})] = None
        text: A[Optional[List[str]], Arg(help="JSON.", type_parser=json_list_type)] = None
        kind: A[str, Arg(help="Kind.", choices=LIST + ["c"])] = "a"
        unknown: A[str, Arg(help="Unknown.", choices=KINDS)] = "a"
        capacity: A[int, NS("x"), "Capacity."] = 10 * 1000
        ignored: A[int, Derived(doc="set later")]
    """


def test_annotated_fields():
    flags, problems = read(**{ARGUMENTS: ANNOTATED})
    assert problems == [f"{ARGUMENTS}:19: the choices of --unknown cannot be told: KINDS"]
    assert flags["--unknown"].choices is None
    assert {"--hidden", "--plain", "--ignored"}.isdisjoint(flags)
    assert flags["--model-path"].is_required
    algorithm = flags["--speculative-algorithm"]
    assert (algorithm.type, algorithm.help, algorithm.is_required) == ("str", "Which one.", False)
    assert flags["--draft-tokens"].type == "int"
    assert flags["--tensor-parallel-size"].field_name == "tp_size"
    assert flags["--role"].choices == ("null", "one")
    assert (flags["--off"].is_switch, flags["--off"].default) == (True, False)
    assert (flags["--both"].negations, flags["--both"].type) == (("--no-both",), "bool")
    assert (flags["--many"].nargs, flags["--many"].type) == ("+", "int")
    assert (flags["--paths"].nargs, flags["--paths"].takes_many) == ("*", True)
    assert (flags["--text"].nargs, flags["--text"].type) == (None, "json")
    assert flags["--kind"].choices == ("a", "b", "c")
    assert flags["--capacity"].default == 10_000
    assert {flag.how for flag in flags.values()} == {"annotated"}


def test_fields_in_files_of_their_own_and_calls_that_refer_to_them():
    spec = """
        from sglang.srt.arg_groups.choices import FORMATS

        class Spec(msgspec.Struct):
            _NS_PATH = "spec"
            model_path: A[str, "Where."]
            speculative_algorithm: A[Optional[str], "Which."] = None
            speculative_format: A[str, Arg(choices=FORMATS, help="F.")] = "auto"
            backend: A[str, Arg(no_cli=True)] = "fast"
        """
    arguments = """
        def _declared(name):
            return defaults()[name]

        class ServerArgs:
            def add_cli_args(parser):
                parser.add_argument("--backend", default=_declared("backend"), choices=_known())

        def _known():
            module = sys.modules.get("x")
            if module is not None:
                return list(module.Known)
            from sglang.srt.names import NAMES
            return list(NAMES)
        """
    flags, problems = read(
        **{
            ARGUMENTS: arguments,
            "srt/arg_groups/fields/spec.py": spec,
            "srt/arg_groups/choices.py": 'FORMATS = ["auto", *MORE]\nMORE = ("pt",)\n',
            "srt/names.py": "NAMES = ('fast', 'slow')\n",
        }
    )
    assert problems == []
    assert flags["--speculative-format"].choices == ("auto", "pt")
    assert flags["--speculative-format"].how == "msgspec"
    assert flags["--speculative-format"].place.file == "srt/arg_groups/fields/spec.py"
    assert (flags["--backend"].default, flags["--backend"].choices) == ("fast", ("fast", "slow"))


def test_a_flag_whose_name_is_worked_out_is_a_problem():
    flags, problems = read(
        **{ARGUMENTS: 'def add(p):\n    p.add_argument(f"--{x}")\n    p.add_argument("--y")\n'}
    )
    assert set(flags) == {"--y"}
    assert "a flag whose name is worked out" in problems[0]


def test_flags_that_must_be_there_and_are_not_are_a_problem():
    arguments = 'def add(parser):\n    parser.add_argument("--y")\n'
    flags, problems = read(**{ARGUMENTS: arguments, "srt/speculative/spec_info.py": ""})
    assert set(flags) == {"--y"}
    assert [p.split(" is declared")[0] for p in problems] == [
        f"{ARGUMENTS}: --model-path", f"{ARGUMENTS}: --speculative-algorithm",
    ]  # fmt: skip


def test_no_arguments_at_all():
    flags, problems = read(**{"srt/other.py": "x = 1\n"})
    assert (flags, len(problems)) == ({}, 1)
    assert "the flags of this build are unknown" in problems[0]
