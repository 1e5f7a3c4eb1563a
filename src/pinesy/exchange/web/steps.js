/**
 * The steps that Python's engine compiled of a rule set, and how they are run: every step is a
 * minimum or a maximum of values before it. `page_steps.py` writes them.
 */

/** The operations; MAXMIN is a maximum of minima of two, and the other one a minimum of maxima. */
const [MAX, MIN, MAXMIN] = [0, 1, 2];

/** Return the memberships of a subset, given as hexadecimal digits, the first for four values. */
export function membershipsOf(digits, size) {
  const inside = new Uint8Array(size);
  for (let i = 0; i < size; i++) {
    const digit = i >> 2 < digits.length ? parseInt(digits[i >> 2], 16) : 0;
    inside[i] = (digit >> (i & 3)) & 1;
  }
  return inside;
}

/** Return steps as arrays; `sizes` are those of the domains of inputs. */
export function readProgram({ leaves, subsets, steps, outputs }, sizes) {
  const starts = new Uint32Array(steps.length + 1);
  steps.forEach((step, i) => (starts[i + 1] = starts[i] + step.length - 1));
  return {
    leaves: Uint32Array.from(leaves),
    subsets: subsets.map(([input, digits]) => ({ input, inside: membershipsOf(digits, sizes[input]) })),
    ops: Uint8Array.from(steps, ([op]) => op),
    starts,
    operands: Uint32Array.from(steps.flatMap((step) => step.slice(1))),
    outputs: Uint32Array.from(outputs),
    values: new Float64Array(2 + leaves.length + steps.length).fill(1, 1, 2),
  };
}

/** Return the outputs of a program; `known` is what its leaves are chosen from. */
export function runProgram({ leaves, ops, starts, operands, outputs, values }, known) {
  let next = 2; // after 0 and 1
  for (let i = 0; i < leaves.length; i++) values[next++] = known[leaves[i]];
  for (let i = 0, k = 0; i < ops.length; i++) {
    const stop = starts[i + 1];
    let best = values[operands[k++]];
    if (ops[i] === MAX) for (; k < stop; k++) best = Math.max(best, values[operands[k]]);
    else if (ops[i] === MIN) for (; k < stop; k++) best = Math.min(best, values[operands[k]]);
    else if (ops[i] === MAXMIN) {
      best = Math.min(best, values[operands[k++]]);
      for (; k < stop; k += 2) best = Math.max(best, Math.min(values[operands[k]], values[operands[k + 1]]));
    } else {
      best = Math.max(best, values[operands[k++]]);
      for (; k < stop; k += 2) best = Math.min(best, Math.max(values[operands[k]], values[operands[k + 1]]));
    }
    values[next++] = best;
  }
  const results = new Float64Array(outputs.length);
  for (let i = 0; i < results.length; i++) results[i] = values[outputs[i]];
  return results;
}
