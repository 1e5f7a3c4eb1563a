"""States of the page: it is still opening, something fails, there are very many values."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pinesy import parse
from pinesy.exceptions import DataError
from pinesy.studio import Session, web_application
from pinesy.studio.session import Work
from screen_checks import axe_problems, problems_of

Serving = Callable[[Any], str]


def test_the_page_is_there_before_the_session(
    tab: Page, serving: Serving, session: Session
) -> None:
    opened: Future[Session] = Future()
    tab.goto(serving(opened))
    status = tab.get_by_role("status")
    expect(status).to_have_text("The rules are being opened …")
    assert problems_of(tab) == []
    assert axe_problems(tab) == []
    opened.set_result(session)
    expect(tab.locator("#panel-ask")).to_have_attribute("data-ready", "true")
    expect(tab.locator("#opening")).to_have_count(0)


@pytest.mark.parametrize("view", ["ask", "data"])
def test_what_fails_is_said_and_can_be_tried_again(
    tab: Page, serving: Serving, session: Session, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = {"ask": "form", "data": "overview"}[view]
    endpoints = web_application.ENDPOINTS[view]
    works = endpoints[endpoint]

    def fails(*_given: object) -> None:
        raise DataError("the disk is <b>full</b>")

    monkeypatch.setitem(endpoints, endpoint, fails)
    tab.goto(f"{serving(session)}#{view}")
    panel = tab.locator(f"#panel-{view}")
    expect(panel.get_by_role("alert")).to_have_text("!the disk is <b>full</b>")
    assert problems_of(tab) == []
    assert axe_problems(tab) == []
    monkeypatch.setitem(endpoints, endpoint, works)
    panel.get_by_role("button", name="Try again").click()
    expect(panel.locator(".empty")).to_have_count(0)
    expect(panel.locator(".card").first).to_be_visible()


def test_long_domains_are_folded(tab: Page, serving: Serving) -> None:
    text = "attribute a in 0..99\nattribute b in 0..99\nfunction c = a + b\n"
    tab.goto(f'{serving(Session(Work(parse(text), text)))}#ask?inputs={{"a":{{"value":7}}}}')
    values = tab.locator(".values .row")
    expect(values).to_have_count(12)
    tab.get_by_role("button", name="Show all 199").click()
    expect(values).to_have_count(199)
    assert problems_of(tab) == []


def test_the_answer_is_there_before_its_reasons(
    tab: Page, serving: Serving, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoints = web_application.ENDPOINTS["ask"]
    answer, reasons = endpoints["answer"], Event()

    # An answer that takes long: from then on the next one is asked for alone, before its reasons.
    seconds = [0.3]

    def slow(session: Session, payload: Any) -> Any:
        if not payload.get("brief"):
            reasons.wait(seconds[-1])
        return answer(session, payload)

    monkeypatch.setitem(endpoints, "answer", slow)
    tab.goto(f"{serving(session)}#ask?row=1")
    value, lines, why = (tab.locator(s) for s in (".verdict .value", ".verdict dl", ".why"))
    expect(value).to_have_text("no")
    seconds.append(20.0)
    tab.get_by_role("radio", name="clear").check(force=True)
    expect(value).to_have_text("yes")
    for part in (lines, why):
        expect(part).to_have_attribute("aria-busy", "true")
    reasons.set()
    for part in (lines, why):
        expect(part).to_have_attribute("aria-busy", "false")
    expect(lines).to_contain_text("sky is clear")


def test_where_no_rule_decides_it_is_said_what_each_needs(tab: Page, serving: Serving) -> None:
    text = (
        'attribute job "job" in {yes, no}\nattribute debt "the debt" in {low, high}\n'
        "attribute age in {young, old}\nattribute loan in {approve, reject}\n"
        "if debt == high and job == no and age == old then loan == reject\n"
        "if debt == low and job == yes then loan == approve\n"
    )
    inputs = '{"job":{"value":0}}'
    tab.goto(f"{serving(Session(Work(parse(text), text)))}#ask?inputs={inputs}")
    lines = tab.locator(".near li")
    expect(lines).to_have_text(
        [
            "2needs that the debt is low → loan approve",
            "1needs that the debt is high, job is no and age is old → loan reject",
        ]
    )
    tab.get_by_role("radio", name="low").check(force=True)
    expect(tab.locator(".verdict .value")).to_have_text("approve")
    expect(lines).to_have_count(0)
