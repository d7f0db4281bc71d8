"""Make the picture of the report that README shows: ``python doc/make_picture.py``, with Chromium installed."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).parent / "_static" / "report.png"
SIZE = "1100,1000"


def main():
    """Write the demo's report and take a picture of its first screen."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        subprocess.run([sys.executable, "-m", "skfairtest", "demo", "--html", page], check=True, capture_output=True)
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/data"]
        shot = [f"--window-size={SIZE}", f"--screenshot={PICTURE}", page.as_uri()]
        subprocess.run([chromium, *flags, *shot], check=True, capture_output=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
