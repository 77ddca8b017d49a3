"""HTML from values: everything that is not markup of this program goes through `text`."""

import html
import json


def text(value):
    """Escaped, also for attributes."""
    return html.escape(str(value), quote=True)


def tag(name, content="", **attributes):
    """An element; `content` is HTML already. A trailing underscore lets an attribute be called `class` or `for`."""
    own = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    return f"<{name}{own}>{content}</{name}>"


def _attribute(key, value):
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(value)}"'


def table(head, rows, caption, row_heads=1):
    """A table whose cells are plain values."""
    header = tag("tr", "".join(tag("th", text(cell), scope="col") for cell in head))
    body = []
    for row in rows:
        cells = [tag("th", text(cell), scope="row") for cell in row[:row_heads]]
        cells += [tag("td", text(cell)) for cell in row[row_heads:]]
        body.append(tag("tr", "".join(cells)))
    content = tag("caption", text(caption)) + tag("thead", header) + tag("tbody", "".join(body))
    # Wide tables scroll by themselves, the page does not; what scrolls can be reached by keyboard.
    return tag("div", tag("table", content), class_="scroll", tabindex="0", role="region", aria_label=caption)


def details(summary, content, open_=False):
    return tag("details", tag("summary", text(summary)) + content, open=open_)


def compact(document):
    """JSON without spaces."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def data(identifier, document):
    """A JSON document for the page's script. No character of it can end the element."""
    encoded = compact(document)
    encoded = encoded.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    encoded = encoded.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'<script type="application/json" id="{identifier}">{encoded}</script>'
