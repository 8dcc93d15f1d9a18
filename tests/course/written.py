"""What students write: right answers in another way than the lesson's, and wrong ones, each with one misconception."""

import math

import numpy as np
import torch

from azlab.course import lesson_03, plain_alphazero

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


# --- 04: values -----------------------------------------------------------------------------------------------------


def values_of(policy, small):
    """Recursive, with a memory."""
    known = {}

    def value(s):
        if s not in known:
            ends = small.result[s] is not None
            known[s] = small.result[s] if ends else sum(p * value(small.children[s][m]) for m, p in policy[s].items())
        return known[s]

    return [value(s) for s in range(len(small))]


def values_that_ignore_results(policy, small):
    values = [0.0] * len(small)
    for s in reversed(range(len(small))):
        values[s] = sum(policy[s][move] * values[after] for move, after in small.children[s].items())
    return values


def values_for_the_mover(policy, small):
    return [v if small.to_move[s] == 0 else -v for s, v in enumerate(values_of(policy, small))]


def greedy(values, small):
    """Ties are shared."""
    policy = []
    for s, moves in enumerate(small.children):
        signed = {move: values[after] * (1 - 2 * small.to_move[s]) for move, after in moves.items()}
        best = [move for move in moves if signed[move] == max(signed.values())]
        policy.append({move: (move in best) / max(1, len(best)) for move in moves})
    return policy


def greedy_for_the_first(values, small):
    policy = []
    for moves in small.children:
        best = max(moves, key=lambda move: values[moves[move]]) if moves else None
        policy.append({move: float(move == best) for move in moves})
    return policy


def td_update(values, s, after, alpha, small):
    ends = small.result[after] is not None
    values[s] = (1 - alpha) * values[s] + alpha * (small.result[after] if ends else values[after])


def td_beyond_the_end(values, s, after, alpha, small):
    values[s] += alpha * (values[after] - values[s])


def td_that_turns_the_sign(values, s, after, alpha, small):
    ends = small.result[after] is not None
    values[s] += alpha * (-(small.result[after] if ends else values[after]) - values[s])


def q_update(q, s, move, after, alpha, small, best_of=lambda small, s, after: small.to_move[after]):
    ends = small.result[after] is not None
    ranked = sorted(q[after].values())
    target = small.result[after] if ends else ranked[-1] if best_of(small, s, after) == 0 else ranked[0]
    q[s][move] = (1 - alpha) * q[s][move] + alpha * target


def q_always_max(*arguments):
    q_update(*arguments, best_of=lambda small, s, after: 0)


def q_for_who_moved(*arguments):
    q_update(*arguments, best_of=lambda small, s, after: small.to_move[s])


def q_alternating(*arguments):
    q_update(*arguments, best_of=lambda small, s, after: 1 - small.to_move[s])


def q_beyond_the_end(q, s, move, after, alpha, small):
    target = (max if small.to_move[after] == 0 else min)(q[after].values(), default=0)
    q[s][move] += alpha * (target - q[s][move])


# --- 08: AlphaZero --------------------------------------------------------------------------------------------------


def evaluate(net, position, sign=lambda position: 1 - 2 * position.to_move):
    """With the illegal actions at minus infinity, where the lesson leaves them out."""
    with torch.no_grad():
        logits, value = net(torch.as_tensor(position.game.encode(position.state)))
    masked = torch.full_like(logits[0], -torch.inf)
    masked[position.legal_actions] = logits[0][position.legal_actions]
    chances = masked.softmax(0)
    return {action: float(chances[action]) for action in position.legal_actions}, float(value) * sign(position)


def evaluate_for_the_mover(net, position):
    return evaluate(net, position, lambda position: 1)


def evaluate_all_actions(net, position):
    with torch.no_grad():
        logits, _ = net(torch.as_tensor(position.game.encode(position.state)))
    chances = logits[0].softmax(0)
    return {action: float(chances[action]) for action in position.legal_actions}, evaluate(net, position)[1]


