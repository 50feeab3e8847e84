"""Every mistake ends with exit code 2 and a message that names it, never with a traceback."""

import pytest
from tests.cli.test_help import option_names

FLAGS = {
    *("--task.orthogonal", "--model.keys", "--model.output", "--model.scaled-scores"),
    *("--model.residual", "--model.readout", "--model.biases", "--model.attention-dropout", "--evaluation.comparisons"),
    *("--model.edge-biases", "--model.causal"),
}
WORDS = {
    *("--task.weighting", "--model.embedding", "--model.positions", "--model.norm", "--model.initialisation"),
    *("--training.optimiser", "--training.schedule", "--training.data", "--training.dropout", "--training.precision"),
    "--evaluation.losses",
}
NAMES = {"--training.frozen"}
"""Parts of a model, which only the model knows: tests/training holds that others are refused."""
TAKES_A_VALUE = [name for name in option_names() if name not in FLAGS | NAMES]
NUMBERS = [name for name in TAKES_A_VALUE if name not in WORDS]
WATCH_READS = "headway: `headway watch` only reads. Name the folder without --into, as in `headway watch runs`."
ANY_SIGN = ("--training.tail",)
"""A negative tail means: to the last step."""


def spelt(option: str) -> set[str]:
    """How a message may name the setting."""
    return {option, option.removeprefix("--").replace("-", "_")}


@pytest.fixture(autouse=True)
def nothing_is_trained(dry):
    """A mistake that goes unnoticed ends the test at once, with `Parsed`."""


@pytest.mark.parametrize("option", [*TAKES_A_VALUE, "--grid", "--seeds"])
def test_nonsense_is_refused_by_the_name_of_the_setting(headway, option):
    said = headway("run", "stages", option, "nonsense")
    assert said.code == 2
    assert any(name in said.err for name in spelt(option)), said.err


@pytest.mark.parametrize("option", [*(name for name in NUMBERS if name not in ANY_SIGN), "--seeds"])
def test_a_negative_number_is_refused_by_the_name_of_the_setting(headway, option):
    said = headway("run", "stages", f"{option}=-1")
    assert said.code == 2
    assert any(name in said.err for name in spelt(option)), said.err


def test_every_setting_is_either_a_flag_a_word_or_a_number():
    assert {*FLAGS, *WORDS, *NAMES, *NUMBERS} == set(option_names())


