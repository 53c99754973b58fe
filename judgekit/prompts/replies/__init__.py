"""Reads a judge's reply into scores, or says why it cannot; nothing is ever guessed."""

from __future__ import annotations

from judgekit.prompts.replies.answers import CriterionReply
from judgekit.prompts.replies.formats import ReplyFormat
from judgekit.prompts.replies.formatted import read_formatted
from judgekit.prompts.replies.reading import parse_reply, read_reply

__all__ = ["CriterionReply", "ReplyFormat", "parse_reply", "read_formatted", "read_reply"]
