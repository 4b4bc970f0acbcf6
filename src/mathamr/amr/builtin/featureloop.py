"""Features of many rows by machine code: texts are not written, hashes of their parts are joined and looked up.

A form is a list of items: a part is the number of a column (0 and up), a text between parts its own number with the sign changed. The hash
of a text is a polynomial of its bytes modulo 2^64 (`TextHashes`), so that what is joined of parts is that of the whole.
"""

from __future__ import annotations

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.core.loops import MachineCode

ABSENT = 0
"""The number of a part that is not there: a feature with it is no feature."""
MIX = BASE = 0x9E3779B97F4A7C15
"""What keys are multiplied with for their slots, and what the polynomial of a text is one of."""
ALL, HALF = (1 << 64) - 1, (1 << 63) - 1


def _found(key: int, keys: IntArray, numbers: IntArray, sieve: IntArray, bits: int) -> int:
    """What a `NumberTable` holds for a key, -1 for nothing; most of what is asked does not pass its sieve."""
    last = (1 << bits) - 1
    mixed = key * MIX
    hole = (mixed >> (62 - bits)) & ((4 << bits) - 1)
    if (sieve[hole >> 6] >> (hole & 63)) & 1 == 0:
        return -1
    slot = (mixed >> (64 - bits)) & last
    while keys[slot] != key:
        if keys[slot] < 0:
            return -1
        slot = (slot + 1) & last
    return int(numbers[slot])


def _feature(
    items: IntArray,
    begin: int,
    end: int,
    columns: IntArray,
    count: int,
    row: int,
    values: IntArray,
    powers: IntArray,
    keys: IntArray,
    numbers: IntArray,
    sieve: IntArray,
    bits: int,
) -> int:
    """The feature that a form makes of a row, -1 for none."""
    value = 0
    for place in range(begin, end):
        text = -items[place]
        if text <= 0:
            text = columns[items[place] * count + row]
            if text == ABSENT:
                return -1
        value = (value * powers[text] + values[text]) & ALL
    return _found(value & HALF, keys, numbers, sieve, bits)


def add_features(
    made: FloatArray,
    width: int,
    owners: IntArray,
    weights: FloatArray,
    whole: int,
    first: int,
    columns: IntArray,
    count: int,
    items: IntArray,
    bounds: IntArray,
    forms: int,
    values: IntArray,
    powers: IntArray,
    keys: IntArray,
    numbers: IntArray,
    sieve: IntArray,
    bits: int,
) -> None:
    """Adds the vectors of all features of rows to those of their owners, from the `first` number of a vector on."""
    for row in range(count):
        target = owners[row] * width
        for form in range(forms):
            feature = _feature(
                items,
                bounds[form],
                bounds[form + 1],
                columns,
                count,
                row,
                values,
                powers,
                keys,
                numbers,
                sieve,
                bits,
            )
            if feature >= 0:
                vector = feature * whole + first
                for place in range(width):
                    made[target + place] += weights[vector + place]


def add_rows(made: FloatArray, width: int, table: FloatArray, rows: IntArray, count: int) -> None:
    """Adds a row of a table to every row."""
    for number in range(count):
        row = rows[number] * width
        for place in range(width):
            made[number * width + place] += table[row + place]


def find_depths(depths: IntArray, heads: IntArray, count: int) -> None:
    """How many steps each word is from its root, which is its own head."""
    for word in range(count):
        here = word
        steps = 0
        while heads[here] != here and steps < count:
            here = heads[here]
            steps += 1
        depths[word] = steps


def find_chains(
    above: IntArray,
    up_values: IntArray,
    down_values: IntArray,
    down_powers: IntArray,
    heads: IntArray,
    count: int,
    width: int,
    up_names: IntArray,
    up_name_powers: IntArray,
    down_names: IntArray,
    down_name_powers: IntArray,
) -> None:
    """The words above each word by distance (-1 beyond a root), and the hashes of the ways up and down; names as `_step_names` has them."""
    for word in range(count):
        row = word * width
        for place in range(width):
            above[row + place] = -1
        here = word
        name = count + word
        above[row] = word
        up_values[row] = 0
        down_values[row] = 0
        down_powers[row] = 1
        place = 1
        while place < width and heads[here] != here:
            up_values[row + place] = up_values[row + place - 1] * up_name_powers[name] + up_names[name]
            down_values[row + place] = (
                down_names[name] * down_powers[row + place - 1] + down_values[row + place - 1]
            )
            down_powers[row + place] = down_name_powers[name] * down_powers[row + place - 1]
            here = heads[here]
            name = here
            above[row + place] = here
            place += 1


def find_paths(
    paths: IntArray,
    lengths: IntArray,
    sources: IntArray,
    targets: IntArray,
    count: int,
    above: IntArray,
    width: int,
    up_values: IntArray,
    down_values: IntArray,
    down_powers: IntArray,
    keys: IntArray,
    numbers: IntArray,
    sieve: IntArray,
    bits: int,
    far: int,
) -> None:
    """The dependency paths between words that have their heads above them, nearest first, in rows of `width`."""
    for pair in range(count):
        source = sources[pair] * width
        target = targets[pair] * width
        paths[pair] = far
        lengths[pair] = width
        rise = 0
        while rise < width and above[source + rise] >= 0:
            fall = 0
            while fall < width and above[target + fall] != above[source + rise]:
                fall += 1
            if fall < width:
                if rise + fall < width:
                    value = up_values[source + rise] * down_powers[target + fall] + down_values[target + fall]
                    paths[pair] = max(_found(value & HALF, keys, numbers, sieve, bits), ABSENT)
                    lengths[pair] = rise + fall
                break
            rise += 1


def score_candidates(
    scores: FloatArray,
    hidden: FloatArray,
    owners: IntArray,
    candidates: IntArray,
    count: int,
    vectors: FloatArray,
    features: IntArray,
    weights: FloatArray,
    output: FloatArray,
    width: int,
) -> None:
    """Adds to the scores of candidates what one hidden layer makes of a word, the candidate and a feature of both."""
    for number in range(count):
        word = owners[number] * width
        vector = candidates[number] * width
        feature = features[number] * width
        total = 0.0
        for place in range(width):
            total += output[place] * max(
                hidden[word + place] + vectors[vector + place] + weights[feature + place], 0.0
            )
        scores[number] += total


def find_features(
    features: IntArray,
    unknown: int,
    columns: IntArray,
    count: int,
    items: IntArray,
    bounds: IntArray,
    forms: int,
    values: IntArray,
    powers: IntArray,
    keys: IntArray,
    numbers: IntArray,
    sieve: IntArray,
    bits: int,
) -> None:
    """The features of rows, those of each form one after another."""
    for form in range(forms):
        for row in range(count):
            feature = _feature(
                items,
                bounds[form],
                bounds[form + 1],
                columns,
                count,
                row,
                values,
                powers,
                keys,
                numbers,
                sieve,
                bits,
            )
            if feature < 0:
                feature = unknown
            features[form * count + row] = feature


def hash_texts(data: IntArray, ends: IntArray, count: int, values: IntArray, powers: IntArray) -> None:
    """The hashes of texts that stand one after another, and the powers of the base that their lengths are."""
    place = 0
    for text in range(count):
        value = 0
        power = 1
        while place < ends[text]:
            value = (value * BASE + data[place] + 1) & ALL
            power = (power * BASE) & ALL
            place += 1
        values[text] = value
        powers[text] = power


CODE = MachineCode(
    _found,
    _feature,
    add_features,
    add_rows,
    find_depths,
    find_chains,
    find_paths,
    score_candidates,
    find_features,
    hash_texts,
)
