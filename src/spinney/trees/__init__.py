"""What a tree is made of: count tables, criteria, splits, nodes, predictions."""

from spinney.trees.candidate_arrays import GIVEN, CandidateArrays, joined_candidates
from spinney.trees.certificate import OBJECTIVES, Certificate
from spinney.trees.costs import altered_priors, expected_costs, labels_of
from spinney.trees.counts import CountTable, ratio_of, sizes, spread_of
from spinney.trees.lazy_nodes import ArrayNodes, FormerNodes, LazyNodes, MadeNodes
from spinney.trees.linear import FlatModels, LinearModel, Term, flat_models, mixed
from spinney.trees.node import (
    NO_REASON,
    Candidate,
    Node,
    Reason,
    reason_codes,
    shared_out,
)
from spinney.trees.split import (
    Groups,
    Intervals,
    Route,
    Split,
    Surrogate,
    Threshold,
    branch_table,
    counts_by_branch,
    describe,
    possible_codes,
    values_text,
)
from spinney.trees.split_arrays import (
    FORMS,
    QuestionArrays,
    SplitArrays,
    questions_of_splits,
    splits_of_questions,
)
from spinney.trees.table_stack import TableStack, joined_stacks
from spinney.trees.tree import Tree, cut
from spinney.trees.tree_arrays import (
    LaterSurrogates,
    Links,
    SideBySide,
    SurrogateArrays,
    TreeArrays,
    arrays_of_winners,
    joined,
    links_of,
    surrogate_arrays,
    winner_arrays,
)
from spinney.trees.written_question import Question, outside_quotes, read_question

__all__ = [
    "FORMS",
    "GIVEN",
    "NO_REASON",
    "OBJECTIVES",
    "ArrayNodes",
    "Candidate",
    "CandidateArrays",
    "Certificate",
    "CountTable",
    "FlatModels",
    "FormerNodes",
    "Groups",
    "Intervals",
    "LaterSurrogates",
    "LazyNodes",
    "LinearModel",
    "Links",
    "MadeNodes",
    "Node",
    "Question",
    "QuestionArrays",
    "Reason",
    "Route",
    "SideBySide",
    "Split",
    "SplitArrays",
    "Surrogate",
    "SurrogateArrays",
    "TableStack",
    "Term",
    "Threshold",
    "Tree",
    "TreeArrays",
    "altered_priors",
    "arrays_of_winners",
    "branch_table",
    "counts_by_branch",
    "cut",
    "describe",
    "expected_costs",
    "flat_models",
    "joined",
    "joined_candidates",
    "joined_stacks",
    "labels_of",
    "links_of",
    "mixed",
    "outside_quotes",
    "possible_codes",
    "questions_of_splits",
    "ratio_of",
    "read_question",
    "reason_codes",
    "shared_out",
    "sizes",
    "splits_of_questions",
    "spread_of",
    "surrogate_arrays",
    "values_text",
    "winner_arrays",
]
