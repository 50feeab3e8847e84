"""No command line ends in a traceback or hangs: magnitudes, not only kinds; whatever does not train is soon done."""

import importlib
import signal
from pathlib import Path

import pytest
from hypothesis import strategies as st
from tests.attacks.shell import SMALL, call
from tests.fuzz.fuzzing import fuzz, in_many_cases

SECONDS = 30
"""Of the processor, for every command that does not train: other processes of the machine do not count."""
BUDGET = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
from headway.cli import main
main()
"""
DRY = [
    "stages --task.ratio 1e300",
    "stages --task.base 1e308",
    "stages --into [/red]",
    "stages --model.blocks 1000000",
    "stages --model.blocks 1000",
    "stages --task.order 9223372036854775806",
    "stages --task.order 4096",
    "stages --task.horizon 9223372036854775806",
    "stages --task.blocks 9223372036854775806",
    "stages --task.vocab 9223372036854775806",
    "stages --training.steps 9223372036854775806",
    "stages --training.batch 9223372036854775806",
    "stages --training.samples 1000000000000",
    "stages --evaluation.points 9223372036854775806",
    "stages --evaluation.snapshots 1000000",
    "stages --on ray --engine memory=1e400G",
    "stages --on slurm --cluster digits.toml",
    "stages --on processes:9223372036854775807",
    "stages --vary task.ratio 1e300:1e308:3",
    "recall --task.vocab 1000000000",
    "toy --task.length 1000000000",
    "flow --last 1e308",
]
OTHERS = [
    "watch --host ..",
    "watch --host . --port 0",
    "watch --port 9223372036854775807",
    "predict --dimension 9223372036854775807 --length 9223372036854775807",
    "predict --dimension 1000000000 --length 1000000000",
    "predict --model recall --tokens 9223372036854775807 --pairs 9223372036854775807",
    "predict --dimension 64 --length 256 --learning-rate 1e308",
    "list --from [/red]",
    "claims --from [/red]",
    "report --into [/red]",
]
BROKEN = ("1e300", "1e308", "[/red]", "1000000", "4096", "--host ..", "1e400G", "digits", "9223372036854775807")


def marked(cases):
    """What was broken once is tried in the usual suite, the rest with the slow tests."""
    return [case if case.endswith(BROKEN) else pytest.param(case, marks=pytest.mark.slow) for case in cases]


def ends_in_words(ended) -> None:
    told = ended.stderr[-3000:]
    assert ended.returncode in (0, 2), (ended.returncode, told)
    assert "Traceback" not in ended.stdout + ended.stderr, told


@pytest.mark.parametrize("words", marked(DRY))
def test_a_plan_is_made_or_refused_in_words_and_soon(home, tmp_path, words):
    (tmp_path / "digits.toml").write_text(f"[slurm]\ntime = {'9' * 5000}\n")
    ends_in_words(call(home, tmp_path, "run", *words.split(), "--dry-run", program=BUDGET))


@pytest.mark.parametrize("words", marked(OTHERS))
def test_any_command_that_does_not_train_ends_in_words_and_soon(home, tmp_path, words):
    (tmp_path / "runs").mkdir()
    ends_in_words(call(home, tmp_path, *words.split(), program=BUDGET))


@pytest.mark.slow
def test_a_folder_whose_name_is_markup_is_a_folder(home, tmp_path):
    small = [word for word in SMALL if word != "--no-page"]
    ended = call(home, tmp_path, "run", "stages", *small, "--into", "[/red]")
    ends_in_words(ended)
    assert ended.returncode == 0 and (tmp_path / "[" / "red]" / "stages-quick.html").is_file()


MAGNITUDES = [str(sign * 10**power) for power in (0, 3, 6, 9, 12, 18, 19, 30) for sign in (1, -1)]
MAGNITUDES += [str(2**power - 1) for power in (8, 16, 31, 32, 53, 62, 63, 64)]
MAGNITUDES += ["1e-323", "1e-30", "1e30", "1e38", "1e39", "1e300", "1e308", "1e309", "nan", "inf"]


@in_many_cases(6, 150)
def test_any_magnitude_of_any_setting_is_planned_or_refused(tmp_path, monkeypatch, capsys, cases):
    """In one process, so that many are tried: `headway run EXPERIMENT --SETTING MAGNITUDE --dry-run`."""
    from tests.fuzz.test_odd_commands import settings_of

    monkeypatch.chdir(tmp_path)
    names = ("stages", "ladder", "toy", "flow", "recall", "transformer-law", "regression", "stage-times")

    def late(*_: object) -> None:
        raise TimeoutError("it takes too long")

    def check(case: tuple[str, int, str]) -> None:
        experiment, place, magnitude = case
        settings = settings_of(experiment)
        words = ["run", experiment, settings[place % len(settings)], magnitude, "--dry-run"]
        before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGVTALRM, late)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)  # of the processor
        try:
            importlib.import_module("headway.cli").main(words)
        except SystemExit as end:
            assert end.code in (0, 2), words
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGTERM, before)
        capsys.readouterr()
        assert not list(Path().iterdir()), words

    fuzz(cases, st.tuples(st.sampled_from(names), st.integers(0, 60), st.sampled_from(MAGNITUDES)), check)
