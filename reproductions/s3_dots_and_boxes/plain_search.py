"""PUCT in the plainest way, one leaf at a time: what self-play is timed against. Notebook 10 shows the same lines."""

import numpy as np

import azlab
from azlab.nets.encodings import outputs_of_actions

boxes = azlab.game("dots_and_boxes")


class Node:
    def __init__(self, position, net):
        self.position, self.visits, self.total = position, 0, 0.0  # total: values for seat 0
        self.children, self.prior = {}, {}
        if position.over:
            self.value = float(position.result)
        else:
            answer = net(position.state["lines"].astype(np.float32), training=False)
            chances = answer["policy"].numpy()[0][outputs_of_actions(boxes, 28, "lines")]
            legal = position.legal_actions
            self.prior = {action: chances[action] / chances[legal].sum() for action in legal}
            self.value = float(answer["value"][0, 0]) * (1 if position.to_move == 0 else -1)


def best_child(node, c=1.0):
    sign = 1 if node.position.to_move == 0 else -1  # whose turn it is, is a fact of the position: no sign is flipped by ply

    def score(action):
        child = node.children.get(action)
        mean, visits = (sign * child.total / child.visits, child.visits) if child else (0.0, 0)
        return mean + c * node.prior[action] * node.visits**0.5 / (1 + visits)

    return max(node.prior, key=score)


def plain_search(position, net, simulations):
    root = Node(position, net)
    root.visits, root.total = 1, root.value
    for _ in range(simulations):
        path, is_new = [root], False
        while path[-1].prior and not is_new:  # down to a position that is new, or over
            node, action = path[-1], best_child(path[-1])
            is_new = action not in node.children
            if is_new:
                node.children[action] = Node(node.position.play(action), net)
            path.append(node.children[action])
        for node in path:
            node.visits, node.total = node.visits + 1, node.total + path[-1].value
    return max(root.children, key=lambda action: root.children[action].visits)
