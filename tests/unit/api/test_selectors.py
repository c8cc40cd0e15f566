from __future__ import annotations

import pytest

from kubewright.api import FieldSelector, LabelSelector, LabelSelectorRequirement, Selector, SelectorError

LABELS = {"app": "web", "tier": "a", "size": "5"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app!=web", False),
        ("other!=x", True),
        ("tier in (a, b)", True),
        ("tier notin (a,b)", False),
        ("other notin (a)", True),
        ("app", True),
        ("!app", False),
        ("!other", True),
        ("size>4", True),
        ("size<5", False),
        ("app=web,tier in (c,d)", False),
        ("app=", False),
        ("example.com/role=x", False),
    ],
)
def test_label_selectors_match_as_the_api_documents(text: str, matches: bool) -> None:
    assert Selector.parse(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("app=web=x", "found '=', expected: ',' or 'end of string'"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
    ],
)
def test_a_label_selector_that_does_not_parse_is_refused_in_the_servers_words(text: str, why: str) -> None:
    with pytest.raises(SelectorError) as refused:
        Selector.parse(text)
    assert str(refused.value) == why


@pytest.mark.parametrize("text", ["app=web", "a!=b", "tier in (a,b)", "tier notin (a,b)", "x", "!x", "n>4", "n<4"])
def test_a_selector_reads_back_what_it_writes(text: str) -> None:
    assert str(Selector.parse(text)) == text


def test_an_objects_selector_has_labels_and_expressions() -> None:
    selector = Selector.from_object(
        LabelSelector(
            match_labels={"app": "web"},
            match_expressions=[LabelSelectorRequirement(key="tier", operator="In", values=["a", "b"])],
        )
    )
    assert selector.matches(LABELS)
    assert not selector.matches({"app": "web"})


def test_field_selectors_compare_text() -> None:
    selector = FieldSelector.parse("metadata.name=x,status.phase!=Running")
    assert selector.fields == ("metadata.name", "status.phase")
    assert selector.matches({"metadata.name": "x", "status.phase": "Pending"}.__getitem__)
    assert not selector.matches({"metadata.name": "x", "status.phase": "Running"}.__getitem__)


def test_a_field_selector_reads_back_what_it_writes() -> None:
    selector = FieldSelector((("a", True, "x,y=z\\"), ("b", False, "")))
    assert FieldSelector.parse(str(selector)) == selector


def test_a_field_selector_without_operator_is_refused() -> None:
    with pytest.raises(SelectorError, match="can't understand 'nonsense'"):
        FieldSelector.parse("nonsense")
