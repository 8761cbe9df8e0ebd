# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, and without a network: whatever a page asks for is refused and recorded."""
import json
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service


def start(width=1400, height=1000):
    options = Options()
    for argument in (
        "--headless=new",
        "--no-sandbox",  # It may run as root, in a container.
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--hide-scrollbars",
        "--force-device-scale-factor=1",
        "--proxy-server=127.0.0.1:9",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--window-size={width},{height}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.set_page_load_timeout(120)
    return driver


def prefer(driver, scheme):
    """What the page is told of the viewer's scheme: light or dark."""
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def wait(driver, script, *arguments, seconds=30):
    """Until the script returns something true, which is returned."""
    end = time.monotonic() + seconds
    while True:
        value = driver.execute_script("return " + script, *arguments)
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(script)
        time.sleep(0.005)


def open_report(driver, url, number=0):
    """Seconds until the sentence is drawn."""
    begin = time.monotonic()
    driver.get(url)
    wait(driver, f"document.getElementById('main').dataset.number === '{number}'")
    return time.monotonic() - begin


def requests(driver):
    """Addresses that pages asked for since this was last called."""
    addresses = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            addresses.append(message["params"]["request"]["url"])
    return addresses
