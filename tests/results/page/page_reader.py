"""A page of `dse report` as a test reads it: well-formed, loads nothing, its marks, tables and data."""
import base64
import json
import re
import struct
from html.parser import HTMLParser

VOID = {"meta", "br", "input", "link", "img", "hr", "base", "source", "embed"}
# What SVG draws with and the page writes closed: <rect .../> is a start and an end at once to html.parser.
LOADS = {"src", "srcset", "href", "xlink:href", "data", "action", "formaction", "poster", "background", "cite", "manifest", "ping", "style"}
LOADERS = {"link", "img", "iframe", "frame", "object", "embed", "base", "audio", "video", "source", "track", "form", "use", "image",
           "foreignobject", "animate", "set", "template", "noscript"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children, self.texts = tag, dict(attributes), parent, [], []

    def classes(self):
        return (self.attributes.get("class") or "").split()

    def all(self, tag=None, name=None):
        """The nodes below with that tag and that class, in order."""
        for child in self.children:
            if (tag is None or child.tag == tag) and (name is None or name in child.classes()):
                yield child
            yield from child.all(tag, name)

    def text(self):
        """All text within, in order."""
        return "".join(part if isinstance(part, str) else part.text() for part in self.texts)


class Page(HTMLParser):
    """`problems` has what is not well-formed, or would load or run something from elsewhere."""

    def __init__(self, data):
        super().__init__(convert_charrefs=True)
        self.problems, self.ids = [], []
        self.root = self.at = Node("root", (), None)
        self.size = len(data)
        source = data.decode("utf-8")  # an error: not UTF-8
        self.feed(source)
        self.close()
        if self.at is not self.root:
            self.problems.append(f"<{self.at.tag}> is not closed")
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", source):
            self.problems.append("control characters")
        self.problems += [f"#{link} is nowhere" for link in self.links() if link not in self.ids]
        self.problems += [f"id {name} is there twice" for name in {name for name in self.ids if self.ids.count(name) > 1}]
        for style in self.root.all("style"):
            if re.search(r"@import|url\s*\(|expression|@font-face", style.text()):
                self.problems.append("the style loads something")
        for script in self.root.all("script"):
            if re.search(r"\bfetch\b|XMLHttpRequest|import\s*\(|WebSocket|EventSource|sendBeacon|new Image|innerHTML|\beval\b|https?:(?!//www\.w3\.org/2000/svg)",
                         script.text()) and script.attributes.get("type") is None:
                self.problems.append("the script loads something, or makes code or elements of texts")

    def links(self):
        return [node.attributes["href"][1:] for node in self.root.all("a")]

    def handle_starttag(self, tag, attrs, closed=False):
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.problems.append(f"<{tag}> has an attribute twice: {attrs}")
        for name, value in attrs:
            if name in LOADS and not (tag == "a" and value.startswith("#")):
                self.problems.append(f"<{tag} {name}={value!r}> loads something")
            if name.startswith("on"):
                self.problems.append(f"<{tag} {name}> runs something")
            if name == "id":
                self.ids.append(value)
        if tag in LOADERS:
            self.problems.append(f"<{tag}>")
        node = Node(tag, attrs, self.at)
        self.at.children.append(node)
        self.at.texts.append(node)
        if not closed and tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs, closed=True)

    def handle_endtag(self, tag):
        if tag != self.at.tag:
            self.problems.append(f"</{tag}> ends <{self.at.tag}>")
            return
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.texts.append(data)

    def handle_comment(self, data):
        self.problems.append(f"a comment: {data!r}")

    def handle_pi(self, data):
        self.problems.append(f"a processing instruction: {data!r}")

    # ---- what the page shows

    def one(self, name):
        """The element of that id."""
        found = [node for node in self.root.all() if node.attributes.get("id") == name]
        return found[0] if found else None

    def data(self):
        """What the script draws from, values decoded; or None."""
        node = self.one("data")
        if node is None:
            return None
        data = json.loads(node.text())
        data["value"] = [struct.unpack(f"<{len(raw) // 8}d", raw) for raw in map(base64.b64decode, data["value"])]
        return data

    def metrics(self):
        return [option.attributes["value"] for option in self.one("metric").children]

    def marks(self):
        """(panel, x, y, classes, title) of each point of the map."""
        data, found = self.data(), []
        for panel, figure in enumerate(self.one("map").all("figure", "panel")):
            for mark in figure.all("rect", "m"):
                x = (int(mark.attributes["x"]) - data["box"][0]) // data["box"][2]
                y = (int(mark.attributes["y"]) - data["box"][1]) // data["box"][3]
                found.append((panel, x, len(data["y"]) - 1 - y, mark.classes()[1:], mark.text()))
        return found

    def rows(self, section):
        """The rows of cells of all tables of a section."""
        return [[cell.text() for cell in row.all("td")] for row in self.one(section).all("tr") if list(row.all("td"))]
