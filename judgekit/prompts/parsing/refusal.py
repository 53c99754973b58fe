"""Decides whether a reply without a verdict is a refusal to judge."""

from __future__ import annotations

import re
import unicodedata

_CANNOT = (
    r"(?:can(?:no|')?t|cannot|can not|could not|couldn't|will not|won't|(?:am"
    r"|'m) (?:not able|unable)"
    r"|(?:am|'m) not (?:comfortable|going|willing|allowed|permitted|in a position)|must decline"
    r"|have to decline|need to decline|decline|refuse|prefer not|would rather not|'d rather not"
    r"|(?:do not|don't) feel comfortable|must refuse|(?:am|'m) (?:declining|prohibited)"
    r"|(?:do not|don't) (?:wish|want) to|(?:am|'m) forced to decline|should not|shouldn't)"
)
_DO = (
    r"(?:assist|help|provide|evaluat\w*|assess\w*|scor\w*|judg\w*|rat(?:e|ing)|grad(?:e|ing)"
    r"|comply|complet\w*|fulfil\w*|engage|continue|answer|respond|do that|do this"
    r"|participate|review"
    r"|process|discuss|support|proceed|give|offer|perform|carry out|generate|produce|create|handle"
    r"|address|analy[sz]\w*|accommodate|work with|take part)"
)

# "I cannot find an error" is a finding: verbs of perception do not make a refusal.
_UP_TO = (
    r"(?:[ ,]+(?!find|see|say|tell|identif|detect|think|verif|confirm|determin|read|locat|underst)"
    r"[\w']+){0,5}?[ ,]+"
)

_ENGLISH = (
    (
        rf"\bi(?: am|'m)?(?: (?:really|truly|very|so|deeply))? (?:sorry"
        rf"|apologi[sz]e)\b[^.!?\n]{{0,60}}\b{_CANNOT}\b"
    ),
    rf"\b(?:i|we)\b[ ,]{{0,2}}(?:\w+ ){{0,3}}?(?:i |we )?{_CANNOT}\b{_UP_TO}{_DO}",
    rf"\b(?:i|we){_CANNOT}\b{_UP_TO}{_DO}",
    rf"\bas an? (?:ai|language|responsible|large)[^.!?\n]{{0,60}}\b{_CANNOT}\b",
    rf"\b(?:unable|not able) to {_DO}",
    (
        rf"\b(?:sorry|apologies|unfortunately"
        rf"|regret\w*)\b[^.!?\n]{{0,80}}\b{_CANNOT}\b[^.!?\n]{{0,60}}\b{_DO}"
    ),
    (
        r"\b(?:request|content|prompt|response|reply) (?:was|has been|is|were) (?:blocked|filtered"
        r"|flagged|declined|refused|rejected)"
    ),
    (
        r"\b(?:violates?|against|contrary to|not permitted by|conflicts? with)\b[^.!?\n]{0,30}"
        r"\b(?:polic|guideline|principle|safety|terms of)"
    ),
    (
        r"\b(?:i|we)(?:'ll|'m)? ?(?:have to|must|need to|am going to|going to|will)?(?: \w+)?"
        r" (?:decline|refuse)\b"
    ),
    r"\b(?:i|we)(?:'d| would)? (?:prefer|rather|choose|opt) not to\b",
    (
        r"\bmy (?:guidelines|polic(?:y|ies)|principles|programming|safety|values|instructions)\b"
        r"[^.!?\n]{0,40}\b(?:prevent|prohibit|forbid|preclude|(?:do not|don't) (?:allow|permit))"
    ),
    (
        r"\bi decline\b|\bi refuse\b|\bi must (?:respectfully )?(?:decline|refuse)\b"
        r"|\b(?:respectfully|politely) decline\b"
    ),
    (
        r"\b(?:not|nothing) (?:something|a request|a task|here|there)?\s?(?:that )?i(?: am|'m)? "
        r"(?:can |could |able to |willing to )(?:help|assist|do|evaluate|grade|score|judge|rate"
        r"|assess)"
    ),
)

