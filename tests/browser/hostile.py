"""Model outputs that try to run, to format, to hide, or to leave their place."""

from __future__ import annotations

HOSTILE = {
    "script": "<script>document.title='owned'</script>",
    "image with handler": "<img src=x onerror=\"document.title='owned'\">",
    "svg": "<svg onload=\"document.title='owned'\"><a href='javascript:alert(1)'>x</a></svg>",
    "remote image": "![x](https://example.com/x.png) <img src='https://example.com/y.png'>",
    "javascript link": "[click](javascript:document.title='owned')",
    "closing tags": "</td></tr></table></bdi></div></main></body>",
    "comment and template": "<!-- --> <template> <noscript> <textarea> <plaintext> <![CDATA[ ?>",
    "fence": "``\n```\n# fake heading\n````\n~~~\n`````",
    "table": "a | b\n--- | ---\n1 \\| 2 | 3",
    "list and quote": "1. one\n- two\n* three\n> four\n    five\n\tsix",
    "emphasis": "**bold** _it_ ~~no~~ ==mark== ^^ins^^ `code` $math$",
    "attributes": "text {: onclick=alert(1) #top .lead } {#top}",
    "entities": "&lt;b&gt; &amp;amp; &#60;i&#62; &nbsp &copy",
    "jinja": "{{ 7 * 7 }} {% include 'x' %} <!-- articles -->",
    "reference": "[a]: https://example.com\n[a] [^1]\n[^1]: note",
    "bidi": "abc \u202e gnp.exe \u2066 x \u2069 \u200f שלום، مرحبا!",
    "invisible": "a\u200bb\u200dc\ufeffd\u00ade\u2060f\u3164g\u180eh\U000e0041\U000e0042",
    "controls": "\x00\x01\x02\x03\x08\x0b\x0c\r\x1b[31mred\x1b[0m\x7f\x85\x9f",
    "placeholders": "\x02wzxhzdk:0\x03 \x02amp\x03 wzxhzdk:0",
    "separators": "line\u2028para\u2029nbsp\u00a0ideo\u3000thin\u2009end",
    "surrogates and noncharacters": "\ud800 \udfff \ufffe \uffff \ufdd0 \U0010ffff",
    "marks": "\u0338\u0301\u0336 z\u0310\u0352\u0489a\u0300\u0301\u0302",
    "emoji": "👩‍👩‍👧‍👦 🇨🇳 👍🏽 ❤️ #️⃣",
    "chinese": "“结论。”所以——《书名》、（括号）；【注】「引」…… 全角！？",
    "spaces": "  leading, two  inside, trailing  \n\n\nblank lines\n",
    "autolinks": "https://example.com www.example.com <mailto:a@b.c> @user :smile: H~2~O",
    "long": "x" * 400 + " " + "字" * 200,
    "setext": "Title\n=====\n\nOther\n-----\n---\ntitle: fake\n---",
}
