"""What the studio saves as one file answers as the studio does, without it."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from pinesy.studio import Session

Serving = Callable[[Session], str]


def test_the_sample_of_now_goes_along(
    tab: Page, serving: Serving, session: Session, tmp_path: Path
) -> None:
    tab.goto(f"{serving(session)}#sample")
    view = tab.locator("#panel-sample")
    expect(view).to_have_attribute("data-ready", "true")
    tab.get_by_role("spinbutton", name="wind").fill("27.5")
    expect(view).to_have_attribute("data-shown", re.compile(r"27\.5"))
    expect(tab.locator(".graph .box.lit").first).to_be_visible()  # no question is left open
    with tab.expect_download() as downloading:
        tab.get_by_role("button", name="Save as one file").click()
    path = tmp_path / downloading.value.suggested_filename
    assert path.name == "sail.html"
    downloading.value.save_as(path)
    tab.goto(path.as_uri())
    options = tab.get_by_label("Sample", exact=True).locator("option")
    assert options.all_inner_texts() == ["as it was set", "row 1", "row 2", "row 3"]
    expect(tab.get_by_role("spinbutton", name="wind")).to_have_value("27.5")
    found = tab.evaluate("Array.from(whatIf.state.degrees.at(-1))")
    rules = session.work.rules
    wanted = rules.infer({"sky": "dark", "wind": 27.5}, [rules.order[-1].output])
    assert found == np.asarray(next(iter(wanted.values())).degrees).tolist()
