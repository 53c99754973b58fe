"""Recognises what follows a verdict in a reply: courtesies, and names of an explanation.

These lists only let a reply pass. What is on none of them costs another request, and never a
wrong score, so that they need not be complete in any language.
"""

from __future__ import annotations

import re
from typing import NamedTuple

DECORATION = " \t\r\n*_`#>|~-+\u2022\u00b7\"'\u201c\u201d\u201e\u2018\u2019\ufeff\u200b\x00"
"""What may surround the words of a line without meaning anything."""

STOPS = ".!?\u3002\uff01\uff1f"
"""What ends a sentence."""

SENTENCE_END = re.compile(rf"(?<=[{STOPS}])\s+|(?<=[\u3002\uff01\uff1f])|\n")

# The names under which judges explain a verdict, alone or as in "Brief explanation of the score".
_EXPLAINS = (
    r"rationale|reasoning|reasons?|explanations?|justifications?|feedback|comments?|analysis"
    r"|summary|evidence|notes?|begründung|erklärung|erläuterung|anmerkung|hinweis|explication"
    r"|raisonnement|remarque|explicación|justificación|razonamiento|nota|explicação|justificativa"
    r"|spiegazione|motivazione|toelichting|uitleg|uzasadnienie|wyjaśnienie|motivering|förklaring"
    r"|begrundelse|perustelu|aç\u0131klama|gerekçe|обоснование|пояснение|объяснение|комментарий"
    r"|обґрунтування|解释|解釋|理由|说明|說明|評価理由|説明|根拠|이유|설명|근거"
    r"|التفسير|السبب|penjelasan|alasan|giải thích|lý do"
)
_LABEL = re.compile(
    rf"(?:(?:(?:here(?:'s| is| are)|the|my|a|brief|short|detailed|additional) ){{0,4}})"
    rf"(?P<key>{_EXPLAINS})(?: (?:of|for|behind) (?:(?:the|this|my|each|these) )?\w{{1,20}})?"
    r"[*_` ]{0,4}(?:[:\uff1a][*_` ]{0,4}(?P<text>.*)|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NOTES = ("note", "nota", "hinweis", "anmerkung", "remarque", "comment")
# A courtesy with which an answer ends. What is none of these is not taken for one, so that an
# unknown closing costs another request, and never a wrong score.
_COURTESY = re.compile(
    r"(?:please |and )?(?:let me know|feel free|(?:do not|don't) hesitate|just ask)\b"
    r"|(?:i )?(?:hope|trust) (?:this|that|it|my|these)\b.{0,40}\b(?:help|useful|clear|meet|assist"
    r"|answer)"
    r"|(?:i am|i'm|i'd be|i would be|i will be|always|happy|glad)\b.{0,20}"
    r"\b(?:happy|glad|help|here|elaborate|clarify|assist)\b"
    r"|if (?:you (?:have|need|want|would|'d)|there (?:is|are))\b"
    r"|i(?:'ve| have) (?:provided|evaluated|assessed|graded|reviewed|rated|scored)\b"
    r"|(?:the )?(?:json|object|evaluation|verdict) above (?:contains|gives|states|is) my\b"
    r"|(?:is there|do you|would you like|shall i|should i|want me)\b.{0,120}\?\Z"
    r"|thank(?:s| you)\b|(?:best|kind) regards|good luck|have a (?:great|good|nice)"
    r"|(?:that|this)(?:'s| is) all\b|done\b|end of\b|(?:all )?(?:grading|evaluation|assessment) "
    r"(?:is )?(?:complete|done|finished)"
    r"|(?:this|that|the above) (?:concludes|completes|is) (?:my|the) (?:final |complete |full )?"
    r"(?:evaluation|assessment|grading|judge?ment|verdict|review|json|rating|score)\b"
    r"|(?:this|the|my) (?:score|rating|grade|evaluation|assessment|judge?ment|verdict)s? "
    r"(?:reflects?|(?:is|are|was|were) (?:based on|given because|due to))\b"
    r"|ich hoffe\b|lassen sie mich wissen|lass(?:t)? (?:es )?mich wissen|melden sie sich"
    r"|bei (?:weiteren )?(?:rück)?fragen|gerne? (?:helfe|erläutere|stehe)"
    r"|sag(?:en sie)? (?:mir )?bescheid"
    r"|wenn (?:sie|du) .{0,60}(?:fragen|brauch|benötig|wünsch|möcht)|vielen dank|viel erfolg"
    r"|j'espère\b|n'hésitez\b|faites-moi savoir|dites-moi\b|je reste à votre disposition|merci\b"
    r"|espero que\b|no (?:dudes?|duden) en|avísame|háganmelo saber|házmelo saber|si necesitas?\b"
    r"|gracias\b"
    r"|se precisar|fico à disposição|me avise|avise-me|qualquer dúvida|obrigad[oa]\b"
    r"|spero che\b|fammi sapere|mi faccia sapere|resto a disposizione|se hai bisogno|grazie\b"
    r"|ik hoop\b|laat (?:het )?(?:me|mij) (?:het )?weten|bedankt\b"
    r"|mam nadzieję|daj (?:mi )?znać|proszę dać znać|dziękuję\b|w razie pytań"
    r"|jag hoppas|hör av dig|säg (?:gärna )?till|jeg håber|jeg håper|gi meg beskjed|toivottavasti"
    r"|umar\u0131m|lütfen .{0,40}bildirin|yard\u0131mc\u0131 olabilirim"
    r"|надеюсь|дайте (?:мне )?знать"
    r"|если (?:\u0443 вас|вам) "
    r"|обращайтесь|буду рад|сподіваюся|дайте знати|saya harap|semoga\b|beri tahu saya|silakan\b"
    r"|hy vọng|hãy cho tôi biết|nếu bạn cần|xin cảm ơn|希望|如果(?:您|你)|如(?:需|有)|如您"
    r"|请告诉我|請告訴我|欢迎|感谢"
    r"|ご不明|お役に立|何か(?:ご質問|他に)|ご確認|よろしくお願い|以上です|以上$|도움이|궁금|추가로|감사합니다|언제든"
    r"|آمل|إذا كنت|أرجو|मुझे बताएं|आशा है|यदि आपको",
    re.IGNORECASE,
)
_LONGEST_COURTESY = 200

# In a courtesy or a note these words contradict what stands before it.
_CONTRADICTS = re.compile(
    r"\b(?:not|never|no|nothing|but|however|though|although|instead|rather|only|merely|just an?"
    r"|wrong|aber|nicht|nur|mais|seulement|pero|sólo|solo|mas|apenas|ma|maar|alleen|ale|tylko|но|не"
    r"|только)\b|n['\u2019]t\b|但|不|只|しかし|ただ|하지만|아니",
    re.IGNORECASE,
)


class NamedExplanation(NamedTuple):
    """The name of an explanation, as in `Brief explanation of the score: …`."""

    text: str
    # Whether a note contradicts what it stands beside; an explanation may weigh for and against.
    contradicts: bool


def split_label(line: str) -> NamedExplanation | None:
    """A line that names itself an explanation; its text is empty if it is a heading."""
    match = _LABEL.fullmatch(line)
    if match is None:
        return None
    text = (match["text"] or "").strip(DECORATION)
    is_note = match["key"].casefold().startswith(_NOTES)
    return NamedExplanation(text, is_note and _CONTRADICTS.search(text) is not None)


def is_courtesy(bare: str) -> bool:
    """Whether a line consists of courtesies."""
    sentences = [part.strip(DECORATION) for part in SENTENCE_END.split(bare)]
    return all(_is_courteous(sentence) for sentence in sentences if sentence)


def _is_courteous(sentence: str) -> bool:
    if not any(map(str.isalnum, sentence)):
        return True
    text = sentence.replace("\u2019", "'")
    match = _COURTESY.match(text)
    # A question states nothing, in whatever language it offers more.
    is_question = text[-1:] in {"?", "\uff1f"}
    if match is None and not is_question:
        return False
    if len(text) > _LONGEST_COURTESY or any(map(str.isdigit, text)):
        return False
    return _CONTRADICTS.search(text, 0 if match is None else match.end()) is None
