"""A real Chromium without a window, driven over its DevTools pipe."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
PATIENCE = 60.0


def program() -> str | None:
    """Path of the Chromium on this machine, if there is one."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Chromium:
    """A browser with one page open. A context manager."""

    def __enter__(self) -> Chromium:
        path = program()
        assert path is not None, "no Chromium on PATH"
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # It reads commands from descriptor 3 and answers on 4.
        os.set_inheritable(to_browser, True)
        os.set_inheritable(from_browser, True)
        flags = " ".join(
            (*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}")
        )
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" {flags} 3<&{to_browser} 4>&{from_browser}', path],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events: list[Any] = []
        self._session = ""
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        attached = self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self._send(f"{domain}.enable")
        self._send("Performance.enable", timeDomain="threadTicks")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        os.close(self._in)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._profile.cleanup()

    def open(self, page: Path, hash: str = "") -> None:
        """Load a page anew and wait until its script has run."""
        self.load(page, hash)
        self.wait("document.documentElement.dataset.ready")

    def load(self, page: Path, hash: str = "") -> None:
        """Load a page anew, whether it has a script that runs or not."""
        self._send("Page.navigate", url="about:blank")
        self.events.clear()
        self._send("Page.navigate", url=f"{page.as_uri()}{hash}")
        self.wait("location.protocol === 'file:' && document.readyState === 'complete'")

    def scripts(self, allowed: bool) -> None:
        """Whether pages that are loaded from now on may run scripts."""
        self._send("Emulation.setScriptExecutionDisabled", value=not allowed)

    def milliseconds(self) -> float:
        """From the start of the navigation until the page could be used."""
        return float(self.value("document.documentElement.dataset.ready"))

    def busy(self) -> float:
        """Seconds of processor time that the page's main thread has used since it was opened."""
        told = self._send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in told if one["name"] == "TaskDuration"))

    def wait(self, expression: str) -> Any:
        """The value of a JavaScript expression, once it is true."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            value = self.value(expression)
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}")

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON has it."""
        told = self._send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, as a person would."""
        codes = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Tab": 9}
        for key in keys:
            known: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
            text = "\r" if key == "Enter" else key if len(key) == 1 else ""
            self._send("Input.dispatchKeyEvent", type="keyDown", text=text, **known)
            self._send("Input.dispatchKeyEvent", type="keyUp", **known)

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """Make the window so large (pixels)."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self._send("Emulation.setDeviceMetricsOverride", **metrics)

    def medium(self, medium: str = "screen", scheme: str = "light") -> None:
        """Show as on ``screen`` or ``print``, in a ``light`` or ``dark`` colour scheme."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._send("Emulation.setEmulatedMedia", media=medium, features=features)

    def picture(self, whole: bool = False) -> bytes:
        """A PNG of the window, or of the whole page."""
        told = self._send("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(told["data"])

    def pages_on_paper(self) -> bytes:
        """A PDF of the page as it is printed."""
        return base64.b64decode(self._send("Page.printToPDF")["data"])

    def _send(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._out, rest) :]
        while True:
            told = self._receive()
            if told.get("id") == number:
                assert "error" not in told, (method, told["error"])
                return told["result"]
            self.events.append(told)

    def _receive(self) -> Any:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            assert ready, "Chromium does not answer"
            data = os.read(self._in, 1 << 20)
            assert data, "Chromium has ended"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)
