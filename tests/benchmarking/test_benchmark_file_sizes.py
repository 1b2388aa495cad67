"""The benchmark of model files names what takes their space."""

from benchmarks import file_sizes


def test_a_line_for_each_model(capsys):
    file_sizes.main(["--rows", "400", "--only", "tree"])
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith(f"| {file_sizes.MEANT['tree']} | ")
    assert line.count("`") == 2 * file_sizes.SHOWN


def test_arrays_are_no_more_than_the_file():
    size, arrays = file_sizes.measured(file_sizes.MODELS["tree"](200))
    assert size / 4 < sum(arrays.values()) < size
    assert list(arrays.values()) == sorted(arrays.values(), reverse=True)
