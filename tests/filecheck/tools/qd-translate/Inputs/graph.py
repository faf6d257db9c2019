"""Compares the graphs of a page of plans with the plans: `graph.py PAGE PLANS`."""

import html.parser
import json
import sys


class Page(html.parser.HTMLParser):
    """Boxes, the box around each, lines between boxes, and what a page loads."""

    VOID = {"meta", "rect", "path"}

    def __init__(self):
        super().__init__()
        self.open, self.boxes, self.rows = [], {}, set()
        self.lines, self.loaded = [], []

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.loaded += [of[name] for name in ("src", "href") if not of.get(name, "#").startswith("#")]
        if "data-step" in of:
            around = [step for _, step in self.open if step]
            assert of["data-step"] not in self.boxes, "a box twice"
            self.boxes[of["data-step"]] = around[-1] if around else None
        if "data-from" in of:
            self.lines.append((of["data-to"], of["data-from"]))
        if tag == "details" and "id" in of:
            self.rows.add(of["id"])
        if tag not in self.VOID or tag == "path":
            self.open.append((tag, of.get("data-step")))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID or tag == "path":
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        while self.open and self.open[-1][0] != tag:
            left = self.open.pop()[0]
            assert left in {"html", "li", "p"}, f"<{left}> is not closed before </{tag}>"
        assert self.open, f"</{tag}> closes nothing"
        self.open.pop()


def steps(of, around, prefix):
    for step in of:
        (kind,) = step["kind"]
        yield step, around, f"{prefix}-{step['id']}"
        yield from steps(step["kind"][kind].get("steps", []), f"{prefix}-{step['id']}", prefix)


page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
plans = json.load(open(sys.argv[2], encoding="utf-8"))
boxes, lines = {}, []
for kernel in plans["kernels"]:
    for target, plan in zip(plans["targets"], kernel["plans"]):
        prefix = f"{kernel['name']}-{target}"
        for step, around, name in steps(plan["steps"], None, prefix):
            boxes[name] = around
            lines += [(name, f"{prefix}-{earlier}") for earlier in step["after"]]
assert page.boxes == boxes, (page.boxes, boxes)
assert page.rows == set(boxes), "a row for each box"
assert sorted(page.lines) == sorted(lines), (page.lines, lines)
assert not page.loaded, page.loaded
print(f"{len(boxes)} boxes, {len(lines)} lines, nothing loaded")
