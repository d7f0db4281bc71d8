"""Make the picture of the report that README shows: ``python doc/make_picture.py``.

It needs Chromium, chromedriver and what ``.[report,test]`` installs.
"""

import base64
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, PngImagePlugin
from selenium import webdriver

HERE = Path(__file__).parent
PICTURE = HERE / "_static" / "report.png"
#: Pixels of the page: how wide it is, and from where on the next section is left out.
WIDTH, LOWEST = 1000, 1150
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb")
#: Where the sections begin, the contents among them.
STARTS = """
return [...document.querySelectorAll("section, nav")].map(part => part.getBoundingClientRect().top)
"""


def main():
    """Write the demo's report and take a picture of its first screen, which ends where a section ends."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        sys.exit("chromium or chromedriver is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    service = webdriver.ChromeService(chromedriver)
    with tempfile.TemporaryDirectory() as folder, webdriver.Chrome(options, service) as driver:
        page = Path(folder) / "report.html"
        demo = [sys.executable, "-m", "skfairtest", "demo", "--html", page]
        subprocess.run(demo, check=True, capture_output=True, cwd=HERE.parent)
        size = {"width": WIDTH, "height": LOWEST, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        bottom = max(top for top in driver.execute_script(STARTS) if top <= LOWEST)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": bottom, "scale": 1.5}
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        words = PngImagePlugin.PngInfo()  # a test compares them with what the demo prints
        words.add_text("Description", driver.execute_script("return document.querySelector('.verdict').innerText"))
    Image.open(io.BytesIO(base64.b64decode(shot["data"]))).save(PICTURE, pnginfo=words, optimize=True)
    print(f"{PICTURE}: {WIDTH} x {bottom:.0f} pixels, {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
