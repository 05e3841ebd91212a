# SPDX-License-Identifier: GPL-2.0
"""Helpers of the pages' tests: the outline of a page, and a browser that lays the page out."""

import json
import re
import subprocess
from html import unescape
from html.parser import HTMLParser

from lab.pace import patience

# Least width of a character of a picture's label, and its extent above and below the line.
CHARACTER, ABOVE, BELOW = 6, 8, 2
VOID = {"meta", "br", "hr", "img", "link"}


class Outline(HTMLParser):
    """Tags, their attributes, and whether each tag is closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def stands_alone(text):
    """Return whether a page needs no script, no other file and no network."""
    outline = Outline(text)
    return not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in outline.tags} and \
        not any(name in ("src", "href") or name.startswith("on") for _, attrs in outline.tags for name in attrs) and \
        not any(word in text for word in ("url(", "@import", "http"))


def labels(drawing):
    """Yield (words, left, top, right, bottom) of each label of a picture, estimated."""
    for x, y, anchor, words in re.findall(
            r'<text x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)"[^>]*>(.*?)</text>', drawing):
        width = CHARACTER * len(unescape(words))
        left = float(x) - {"start": 0, "middle": width / 2, "end": width}[anchor]
        yield unescape(words), left, float(y) - ABOVE, left + width, float(y) + BELOW


def check_labels(drawing):
    """Assert that every label lies inside the picture, and meets no other label and no axis."""
    _, _, width, height = map(float, re.search(r'viewBox="([^"]*)"', drawing)[1].split())
    found = list(labels(drawing))
    axes = [tuple(map(float, ends)) for ends in re.findall(
        r'<line x1="([\d.-]+)" y1="([\d.-]+)" x2="([\d.-]+)" y2="([\d.-]+)" class="axis"', drawing)]
    for number, (words, left, top, right, bottom) in enumerate(found):
        assert 0 <= left and right <= width and 0 <= top and bottom <= height, words
        for other, its_left, its_top, its_right, its_bottom in found[:number]:
            assert right <= its_left or its_right <= left or bottom <= its_top or its_bottom <= top, (words, other)
        for x1, y1, x2, y2 in axes:
            assert right <= x1 or x2 <= left or bottom <= y1 or y2 <= top, f"the axis goes through {words}"


# A script that puts its results into the title of the page that holds the frame.
PROBE = """<script>onload = () => {
const page = document.getElementById('f').contentDocument, e = page.documentElement;
const sum = colour => colour.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0);
const style = getComputedStyle(page.body);
const cards = [...page.querySelectorAll('td')].filter(td => getComputedStyle(td).display == 'flex');
const unnamed = cards.filter(td => ['none', '""'].includes(getComputedStyle(td, '::before').content));
document.title = JSON.stringify({scroll: e.scrollWidth, client: e.clientWidth,
                                 paper: sum(style.backgroundColor), ink: sum(style.color), cards: cards.length,
                                 unnamed: unnamed.map(td => td.textContent)}); }
</script>"""


def check_layout(text, folder, width, scheme="light"):
    """Assert that a browser shows the page in a window of that width without sideways scrolling, light or dark as asked.

    In a narrow window the rows of tables are cards, in which each value stands beside its name.
    """
    found = layout(text, folder, width, scheme)
    assert 0 < found["client"] <= width
    assert found["scroll"] <= found["client"]
    assert (found["paper"] > found["ink"]) == (scheme == "light")
    assert found["unnamed"] == [] and (found["cards"] > 0) == (width < 1000)


def layout(text, folder, width, scheme="light"):
    """Lay a page out in a window of that width; return {"scroll", "client": widths, "paper", "ink": brightness,
    "cards": number of values in cards, "unnamed": the values in cards that have no name beside them}.

    Brightness is the sum of red, green and blue.
    """
    # The page itself has no script, so the probe is beside the page. A headless browser has a
    # least window width, so the page is in a frame of the wanted width.
    (folder / "page.html").write_text(text)
    (folder / "probe.html").write_text(
        f'<iframe id="f" src="page.html" style="width:{width}px;height:900px;border:0"></iframe>{PROBE}')
    dom = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1600,1000",
         f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}",
         "--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}",
         "--dump-dom", (folder / "probe.html").as_uri()],
        capture_output=True, text=True, timeout=patience(120), check=True).stdout
    return json.loads(unescape(re.search(r"<title>(.*?)</title>", dom)[1]))
