"""Data quality of the time in a data set, without a model."""

from diag.checks.dataset_checks import (
    FINGERPRINTS,
    Signatures,
    balance,
    duplicate_ids,
    fingerprint_table,
    leaks,
    near_duplicates,
)
from diag.checks.finding import CHECKS, Finding, Severity, advice
from diag.checks.fingerprint import SIGNATURE_BYTES, Fingerprint, fingerprint, label_class
from diag.checks.record_checks import Checked, check_record

__all__ = [
    "CHECKS",
    "FINGERPRINTS",
    "SIGNATURE_BYTES",
    "Checked",
    "Finding",
    "Fingerprint",
    "Severity",
    "Signatures",
    "advice",
    "balance",
    "check_record",
    "duplicate_ids",
    "fingerprint",
    "fingerprint_table",
    "label_class",
    "leaks",
    "near_duplicates",
]