def puct(node, c=1.5, sign=lambda node: 1 - 2 * node.position.to_move):
    def score(item):
        _, child = item
        mean = child.total / child.visits if child.visits else 0
        return sign(node) * mean + c * child.prior * node.visits**0.5 / (1 + child.visits)

    return max(node.children.items(), key=score)[0]


def puct_for_the_first(node, c=1.5):
    return puct(node, c, lambda node: 1)


def simulate_puct(root, evaluate, sign=lambda node: 1):
    def down(node):
        if node.position.over:
            value = node.position.result
        elif not node.children:
            priors, value = evaluate(node.position)
            for action, prior in priors.items():
                node.children[action] = plain_alphazero.Node(prior)
        else:
            action = puct(node)
            child = node.children[action]
            child.position = child.position or node.position.play(action)
            value = down(child)
        node.visits += 1
        node.total += sign(node) * value
        return value

    down(root)


def simulate_puct_for_the_mover(root, evaluate):
    simulate_puct(root, evaluate, lambda node: 1 - 2 * node.position.to_move)


def targets(steps, result, sign=lambda k, position: 1 - 2 * position.to_move):
    planes = [position.game.encode(position.state)[0] for position, _ in steps]
    return [(plane, shares, sign(k, position) * result) for k, (plane, (position, shares)) in enumerate(zip(planes, steps))]


def targets_for_the_first(steps, result):
    return targets(steps, result, lambda k, position: 1)


def targets_alternating(steps, result):
    return targets(steps, result, lambda k, position: (-1) ** k)


def loss(logits, values, shares, results):
    log_policy = logits - logits.logsumexp(1, keepdim=True)
    return ((values - results).square() - (shares * log_policy).sum(1)).mean()


def loss_without_softmax(logits, values, shares, results):
    return ((values - results).square() - (shares * logits).sum(1)).mean()


# --- 07: policies ---------------------------------------------------------------------------------------------------


def softmax(preferences):
    values = np.array(list(preferences.values()))
    powers = np.exp(values - np.logaddexp.reduce(values))
    return dict(zip(preferences, powers.tolist()))


def softmax_that_overflows(preferences):
    return {move: math.exp(one) / sum(map(math.exp, preferences.values())) for move, one in preferences.items()}


def reinforce(theta, steps, result, baseline, alpha, small, sign=lambda k, s, small: 1 - 2 * small.to_move[s], others=True):
    for k, (s, move) in enumerate(steps):
        chances = softmax(theta[s])
        for other in theta[s]:
            step = alpha * sign(k, s, small) * (result - baseline[s])
            if other == move:
                theta[s][other] += step * (1 - chances[other])
            elif others:
                theta[s][other] -= step * chances[other]


def reinforce_for_the_first(*arguments):
    reinforce(*arguments, sign=lambda k, s, small: 1)


def reinforce_alternating(*arguments):
    reinforce(*arguments, sign=lambda k, s, small: (1 - 2 * small.to_move[0]) * (-1) ** k)


def reinforce_the_move_alone(*arguments):
    reinforce(*arguments, others=False)


def reinforce_without_baseline(theta, steps, result, baseline, alpha, small):
    reinforce(theta, steps, result, [0.0] * len(small), alpha, small)


# --- 05: Monte Carlo control ----------------------------------------------------------------------------------------


def monte_carlo(values, counts, path, result, sign=lambda k: 1):
    for k, pair in enumerate(path):
        before = counts.get(pair, 0)
        values[pair] = (values.get(pair, 0) * before + sign(k) * result) / (before + 1)
        counts[pair] = before + 1


def monte_carlo_for_the_mover(*arguments):
    monte_carlo(*arguments, sign=lambda k: (-1) ** k)


def monte_carlo_that_forgets(values, counts, path, result):
    for pair in path:
        counts[pair] = counts.get(pair, 0) + 1
        values[pair] = result