_OTHERS = (
    (
        r"no (?:puedo|podemos|me es posible)|no (?:estoy|soy) (?:capaz|en condiciones)"
        r"|debo (?:rechazar|declinar)|lo siento,? (?:pero )?no"
    ),
    (
        r"je ne (?:peux|suis|puis) pas|je ne peux|je suis (?:désolée?|incapable)|je dois (?:refuser"
        r"|décliner)|désolée?[^.!?\n]{0,40}ne p(?:eux|uis)|il m'est impossible"
    ),
    (
        r"ich kann (?:\w+ ){0,6}nicht|kann ich (?:\w+ ){0,6}nicht|tut mir leid|ich (?:darf|möchte)"
        r" (?:\w+ ){0,6}nicht|ich bin nicht in der lage|ich muss (?:\w+ ){0,3}ablehnen"
        r"|leider kann ich"
    ),
    r"não (?:posso|consigo|podemos|sou capaz)|desculpe,? (?:mas )?não|devo recusar",
    r"non (?:posso|sono in grado|mi è possibile)|mi dispiace,? (?:ma )?non|devo rifiutare",
    r"ik kan (?:\w+ ){0,6}niet|het spijt me|kan ik (?:\w+ ){0,4}niet|ik ben niet in staat",
    r"nie mogę|nie jestem w stanie|przykro mi|niestety nie",
    (
        r"не могу|не в состоянии|не имею возможности|вынужден\w* отказ|извините,? (?:но )?я? ?не"
        r"|к сожалению,? я? ?не|не буду"
    ),
    r"не можу|на жаль,? я? ?не",
    r"üzgünüm|yard\u0131mc\u0131 olamam|yapamam|yerine getiremem|veremem|değerlendiremem",
    (
        r"jag kan (?:\w+ ){0,4}(?:inte|ej)|jag kan tyvärr|jeg kan (?:\w+ ){0,4}ikke|jeg kan ikke"
        r"|en voi|valitettavasti en|beklager,? men|tyvärr kan jag"
    ),
    r"nemohu|nemůžu|je mi líto|sajnálom|nem tudok|nu pot|îmi pare rău|δεν μπορώ|λυπάμαι",
    r"tidak (?:dapat|bisa)|maaf,? (?:saya|tetapi|tapi|aku)|không thể|xin lỗi|ไม่สามารถ|ขออภัย",
    r"لا (?:أستطيع|يمكنني|أقدر)|لا استطيع|آسف|عذر[اًا]|אינני יכול|לא יכול|מצטער",
    r"मैं .{0,60}(?:नहीं कर सकत|असमर्थ)|क्षमा करें|माफ़ कीजिए|माफ कीजिए|দুঃখিত",
    (
        r"无法(?:提供|协助|帮助|评|对|完成|满足|回答|处理|为|给|继续|执行|进行|打分)|不能(?:提供|协助|帮助|评|对|完成|满足|回答|处理|为|给)|抱歉"
        r"|对不起|拒绝(?:评|回答|提供)|無法(?:提供|協助|幫助|評|對|完成|滿足|回答|處理|為|給)|不能(?:協助|幫助|評)|對不起|恕我"
    ),
    r"申し訳|できません|できかねます|お応えでき|お答えでき|お手伝いでき|いたしかねます|お断り",
    r"죄송|할 수 없|드릴 수 없|도와드릴 수|불가능합니다|거절",
)

_REFUSES = re.compile("|".join(f"(?:{pattern})" for pattern in (*_ENGLISH, *_OTHERS)))

# A judge that asks for something ("no response was provided") has not refused: the prompt lacks it.
_ASKS = re.compile(
    r"\b(?:please|could you|can you|would you)\b[^.!?\n]{0,40}\b(?:provide|share|paste|send|supply"
    r"|include|clarify|specify)|\bno (?:response|text|answer|output|content|candidate)\b"
    r"|\b(?:not|n't|without)\b[^.!?\n]{0,40}\b(?:provided|included|attached|see the"
    r"|been given|see any)"
    r"|\b(?:is|are|was|were|seems?|appears?) (?:to be )?(?:missing|empty|blank|cut off|incomplete)"
    r"|without (?:the|a|any|more|seeing|knowing|access)|\b(?:more|additional"
    r"|further) (?:context|information)"
    r"|\bneed (?:the|to see|more)|follow (?:the|that|this|any|those|these) instruction"
)

# Judges quote refusals of the output they grade.
_QUOTED = re.compile(
    r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|„[^“”\n]{1,2000}[“”]|«[^»\n]{1,2000}»|「[^」\n]{1,2000}」"
    r"|\u2018[^\u2019\n]{1,2000}\u2019(?!\w)|(?<!\w)'[^'\n]{4,2000}'(?!\w)|`[^`\n]{1,2000}`"
)
_CURLY = str.maketrans("\u2019\u2018\u02bc\uff07\u00b4", "'''''")

# What filters of providers and gateways put in the place of a reply, as its whole text.
_BLOCKED = re.compile(
    r"[\W_]*(?:the |this |your )?(?:(?:content|response|output|reply|prompt|request|message|answer"
    r"|text|completion|generation)\b[\w ]{0,20})?\b(?:blocked|filtered|censored|redacted|withheld"
    r"|moderated|removed|suppressed)\b[^\n]{0,100}"
)

# How far into a sentence a refusal may begin: "The text is harmful, so I will not grade it".
_OPENING = 30

# A refusal is short or comes first, and the patterns above are slow on long texts.
_LOOKED_AT = 4000


def is_judge_refusal(prose: str) -> bool:
    """Whether a text declines to judge; what it quotes does not count."""
    folded = _folded(prose)
    if _BLOCKED.fullmatch(folded.strip()):
        return True
    return _REFUSES.search(folded) is not None and _ASKS.search(folded) is None


def opens_with_refusal(sentence: str) -> bool:
    """Whether a sentence declines to judge; one that reports a refusal begins otherwise."""
    match = _REFUSES.search(_folded(sentence))
    return match is not None and match.start() <= _OPENING


def _folded(prose: str) -> str:
    text = _QUOTED.sub(" ", prose[:_LOOKED_AT])
    return unicodedata.normalize("NFC", text).translate(_CURLY).casefold()
