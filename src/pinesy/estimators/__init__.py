"""scikit-learn's door: rules as a classifier.

It needs the extra ``sklearn``: ``pip install 'pinesy[sklearn]'``.
"""

from pinesy.exceptions import needing

with needing("sklearn", "pinesy.estimators needs"):
    import sklearn

from pinesy.estimators.rule_classifier import RuleClassifier

__all__ = ["RuleClassifier"]

del needing, sklearn
