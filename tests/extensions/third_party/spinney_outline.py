"""Another people's package: one object for each socket."""

import click

from spinney.growth.growers import PLAIN
from spinney.output.export_formats import Format


def outline(model):
    """Return one line for each node, indented by its depth."""
    depths = {0: 0}
    lines = []
    for number, node in enumerate(model.tree.nodes):
        lines.append("  " * depths[number] + f"node {number}")
        for child in node.children:
            depths[child] = depths[number] + 1
    return "\n".join(lines) + "\n"


def grow_stump(rows, recipe, options):
    """Return a tree of one split."""
    from dataclasses import replace

    from spinney.sources.training_data import TrainingData

    stump = replace(recipe, search="greedy", max_depth=1)
    return PLAIN.grow(TrainingData(rows), stump, options)


@click.command()
@click.argument("words", nargs=-1)
def echo(words):
    """Print words."""
    click.echo(" ".join(words))


def heights(values, axes):
    """Draw values as bars."""
    axes.bar(range(len(values)), values)
    return axes


def compile_kernels():
    """Run what ``spinney compile`` compiles."""
    click.echo("kernels of outlines")


OUTLINE = Format("outline", ("tree", "noted"), outline)
