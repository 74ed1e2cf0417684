"""How the page looks and sounds: its figures, colours, widths, and what a screen reader says."""

from pathlib import Path

import pytest
from browser import Browser
from page_models import NETWORKS, open_page, packed_file

from fewwords.models.neural.memory import settings_memory


def test_suggestions_are_read_out_once_typing_pauses(keyboard: Browser) -> None:
    spoken = "document.getElementById('spoken')"
    keyboard.wait_for(f"{spoken}.textContent")
    assert keyboard.run(f"return {spoken}.getAttribute('role')") == "status"  # which is polite
    keyboard.run(f"""page.heard = [];
        new MutationObserver((changes) => page.heard.push(...changes.map((each) => each.addedNodes[0].data)))
            .observe({spoken}, {{ childList: true }});
        for (const text of ["T", "Th", "The", "The ", "The l", "The li", "The libr"]) page.setText(text);""")
    keyboard.wait_for("page.heard.length")
    written = keyboard.run("return page.suggestions.map((each) => each.written)")
    assert keyboard.run("return page.heard") == [f"Suggestions: {', '.join(written)}"]
    keyboard.run("page.setText('The zzz')")
    keyboard.wait_for("page.heard.length > 1")
    assert keyboard.run("return page.heard[1]") == "No word begins so"


def test_the_time_per_key_includes_showing(keyboard: Browser) -> None:
    script = """page.times = []; const show = page.show; page.show = function () {
        show.call(this); const end = performance.now() + 30; while (performance.now() < end); };
        page.setText("The "); return [page.times.length, page.times[0], document.getElementById("time").textContent];"""
    count, milliseconds, shown = keyboard.run(script)
    assert count == 1
    assert milliseconds >= 30
    assert float(shown.removesuffix(" ms")) == pytest.approx(milliseconds, abs=0.06)


@pytest.mark.parametrize("tied", [True, False])
def test_the_figures_are_in_the_corner(tmp_path: Path, browser: Browser, tied: bool) -> None:
    browser.resize(1280, 720)
    model = open_page(browser, packed_file(tmp_path, "lstm-z-w", {"tied": tied}, 8, 2_000))
    browser.run("page.setText('The librarians of '.repeat(200))")
    browser.wait_for("page.shown.length === 600")
    browser.run("scrollTo(0, 0)")
    figures = dict(
        browser.run("return [...document.querySelectorAll('dl div')].map((each) => each.innerText.split('\\n'))")
    )
    assert figures["This model"] == f"{model.facts['size'] / 1e6:.2f} MB"
    dense = 4 * settings_memory(model.network.settings.dense, model.num_words).total / 1e6
    assert figures["Dense twin, tied, float32" if tied else "Dense twin, float32"] == f"{dense:.2f} MB"
    assert figures["Perplexity, held-out text"] == "12.5"
    assert figures["Time per key, median"].endswith(" ms")
    place = browser.run("return document.querySelector('dl').getBoundingClientRect()")
    main = browser.run("return document.querySelector('main').getBoundingClientRect()")
    assert place["left"] > 640
    assert place["right"] > main["right"] - 20
    assert 0 < place["bottom"] < 130
    browser.resize(390, 800)
    for selector in ("dl", "#text", "#suggestions"):
        assert 0 < browser.run(f"return document.querySelector('{selector}').getBoundingClientRect().bottom") < 600


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_can_be_read(tmp_path: Path, browser: Browser, dark: bool) -> None:
    """A contrast of 4.5 or more (WCAG 2, level AA) of all text that is shown, painted over what lies behind it."""
    browser.resize(1280, 720, dark=dark)
    open_page(browser, packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"]))
    browser.type("#text", "The librarians zzz ")
    browser.click("#words .word:nth-child(2)")
    script = """document.querySelectorAll('.word').forEach((word) => word.style.setProperty('--surprise', arguments[0]));
        const paint = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        const pixel = (color) => { paint.fillStyle = color; paint.fillRect(0, 0, 1, 1);
            return Array.from(paint.getImageData(0, 0, 1, 1).data.slice(0, 3)); };
        const behind = (element) => { if (!element) return;
            behind(element.parentElement); pixel(getComputedStyle(element).backgroundColor); };
        const isText = (element) => element.offsetParent && [...element.childNodes].some((node) => node.data?.trim());
        const found = [...document.querySelectorAll("body *")].filter((element) => isText(element) || element === page.box);
        const colors = (element, part) => { behind(element);
            return [element.id || element.tagName, pixel("transparent"), pixel(getComputedStyle(element, part).color)]; };
        return [...found.map((element) => colors(element)), colors(page.box, "::placeholder")];"""
    for surprise in (0, 1):
        colors = browser.run(script, surprise)
        assert len(colors) > 20
        assert (sum(colors[0][1]) < 3 * 60) == dark  # the page is dark where it should be
        assert {name: value for name, back, ink in colors if (value := contrast(back, ink)) < 4.5} == {}


def contrast(back: list[int], ink: list[int]) -> float:
    """As WCAG 2 defines it."""
    dark, light = sorted(
        sum(
            weight * (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)
            for weight, share in zip((0.2126, 0.7152, 0.0722), (value / 255 for value in color))
        )
        for color in (back, ink)
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_the_page_fits_its_screen(tmp_path: Path, browser: Browser, width: int) -> None:
    browser.resize(width, 800)
    open_page(browser, packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"]))
    browser.type("#text", "The librarians of california " + "x" * 80 + " ")
    browser.click("#words .word:nth-child(2)")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
