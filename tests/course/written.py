"""What students write: right answers in another way than the lesson's, and wrong ones, each with one misconception."""

import math

import numpy as np

from azlab.course import lesson_03

# --- 02: minimax ----------------------------------------------------------------------------------------------------


def negamax(position):
    """The value for the player to move."""
    if position.over:
        return position.result * (1 - 2 * position.to_move)
    following = [position.play(action) for action in position.legal_actions]
    return max(negamax(one) * (1 if one.to_move == position.to_move else -1) for one in following)


def value(position):
    return negamax(position) * (1 - 2 * position.to_move)


def always_alternating(position, sign=1):
    if position.over:
        return position.result
    values = [always_alternating(position.play(action), -sign) for action in position.legal_actions]
    return max(values) if sign == 1 else min(values)


def alternating(position):
    """Right for the first move; then it changes sides with every move."""
    return always_alternating(position, 1 - 2 * position.to_move)


def alpha_beta(position, low=-math.inf, high=math.inf):
    """Fail-hard: never outside of the bounds."""
    if position.over:
        return position.result
    for action in position.legal_actions:
        found = alpha_beta(position.play(action), low, high)
        if position.to_move == 0:
            low = max(low, found)
        else:
            high = min(high, found)
        if low >= high:
            break
    return low if position.to_move == 0 else high


def cuts_too_much(position, low=-math.inf, high=math.inf):
    """Leaves the loop after the first move that is not lost."""
    if position.over:
        return position.result
    best = None
    for action in position.legal_actions:
        found = cuts_too_much(position.play(action), low, high)
        if best is None or (found > best if position.to_move == 0 else found < best):
            best = found
        if best == 0:
            break
    return best


def limited(position, depth, evaluate):
    if position.over or depth == 0:
        return position.result if position.over else evaluate(position)
    pick = (max, min)[position.to_move]
    return pick(limited(position.play(action), depth - 1, evaluate) for action in position.legal_actions)


def judges_ends(position, depth, evaluate):
    if depth == 0 or position.over:
        return evaluate(position)
    pick = (max, min)[position.to_move]
    return pick(judges_ends(position.play(action), depth - 1, evaluate) for action in position.legal_actions)


# --- 03: UCB1 and UCT -----------------------------------------------------------------------------------------------


def ucb1(means, uses, c):
    bounds = [math.inf if n == 0 else q + c * math.sqrt(math.log(sum(uses)) / n) for q, n in zip(means, uses)]
    return bounds.index(max(bounds))


def ucb1_that_divides_the_wrong_way(means, uses, c):
    if 0 in uses:
        return list(uses).index(0)
    return int(np.argmax(means + c * np.sqrt(np.log(uses) / uses.sum())))


def ucb1_that_forgets_the_untried(means, uses, c):
    return int(np.argmax(means + c * np.sqrt(np.log(uses.sum()) / np.maximum(uses, 1e9))))


def choose(node, c=1.41):
    best, best_bound = None, -math.inf
    for action, child in node.children.items():
        mean = child.total / child.visits
        if node.position.to_move == 1:
            mean = -mean
        bound = mean + c * (math.log(node.visits) / child.visits) ** 0.5
        if bound > best_bound:
            best, best_bound = action, bound
    return best


def choose_for_the_first(node, c=1.41):
    return max(node.children, key=lambda a: bound_of(node, node.children[a], 1, c))


def choose_for_the_child(node, c=1.41):
    """Takes the sign of whoever moves at the child."""
    return max(node.children, key=lambda a: bound_of(node, node.children[a], 1 - 2 * node.children[a].position.to_move, c))


def choose_the_most_visited(node, c=1.41):
    return max(node.children, key=lambda a: node.children[a].visits)


def bound_of(node, child, sign, c):
    return sign * child.total / child.visits + c * math.sqrt(math.log(node.visits) / child.visits)


def simulate(root, number, sign_of=lambda node: 1, judge=lambda position, number: None):
    """Recursive, where the lesson's is a loop."""

    def down(node):
        untried = [action for action in node.position.legal_actions if action not in node.children]
        if node.position.over:
            result = node.position.result
        elif untried:
            child = node.children[untried[0]] = lesson_03.Node(node.position.play(untried[0]))
            over = child.position.over
            result = child.position.result if over else lesson_03.playout(child.position, number)
            child.visits, child.total = 1, sign_of(child) * result
        else:
            result = down(node.children[choose(node)])
        node.visits += 1
        node.total += sign_of(node) * result
        return result

    down(root)


def simulate_for_the_mover(root, number):
    simulate(root, number, lambda node: 1 - 2 * node.position.to_move)


def simulate_without_new_nodes(root, number):
    root.visits += 1
    root.total += lesson_03.playout(root.position, number)
