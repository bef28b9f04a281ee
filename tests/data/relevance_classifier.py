"""How far the classifier of pairs can be relied on: average precision over all pairs of queries it was not trained on.

    python -m tests.data.relevance_classifier               # on the conversations written by hand
    python -m tests.data.relevance_classifier --real        # on the real dialogues, where ../shared/data is

Five folds by query. It is trained on the relevant pairs of the other queries with irrelevant ones: `hard`, the three
that rank first for each relevant one, which is how it was measured before; `random`, three drawn by chance; `all`.
"""

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cxlab.benchmarks.cdr.relevance import PairFeatures
from tests.data.real_conversations import Material, load_by_hand, load_real

KINDS = ("hard", "random", "all")


def measure(material: Material, kind: str) -> tuple[float, float]:
    """(average precision, share of relevant pairs)."""
    features, rng = PairFeatures(material.corpus), np.random.default_rng(0)
    queries = sorted(material.queries)
    read = [features.read(material.queries[query]) for query in queries]
    fits = [np.array([name in material.relevant[query] for name in features.ids]) for query in queries]
    told, true = [], []
    for train, test in GroupKFold(5).split(queries, groups=queries):
        rows, labels = [], []
        for place in train:
            relevant, others = np.flatnonzero(fits[place]), np.flatnonzero(~fits[place])
            count = min(3 * len(relevant), len(others))
            if kind == "hard":
                ranked = [
                    features.place[name] for name in features.rank(material.queries[queries[place]], len(read[0]))
                ]
                others = np.array([each for each in ranked if not fits[place][each]][:count])
            elif kind == "random":
                others = rng.choice(others, count, replace=False)
            chosen = np.concatenate([relevant, others])
            rows.append(read[place][chosen])
            labels.append(fits[place][chosen])
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        model.fit(np.vstack(rows), np.concatenate(labels))
        told += [model.predict_proba(read[place])[:, 1] for place in test]
        true += [fits[place] for place in test]
    wanted = np.concatenate(true)
    return float(average_precision_score(wanted, np.concatenate(told))), float(wanted.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", action="store_true", help="the real dialogues")
    material = load_real() if parser.parse_args().real else load_by_hand()
    for kind in KINDS:
        precision, blind = measure(material, kind)
        print(f"trained with {kind:6} irrelevant pairs: average precision {precision:.3f} (blind {blind:.3f})")


if __name__ == "__main__":
    main()
