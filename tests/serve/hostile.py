"""Posts and queries that try to run something, leak something or stop the server."""

from __future__ import annotations

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Markup, Post

MACRO_BOMB = (
    r"\def\a{x}" + "".join(rf"\def\{chr(98 + n)}{{\{chr(97 + n)}\{chr(97 + n)}}}" for n in range(24)) + r"\y"
)

HTML = {
    "script": "<p>a<script>alert(1)</script>b</p>",
    "script in capitals": "<SCRIPT SRC=//evil.example/x.js></SCRIPT>text",
    "script split by nul": "<scr\0ipt>alert(1)</scr\0ipt>text",
    "nested script": "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "event handler": '<p onclick="alert(1)" onmouseover=alert(1)>text</p>',
    "image error": "<img src=x onerror=alert(1)>text",
    "image with slashes": '<img/src="x"/onerror="alert(1)">text',
    "svg load": "<svg onload=alert(1)><circle/></svg>text",
    "svg animation": '<svg><a><animate attributeName=href values="javascript:alert(1)"/>x</a></svg>',
    "body load": "<body onload=alert(1)>text",
    "details toggle": "<details open ontoggle=alert(1)>text</details>",
    "javascript link": '<a href="javascript:alert(1)">text</a>',
    "javascript link in entities": '<a href="&#106;&#97;vascript&colon;alert(1)">text</a>',
    "javascript link with whitespace": '<a href=" java\n\tscript:alert(1)">text</a>',
    "javascript link after control": '<a href="\x01javascript:alert(1)">text</a>',
    "data link": '<a href="data:text/html,<script>alert(1)</script>">text</a>',
    "vbscript link": '<a href="VbScript:alert(1)">text</a>',
    "blob link": '<a href="blob:https://evil.example/1">text</a>',
    "relative link": '<a href="/v1/posts/1">text</a><a href="//evil.example">text</a>',
    "quote in link": '<a href="https://a.example/&quot; onclick=alert(1) x=&quot;">text</a>',
    "style attribute": '<p style="background:url(javascript:alert(1));position:fixed">text</p>',
    "style element": "<style>@import 'https://evil.example/x.css'; p{display:none}</style>text",
    "link element": '<link rel=stylesheet href="https://evil.example/x.css">text',
    "meta refresh": '<meta http-equiv=refresh content="0;url=https://evil.example">text',
    "base": '<base href="https://evil.example/">text',
    "iframe": '<iframe srcdoc="<script>alert(1)</script>"></iframe>text',
    "object": '<object data="javascript:alert(1)"></object><embed src="javascript:alert(1)">text',
    "form": '<form action="https://evil.example"><input name=q><button formaction="javascript:alert(1)">go</button></form>',
    "clobbering": "<a id=document name=location>text</a><img name=body><form id=x><input id=y></form>",
    "class of the page": '<div class="dialog" id="results" data-formula="x" role="alert">text</div>',
    "template": "<template><script>alert(1)</script></template>text",
    "noscript mutation": '<noscript><p title="</noscript><img src=x onerror=alert(1)>">text',
    "math mutation": '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    "svg style mutation": '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
    "comment mutation": "<!--><img src=x onerror=alert(1)>--><!-- --!><img src=x onerror=alert(1)>text",
    "textarea mutation": '<textarea><p title="</textarea><img src=x onerror=alert(1)>">text',
    "xmp mutation": '<xmp><p title="</xmp><img src=x onerror=alert(1)>">text',
    "title mutation": '<title><p title="</title><img src=x onerror=alert(1)>">text',
    "cdata": "<![CDATA[<script>alert(1)</script>]]>text",
    "processing": "<?php echo 1 ?><?xml-stylesheet href='javascript:alert(1)'?>text",
    "doctype": '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>&x;text',
    "closing everything": "</p></div></span></main></body></html><h1>text</h1>",
    "unclosed": '<p><b><i><a href="https://a.example',
    "maths in attributes": '<a title="$x$" href="https://a.example/$y$">$z$</a>',
    "formula around tags": "<p>$a <script>alert(1)</script> b$ <b>$c</b>$</p>",
    "mathml with handlers": '<math><mi onclick="alert(1)" href="javascript:alert(1)">x</mi><script>alert(1)</script></math>',
    "mathml action": '<math><maction actiontype="statusline" xlink:href="javascript:alert(1)"><mi>x</mi></maction></math>',
    "mathml annotation": '<math><semantics><mi>x</mi><annotation-xml encoding="text/html"><img src=x onerror=alert(1)></annotation-xml></semantics></math>',
    "places of formulas": "\ufdd00\ufdd0\ufdd099999999999\ufdd0 $x$",
    "direction": "text \u202e\u2066 reversed \u2069",
    "deep": "<div><b>" * 3000 + "text",
    "many entities": "&lt;script&gt;alert(1)&lt;/script&gt;" * 50,
}
LATEX = {
    "href": r"$\href{javascript:alert(1)}{x}$",
    "class and style": r'$\class{" onclick="alert(1)}{x} \style{background:url(//evil.example)}{y} \cssId{results}{z}$',
    "html in text": r"$\text{<img src=x onerror=alert(1)>} \mathrm{<script>alert(1)</script>}$",
    "quotes": r"""$"'><script>alert(1)</script>$""",
    "unicode": r"$\unicode{60}script\unicode{62} \require{html} \htmlData{onclick=alert(1)}{x}$",
    "include": r"$\input{/etc/passwd} \includegraphics{javascript:alert(1)} \write18{id}$",
    "macro bomb": f"${MACRO_BOMB}$",
    "endless macro": r"$\def\a{\a\a}\a$",
    "giant": "$" + "x+" * 10_000 + "x$",
    "deep": "$" + "{" * 2000 + "x" + "}" * 2000 + r"$ $" + r"\sqrt{" * 500 + "x" + "}" * 500 + "$",
    "deep fractions": "$" + r"\frac{1}{" * 300 + "x" + "}" * 300 + "$",
    "wide matrix": r"$\begin{matrix}" + "&" * 3000 + r"\end{matrix}$",
    "giant space": r"$\hspace{99999cm}\kern99999pt\rule{999cm}{999cm}x$",
}
IDS = [
    "../../etc/passwd",
    "..",
    ".",
    "a/b/c",
    "/",
    "//evil",
    "a b",
    "%2e%2e",
    "c:\\x",
    "'; DROP TABLE posts; --",
    "é\u202e",
    "x" * 500,
]


def _post(id: str, body: str, markup: Markup, title: str) -> Post:
    body = body.replace("\0", "\ufffd").replace("\x01", "\ufffd")
    return Post(id, "note", body, title, markup, formulas=formulas_of(id, title, body, markup))


INDEXED = (
    "script", "event handler", "image error", "javascript link", "clobbering", "math mutation", "comment mutation",
    "closing everything", "maths in attributes", "formula around tags", "mathml with handlers", "places of formulas", "href",
    "class and style", "html in text", "quotes", "macro bomb", "endless macro",
)  # fmt: skip
"""Those of them that are also indexed: each kind once."""


def hostile_posts() -> list[Post]:
    """Some of them as posts."""
    posts = [_post(f"html/{name}", body, "html", name) for name, body in HTML.items() if name in INDEXED]
    return posts + [
        _post(f"latex/{name}", body, "text", f"{name} <script>alert(1)</script>")
        for name, body in LATEX.items()
        if name in INDEXED
    ]
