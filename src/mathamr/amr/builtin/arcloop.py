"""The loop of the dependency parser over one sentence after the other, in the part of Python that becomes machine code.

`ParseState` says the same in objects, `arceager` over arrays; here nothing is made anew at a step. Words are numbered within a
sentence, and the number behind the last is none.
"""

from __future__ import annotations

from mathamr.amr.builtin.parsestate import BREAK, LEFT, REDUCE, RIGHT, SHIFT
from mathamr.core.arrays import ByteArray, FloatArray, IntArray
from mathamr.core.loops import MachineCode

ROWS, FLAGS, BEYOND = 6, 2, 8
"""Rows of numbers and of flags that a sentence needs while it is parsed, each by so much longer than it."""
TOGETHER = 16
"""Actions come in multiples of this, which registers like; what is added fits nothing."""
NEVER = BREAK + 1


def _add_share(total: FloatArray, table: FloatArray, width: int) -> None:
    """Adds a word's share in the hidden layer."""
    for place in range(width):
        total[place] += table[place]


def _score_actions(
    scores: FloatArray,
    total: FloatArray,
    hidden: int,
    pieces: int,
    upper: FloatArray,
    upper_bias: FloatArray,
    actions: int,
) -> None:
    """The scores of actions from the hidden layer, of which the greatest piece counts; four of its numbers at a time."""
    for piece in range(1, pieces):
        for place in range(hidden):
            total[place] = max(total[place], total[piece * hidden + place])
    for action in range(actions):
        scores[action] = upper_bias[action]
    for place in range(0, hidden, 4):
        one, two, three, four = total[place], total[place + 1], total[place + 2], total[place + 3]
        row = place * actions
        for action in range(actions):
            scores[action] += (
                one * upper[row + action]
                + two * upper[row + actions + action]
                + three * upper[row + 2 * actions + action]
                + four * upper[row + 3 * actions + action]
            )


def _parse_sentence(
    table: FloatArray,
    first_word: int,
    none_word: int,
    size: int,
    bias: FloatArray,
    hidden: int,
    pieces: int,
    upper: FloatArray,
    upper_bias: FloatArray,
    moves: IntArray,
    actions: int,
    heads: IntArray,
    labels: IntArray,
    stack: IntArray,
    returned: IntArray,
    last_left: IntArray,
    last_right: IntArray,
    before_right: IntArray,
    context: IntArray,
    unshiftable: ByteArray,
    starts: ByteArray,
    total: FloatArray,
    scores: FloatArray,
) -> None:
    """Fills in the heads (-1 for a root) and labels of a sentence."""
    width = hidden * pieces
    for word in range(size + 1):
        last_left[word] = size
        last_right[word] = size
        before_right[word] = size
        unshiftable[word] = False
        starts[word] = False
    for word in range(size):
        heads[word] = -1
        labels[word] = -1
    starts[size + 1] = False
    for word in range(3):
        stack[word] = size
    depth = 0
    returns = 0
    following = 0
    while depth > 0 or following < size or returns > 0:
        left = size - following + returns
        first = min(following, size)
        second = min(following + 1, size)
        if returns > 0:
            first = returned[returns - 1]
            second = min(following, size)
            if returns > 1:
                second = returned[returns - 2]
        top = stack[depth + 2]
        context[0] = first
        context[1] = second
        context[2] = top
        context[3] = stack[depth + 1]
        context[4] = stack[depth]
        context[5] = last_left[first]
        context[6] = last_left[top]
        context[7] = last_right[top]
        for place in range(width):
            total[place] = bias[place]
        for place in range(8):
            word = context[place]
            row = none_word
            if word < size:
                row = first_word + word
            _add_share(total, table[(row * 8 + place) * width :], width)
        _score_actions(scores, total, hidden, pieces, upper, upper_bias, actions)
        filled = depth > 0
        begins = starts[first]
        can_join = filled and left > 0 and not begins
        can_shift = not filled or (left >= 2 and not begins and not unshiftable[first])
        can_break = left >= 2 and second == first + 1 and not starts[second]
        fits = (
            int(can_shift) << SHIFT
            | int(filled) << REDUCE
            | int(can_join) << LEFT
            | int(can_join) << RIGHT
            | int(can_break) << BREAK
        )
        action = -1
        best = 0.0
        for each in range(actions):
            if (fits >> moves[each]) & 1 == 1 and (action < 0 or scores[each] > best):
                action = each
                best = scores[each]
        move = moves[action]
        if move == BREAK:
            starts[second] = True
            continue
        if move == LEFT:
            before = heads[top]
            if before >= 0:
                last_right[before] = before_right[top]
            heads[top] = first
            labels[top] = action
            last_left[first] = top
            unshiftable[first] = False
            depth -= 1
        elif move == REDUCE:
            if heads[top] < 0 and depth > 1:
                unshiftable[top] = True
                returned[returns] = top
                returns += 1
            depth -= 1
        else:
            if move == RIGHT:
                heads[first] = top
                labels[first] = action
                before_right[first] = last_right[top]
                last_right[top] = first
            stack[depth + 3] = first
            depth += 1
            if returns > 0:
                returns -= 1
            else:
                following += 1


def parse_sentences(
    table: FloatArray,
    sizes: IntArray,
    count: int,
    words: int,
    bias: FloatArray,
    hidden: int,
    pieces: int,
    upper: FloatArray,
    upper_bias: FloatArray,
    moves: IntArray,
    actions: int,
    heads: IntArray,
    labels: IntArray,
    scratch: IntArray,
    room: int,
    flags: ByteArray,
    floats: FloatArray,
) -> None:
    """The same for sentences one after another; heads are numbered through all their words."""
    begin = 0
    for number in range(count):
        size = sizes[number]
        _parse_sentence(
            table,
            begin,
            words,
            size,
            bias,
            hidden,
            pieces,
            upper,
            upper_bias,
            moves,
            actions,
            heads[begin:],
            labels[begin:],
            scratch,
            scratch[room:],
            scratch[2 * room :],
            scratch[3 * room :],
            scratch[4 * room :],
            scratch[5 * room :],
            flags,
            flags[room:],
            floats,
            floats[hidden * pieces :],
        )
        for word in range(begin, begin + size):
            if heads[word] >= 0:
                heads[word] += begin
        begin += size


CODE = MachineCode(_add_share, _score_actions, _parse_sentence, parse_sentences)