@pytest.mark.parametrize(
    "option, meant",
    [
        ("--task.ratoi", "--task.ratio"),
        ("--training.learn-rate", "--training.learning-rate"),
        ("--sedes", "--seeds"),
        ("--task.block", "--task.blocks"),
    ],
)
def test_a_typo_in_a_setting_suggests_the_nearest_name(headway, option, meant):
    said = headway("run", "stages", option, "2")
    assert said.code == 2
    assert "Unrecognized options" in said.err and option in said.err
    assert meant in said.err.split("Perhaps you meant", 1)[1]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("rnu stages", "there is no command 'rnu'. Did you mean 'run'?"),
        ("--seeds 8", "--seeds needs a command before it, such as `headway run stages --seeds 8`."),
        ("xyzzy", "there is no command 'xyzzy'. See `headway --help`."),
        ("run stagse", "there is no experiment 'stagse'. Did you mean 'stages'? `headway list` shows all."),
        ("run --into X", "headway: `headway run` needs an experiment before --into, such as `headway run stages"),
        ("run --seeds=4", "`headway run` needs an experiment before --seeds, such as"),
        ("report lader", "there is no experiment 'lader'. Did you mean 'ladder'?"),
        ("report --grid as_run", "no grid 'as_run'. Did you mean 'as-run'? There are quick, printed, as-run, paper."),
        ("claims --grid as_run", "no grid 'as_run'. Did you mean 'as-run'? There are quick, printed, as-run, paper."),
        ("claims --from nowhere", "there is no folder nowhere. Run something first, or name another folder"),
        ("run stages --seeds 0", "--seeds is 0, but at least 1 seed is needed."),
        ("run stages --seeds 1.5", "--seeds"),
        ("run stages --grid quik", "stages has no grid 'quik'. It has quick, printed, as-run."),
        ("run stages --grid", "Missing value for argument '--grid'"),
        ("run stages extra", "Unrecognized options: extra"),
        ("run stages --task.blocks", "task.blocks is ()"),
        ("run stages --task.blocks 1,1", "the block (1, 1) of task.blocks names a lag twice"),
        ("run stages --task.blocks 0-2", "a lag of task.blocks (0, 1, 2) is 0"),
        ("run stages --task.blocks 2,8-5", "8-5 runs backwards; the smaller lag comes first. Write blocks of"),
        ("run stages --task.weights 1,2 3,4 5,6", 'Use task.weighting "given", or leave the weights out.'),
        ("run stages --task.weighting given", "Give one number for each lag."),
        ("run stages --task.weighting given --task.weights 1,2 x", "write the weights block by block as in 0.7,0.3"),
        ("run stages --task.order 3", "lag 6 looks before the start of a context of 3 tokens"),
        ("run stages --task.ratio nan", "task.ratio is nan, but it must be a finite number above 0."),
        ("run stages --model.dropout 1", "model.dropout is 1.0"),
        ("run stages --task.context 99", "task.context asks for windows of 99 tokens"),
        ("run stages --task.context 4", "which read windows. `--task.references 4` trains the n-gram model of 4"),
        ("run dataset-size --task.context 2", "--task.context is 2, but the grid determines which models read whole"),
        ("run dataset-size --task.context None", "--task.context is None, but the grid determines which models"),
        ("run construction --training.steps 7", "Unrecognized options: --training.steps"),
        ("run construction --sharpness 3 2", "sharpness is (3.0, 2.0), but it must be one or more numbers, each"),
        ("run construction --sharpness", "sharpness is (), but it must be one or more numbers"),
        ("run construction --test-samples 0", "test_samples is 0, but it must be a whole number of at least 1."),
        ("run stages --task.tokens 9", "--task.tokens is called --task.vocab now."),
        ("run stages --model.blocks=2", "--model.blocks is called --model.layers now."),
        ("run stages --references 4", "--references is called --task.references now."),
        ("run stages --sharpness 3", "Unrecognized options: --sharpness"),
        ("run all --trainign.steps 7", "no run of this grid has the option --trainign.steps 7."),
        ("run toy --grid printed", "toy has no grid 'printed'. It has quick, paper."),
        ("run stages --grid paper", "stages has no grid 'paper'. It has quick, printed, as-run."),
        ("run toy --task.copies 64", "64 copies leave no other token among 64. Use fewer copies, or a larger length."),
        ("run all --grid paper --copeis 3", "no run of this grid has the option --copeis 3."),
        ("run init_scale", "there is no experiment 'init_scale'. Did you mean 'init-scale'?"),
        ("run attention --model.heads 5", "5 heads do not divide the width 48. Use model.width 45 or 50"),
        ("run ladder --task.blocks 1 2 3", "task.references asks for windows of 4 tokens, but the first"),
        ("list --form results", "--from"),
        ("export", "RECORD Folder of a record"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_words(headway, arguments, words):
    said = headway(*arguments.split())
    assert said.code == 2
    assert words in " ".join(said.err.split()), said.err
    assert "Traceback" not in said.err


def test_the_message_of_an_error_comes_once(headway):
    """Two runs in the grid, one mistake, one message."""
    assert headway("run", "ladder", "--training.steps", "0").err.count("training.steps is 0") == 1


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("run stages --seeds abc", "headway: --seeds is 'abc', but it must be a whole number."),
        ("run stages --task.vocab abc", "headway: --task.vocab is 'abc', but it must be a whole number."),
        ("run stages --task.ratio abc", "headway: --task.ratio is 'abc', but it must be a number."),
        ("watch --port x", "headway: --port is 'x', but it must be a whole number."),
        ("run stages --lr 0.1", "headway: --lr is called --training.learning-rate here."),
        ("run stages --batch_size 8", "headway: --batch_size is called --training.batch here."),
        ("run stages --batch-size=8", "headway: --batch-size is called --training.batch here."),
        ("run stages --bs 8", "headway: --bs is called --training.batch here."),
        ("run stages --epochs 3", "headway: --epochs: training is measured in steps here. Use --training.steps."),
        ("watch --into runs", WATCH_READS),
        ("watch --into=runs --port 0", WATCH_READS),
        ("watch runs --from runs", "headway: the folder is given twice, as an argument and with --from. Give it once."),
    ],
)
def test_what_other_programs_would_take_is_refused_in_a_sentence(headway, arguments, words):
    said = headway(*arguments.split())
    assert said.code == 2
    assert said.err.strip() == words
