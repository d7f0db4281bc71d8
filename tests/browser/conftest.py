"""A headless Chromium without network, and pages to open in it."""

import base64
import json
import shutil
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from skfairtest import FairnessAudit
from skfairtest.audit.report import audit_report
from skfairtest.report.html import fragment, page

#: A sandbox has no user namespace, no graphics, and nothing to talk to.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
#: A notebook's page: its own headings, its own style, two reports.
NOTEBOOK = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Notebook</title></head>'
    '<body><main><h1>Notebook</h1><table id="own"><tr><td>cell</td></tr></table>{}</main></body></html>'
)


class Browser:
    """What tests ask of Chromium."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, width=1280, scheme="light", media=""):
        """Open a file and return the addresses it asked for and what it wrote to the console."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # what came before
        self.driver.get(path.as_uri())
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return asked, self.driver.get_log("browser")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def pdf(self, inches=(8.5, 11)):
        """Print the open page."""
        paper = {"paperWidth": inches[0], "paperHeight": inches[1], "printBackground": True}
        paper["preferCSSPageSize"] = True  # as a person who prints has it
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", paper)["data"])

    def violations(self):
        """Return what axe-core finds on the open page: rule, impact and places."""
        axe = find_spec("selenium_axe_python")
        if axe is None:
            pytest.skip("selenium-axe-python, which brings axe-core, is not installed")
        source = next(Path(axe.origin).parent.rglob("axe.min.js"))
        # Not a <script> of the page, whose policy allows none.
        self.driver.execute_script(source.read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run().then(done, error => done({error: String(error)}))"
        )
        assert "error" not in found, found
        assert len(found["passes"]) > 10
        return [(rule["id"], rule["impact"], [n["target"] for n in rule["nodes"]][:3]) for rule in found["violations"]]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Start Chromium once for all tests."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    # Only a script that never ends is given up: a busy machine takes its time.
    started.set_script_timeout(600)
    yield Browser(started)
    started.quit()


def quietly(audit, *people, **given):
    """Record an audit whose warnings of small groups stand in its report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return audit(*people, **given).record_


@pytest.fixture(scope="session")
def compas_three(compas):
    """Record an audit of COMPAS by race, sex and age."""
    given = {"sensitive_features": compas.sensitive_features, "method": "asymptotic"}
    return quietly(FairnessAudit.from_predictions, compas.y_true, compas.y_pred, **given)


@pytest.fixture(scope="session")
def fair_record():
    """Record an audit in which nothing is significant."""
    groups = [f"group {i:02d}" for i in range(40) for _ in range(20)]
    features = {"region": groups, "sex": ["f", "f", "m", "m"] * 200}
    return quietly(FairnessAudit.from_predictions, None, np.tile([0, 1], 400), sensitive_features=features)


class Pages(dict):
    """Pages of audits by their names, each written when it is first asked for."""

    def __init__(self, request, folder):
        self.request, self.folder = request, folder

    def __missing__(self, name):
        records = {"three": "compas_three", "details": "compas_record"}
        names = ["compas_record", "hostile_record"] if name == "notebook" else [records.get(name, f"{name}_record")]
        documents = [audit_report(self.request.getfixturevalue(record)) for record in names]
        if name == "notebook":
            text = NOTEBOOK.format("".join(map(fragment, documents)))
        else:
            text = page(*documents, details=name == "details")
        self[name] = self.folder / f"{name}.html"
        self[name].write_text(text, encoding="utf-8")
        return self[name]


@pytest.fixture(scope="session")
def pages(request, tmp_path_factory):
    """Pages of audits: one of them to be printed with all details, and two as parts of one notebook."""
    return Pages(request, tmp_path_factory.mktemp("pages"))
