"""The system under test. Replace `answer` with a call of yours."""

_ANSWERS = {
    "refund": "Yes, you can return it within 30 days.",
    "sale": "Sale items cannot be returned, but we exchange them or give store credit.",
    "hours": "We are open from 9 to 18, Monday to Saturday.",
}


def answer(case_id: str) -> str:
    """What the support agent answers."""
    return _ANSWERS[case_id]
