"""Checks a page of lra-report html: nesting, ids, links, headings, tables, figures, data; no script, no other file."""

import json
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input", "col", "wbr", "path", "rect", "circle", "use", "polygon", "image"}
ALLOWED = set(
    "html head meta title style body a header p h1 h2 h3 dl div dt dd nav ol ul li main section table caption thead tbody tr th "
    "td figure figcaption svg desc g defs path polygon polyline line rect use circle ellipse image text tspan details summary "
    "code b footer script".split()
)


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.targets, self.labels, self.faults = [], [], [], [], []
        self.count, self.text, self.data, self.levels = {}, {}, "", []

    def fault(self, text):
        self.faults.append(f"line {self.getpos()[0]}: {text}")

    def start(self, tag, attributes):
        a = dict(attributes)
        if len(a) != len(attributes):
            self.fault(f"<{tag}> has an attribute twice")
        if tag not in ALLOWED:
            self.fault(f"element <{tag}>")
        self.count[tag] = self.count.get(tag, 0) + 1
        for key, value in a.items():
            if key.startswith("on"):
                self.fault(f"<{tag} {key}>")
            if key in ("src", "srcset", "data", "action", "formaction", "poster", "background"):
                self.fault(f"<{tag} {key}={value}>")
            if key in ("href", "xlink:href") and not (value or "").startswith(("#", "data:image/png;base64,")):
                self.fault(f"<{tag} {key}={value}>")
            if key in ("href", "xlink:href") and (value or "").startswith("#"):
                self.targets.append(value[1:])
            if key in ("aria-labelledby", "aria-describedby"):
                self.labels += value.split()
        if "id" in a:
            self.ids.append(a["id"])
        if tag == "th" and a.get("scope") not in ("col", "row"):
            self.fault("<th> without scope")
        if tag == "svg" and not (a.get("role") == "img" and a.get("aria-labelledby") and a.get("viewbox")):
            self.fault("<svg> without a name or a viewBox")
        if tag == "script" and a.get("type") != "application/json":
            self.fault("a script")
        if tag in ("h1", "h2", "h3"):
            self.levels.append(int(tag[1]))

    def handle_starttag(self, tag, attributes):
        self.start(tag, attributes)
        if tag not in VOID or tag in ("path", "rect", "circle", "use", "polygon", "image"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.start(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.fault(f"</{tag}> closes another element")

    def handle_data(self, data):
        where = self.open[-1] if self.open else ""
        if where == "script":
            self.data += data
        elif where == "style" and re.search(r"url\(|@import|expression", data):
            self.fault("the style names another file")
        self.text[where] = self.text.get(where, "") + data


def check(path):
    raw = open(path, "rb").read()
    text = raw.decode("utf-8")
    page = Page()
    page.feed(text)
    page.close()
    faults = page.faults
    if page.open:
        faults.append(f"never closed: {page.open}")
    if not text.startswith("<!DOCTYPE html>\n<html lang="):
        faults.append("no doctype or language")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text):
        faults.append("a control character")
    for tag, n in (("h1", 1), ("main", 1), ("title", None), ("header", 1), ("nav", 1), ("footer", 1), ("script", 1)):
        if page.count.get(tag, 0) < 1 or (n and page.count[tag] != n):
            faults.append(f"{page.count.get(tag, 0)} elements <{tag}>")
    double = {i for i in page.ids if page.ids.count(i) > 1} if len(page.ids) != len(set(page.ids)) else set()
    if double:
        faults.append(f"ids twice: {sorted(double)[:5]}")
    lost = (set(page.targets) | set(page.labels)) - set(page.ids)
    if lost:
        faults.append(f"links to nothing: {sorted(lost)[:5]}")
    for before, after in zip(page.levels, page.levels[1:]):
        if after > before + 1:
            faults.append(f"a heading of level {after} follows level {before}")
    if page.count.get("figcaption", 0) != page.count.get("figure", 0) or page.count.get("caption", 0) != page.count.get("table", 0):
        faults.append("a figure or a table without caption")
    document = json.loads(page.data)
    kinds = [k for item in document["items"] for k in item if k != "content"]
    if kinds.count("table") != page.count.get("table", 0) or kinds.count("figure") != page.count.get("figure", 0):
        faults.append(f"the data have {kinds.count('table')} tables and {kinds.count('figure')} figures")
    for item in document["items"]:
        if not set(item) & set(page.ids) and item.get("table", item.get("figure")) not in page.ids:
            faults.append(f"data of an element that the page lacks: {sorted(item)}")
    return faults, page


if __name__ == "__main__":
    bad = 0
    for name in sys.argv[1:]:
        for fault in check(name)[0][:12]:
            print(f"{name}: {fault}")
            bad = 1
    sys.exit(bad)
