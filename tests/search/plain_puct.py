"""PUCT as one would write it first: objects, recursion, no arrays. The fast search must visit the same nodes.

Values are for seat 0, as everywhere; the evaluator is called with one state at a time.
"""

import math

import numpy as np
import pytest

from azlab.search import tree as trees


class Node:
    def __init__(self, position, parent=None, prior=0.0):
        self.position, self.parent, self.prior = position, parent, prior
        self.children = {}
        self.visits, self.value_sum, self.draw_sum = 0, 0.0, 0.0

    def mean_for(self, seat, draw_value):
        sign = 1 - 2 * seat
        return (sign * self.value_sum + draw_value * self.draw_sum) / self.visits


def evaluate(node, evaluator):
    """Fill in the children and return (value, chance of a draw)."""
    position = node.position
    if position.over:
        return float(position.result), float(position.result == 0)
    state = position.state
    priors, values, *draws = evaluator.evaluate(state, position.game.legal_mask(state))
    node.priors = {action: float(np.float32(priors[0, action])) for action in position.legal_actions}
    return float(np.float32(values[0])), float(np.float32(draws[0][0])) if draws else 0.0


def choose(node, config):
    seat, total = node.position.to_move, node.visits
    weight = config.cpuct
    if config.cpuct_base:
        weight += math.log((1 + total + config.cpuct_base) / config.cpuct_base)
    weight *= math.sqrt(total)
    draw_value, urgency = config.draw_value, config.fpu
    if config.fpu_relative:
        urgency = node.mean_for(seat, draw_value) - config.fpu
    best, best_score = None, -math.inf
    for action, prior in node.priors.items():
        child = node.children.get(action)
        score = urgency + weight * prior
        if child:
            score = child.mean_for(seat, draw_value) + weight * prior / (1 + child.visits)
        if score > best_score:
            best, best_score = action, score
    return best


def search(position, evaluator, config, simulations, to_the_end=False, root_values_only=False):
    """The root after so many simulations; the last two as in the program of reproductions/s3_dots_and_boxes."""
    root = Node(position)
    back_up(root, *evaluate(root, evaluator), root_values_only)
    for _ in range(simulations):
        node = leaf_below(root, config)
        back_up(node, *evaluate(node, evaluator), root_values_only)
        while to_the_end and not node.position.over:
            node = leaf_below(node, config)
            back_up(node, *evaluate(node, evaluator), root_values_only)
    return root


def leaf_below(node, config):
    """The finished or new node to which the choices from `node` on lead."""
    while not node.position.over:
        action = choose(node, config)
        if action not in node.children:
            node.children[action] = Node(node.position.play(action), node)
            return node.children[action]
        node = node.children[action]
    return node


def back_up(node, value, draw, root_values_only):
    while node:
        node.visits += 1
        if node.parent is None or not root_values_only:
            node.value_sum += value
            node.draw_sum += draw
        node = node.parent


def compare(node, tree, index):
    """The plain node and node `index` of the fast tree agree, and so do all nodes below."""
    assert tree.visits[0, index] == node.visits
    assert tree.value_sum[0, index] == pytest.approx(node.value_sum, abs=1e-9)
    assert tree.draw_sum[0, index] == pytest.approx(node.draw_sum, abs=1e-9)
    assert tree.to_move[0, index] == node.position.to_move and tree.over[0, index] == node.position.over
    assert tree.state[0, index].tobytes() == node.position.state.tobytes()
    children = tree.children[0, index]
    assert {a: c for a, c in enumerate(children) if c >= 0}.keys() == node.children.keys()
    assert np.flatnonzero(children != trees.ILLEGAL).tolist() == node.position.legal_actions
    for action, child in node.children.items():
        compare(child, tree, children[action])
