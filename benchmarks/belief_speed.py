"""What conditioning a batch costs, beside inferring it: Addition-100, 1000 samples."""

import numpy as np
from measure import best_times

from pinesy import antipignistic
from pinesy.inverse import posterior
from pinesy.problems import addition, addition_labels


def main(k: int = 100, n: int = 1000) -> None:
    rng = np.random.default_rng(0)
    rules = addition(k)
    labels = addition_labels(rng.integers(0, 10, (n, 2 * k)))
    targets = {f"y_{i}": labels[f"y_{i}"] for i in range(k + 1)}
    sees = rng.dirichlet(np.full(10, 0.1), size=(2 * k, n))
    inputs = {f"a_{i}": antipignistic(p) for i, p in enumerate(sees, 1)}
    times = best_times(
        {
            "infer": lambda: rules.infer(inputs),
            "posterior": lambda: posterior(rules, inputs, targets),
        }
    )
    ratio = times["condition"] / times["infer"]
    print(f"Addition-{k}, {n} samples: infer {times['infer'] * 1e3:.1f} ms, ", end="")
    print(f"condition {times['condition'] * 1e3:.1f} ms, {ratio:.1f} times")


if __name__ == "__main__":
    main()
