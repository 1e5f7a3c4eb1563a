"""scikit-learn's door: rules as a classifier.

It needs the extra ``sklearn``: ``pip install 'pinesy[sklearn]'``.
"""

try:
    import sklearn
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"pinesy.estimators needs {error.name}, which is not installed; pip install "
        "'pinesy[sklearn]'",
        name=error.name,
    ) from None

from pinesy.estimators.rule_classifier import RuleClassifier

__all__ = ["RuleClassifier"]

del sklearn
