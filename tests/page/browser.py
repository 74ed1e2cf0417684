"""A headless Chromium, driven through chromedriver's own protocol (W3C WebDriver: JSON over HTTP)."""

import base64
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WHY_NOT = "no Chromium here: the page's own tests are left out; apt-get install chromium chromium-driver"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element, fixed by the standard


def is_here() -> bool:
    return bool(shutil.which("chromedriver") and (shutil.which("chromium") or shutil.which("google-chrome")))


class Browser:
    """One window; `send` gives any command of the protocol."""

    def __init__(self, address: str) -> None:
        self._address = address
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": arguments}}}}
        self._address += "/session/" + self.send("POST", "/session", wanted)["sessionId"]

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._address + path, data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, page: Path) -> None:
        self.send("POST", "/url", {"url": page.resolve().as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a function body returns in the page."""
        return self.send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait_for(self, condition: str) -> None:
        """Wait until an expression is true, at most some seconds."""
        script = (
            f"const done = arguments[0]; (function look() {{ ({condition}) ? done(true) : setTimeout(look, 20) }})()"
        )
        self.send("POST", "/execute/async", {"script": script, "args": []})

    def find(self, selector: str) -> str:
        element: str = self.send("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT]
        return element

    def type(self, selector: str, text: str) -> None:
        self.send("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def click(self, selector: str) -> None:
        self.send("POST", f"/element/{self.find(selector)}/click", {})

    def press(self, keys: str) -> None:
        """Press keys where the focus is."""
        element = self.send("GET", "/element/active")[_ELEMENT]
        self.send("POST", f"/element/{element}/value", {"text": keys})

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """Lay the page out for a screen of this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
        for command, values in (("Emulation.setDeviceMetricsOverride", size), ("Emulation.setEmulatedMedia", scheme)):
            self.send("POST", "/goog/cdp/execute", {"cmd": command, "params": values})

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.send("GET", "/screenshot")))


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser that is closed at the end."""
    with subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True) as driver:
        try:
            assert driver.stdout is not None
            port = next(found[1] for line in driver.stdout if (found := re.search(r"on port (\d+)\.", line)))
            browser = Browser(f"http://127.0.0.1:{port}")
            try:
                yield browser
            finally:
                browser.send("DELETE", "")
        finally:
            driver.terminate()
