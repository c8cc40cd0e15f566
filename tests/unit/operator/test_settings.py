"""Flags go before variables, those before the operator's own; what is unknown is refused with the nearest name."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kubewright.operator.settings import SETTINGS, Settings, SettingsError, resolve


def test_every_setting_is_told_of_and_has_a_flag_and_a_variable_named_like_it() -> None:
    assert tuple(setting.name for setting in SETTINGS) == Settings.__struct_fields__
    first = SETTINGS[0]
    assert (first.name, first.flag, first.variable) == ("stop_within", "--stop-within", "KUBEWRIGHT_STOP_WITHIN")


def test_which_value_counts_and_where_it_is_from() -> None:
    own = Settings(stop_within=1, log_level="debug", log_format="json")
    environment = {"KUBEWRIGHT_STOP_WITHIN": "2", "KUBEWRIGHT_LOG_LEVEL": "error", "HOME": "/"}
    known = resolve(own, environment, {"stop_within": "3", "log_level": None})
    assert known.settings == Settings(stop_within=3, log_level="error", log_format="json")
    assert known.origins == {
        "stop_within": "--stop-within",
        "log_level": "KUBEWRIGHT_LOG_LEVEL",
        "log_format": "the operator's own",
    }


def test_nothing_given_is_the_default() -> None:
    known = resolve(Settings(), {}, {})
    assert known.settings == Settings()
    assert known.origins == {}


@pytest.mark.parametrize(("text", "meant"), [("true", True), ("1", True), ("False", False), ("0", False)])
def test_switches_are_read_from_variables(text: str, meant: bool) -> None:
    assert resolve(Settings(), {"KUBEWRIGHT_LEADER_ELECT": text}, {}).settings.leader_elect is meant


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("STOP_WITHIN", "soon", "'soon' is no positive number of seconds"),
        ("STOP_WITHIN", "0", "no positive number"),
        ("STOP_WITHIN", "nan", "no positive number"),
        ("STOP_WITHIN", "1e300", "1e+300 seconds are too many: 2147483647 is the most"),
        ("LEADER_ELECT_LEASE_DURATION", "2147483648", "seconds are too many"),
        ("LEADER_ELECT", "maybe", "'maybe' is neither true nor false"),
        ("LEADER_ELECT_LEASE_DURATION", "1.5", "no whole number of seconds"),
        ("LEADER_ELECT_RESOURCE_NAME", "A_b", "A_b"),
        ("LEADER_ELECT_RESOURCE_NAMESPACE", "a.b", "a.b"),
        ("LEADER_ELECT_RESOURCE_LABELS", "team", "'team' is no label with a value: write KEY=VALUE,KEY=VALUE"),
        ("LEADER_ELECT_RESOURCE_LABELS", "a b=c", "'a b' is no label: name part must consist of"),
        ("LEADER_ELECT_RESOURCE_LABELS", "a=b c", "'b c' is no value of label a: "),
        ("LEADER_ELECT_IDENTITY", "me again", "use printable ASCII without blanks"),
        ("WAIT_FOR_SERVER", "-1", "no positive number of seconds"),
        ("LOG_LEVEL", "warn", "did you mean warning?"),
        ("HEALTH_PROBE_BIND_ADDRESS", "8081", "use HOST:PORT"),
        ("HEALTH_PROBE_BIND_ADDRESS", " :8081", "use HOST:PORT"),
        ("HEALTH_PROBE_BIND_ADDRESS", ":٨٠", "use HOST:PORT"),
    ],
)
def test_a_value_of_no_use_is_refused_by_its_variable(variable: str, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        resolve(Settings(), {f"KUBEWRIGHT_{variable}": text}, {})
    assert str(refused.value).startswith(f"KUBEWRIGHT_{variable}: ")
    assert said in str(refused.value)


def test_a_value_of_no_use_is_refused_by_its_flag_and_by_its_argument() -> None:
    with pytest.raises(SettingsError, match="^--stop-within: '-1' is|^--stop-within: -1.0 is no positive"):
        resolve(Settings(), {}, {"stop_within": "-1"})
    wrong: Any = "loud"
    with pytest.raises(SettingsError, match="^log_level: 'loud' is none"):
        Settings(log_level=wrong)


def test_labels_and_an_identity_of_the_election_are_read_and_shown() -> None:
    own = Settings(leader_elect_resource_labels={"team": "db"})
    environment = {"KUBEWRIGHT_LEADER_ELECT_IDENTITY": "me"}
    assert resolve(own, environment, {}).settings == Settings(
        leader_elect_resource_labels={"team": "db"}, leader_elect_identity="me"
    )
    flags = {"leader_elect_resource_labels": "team=web, example.com/tier=", "leader_elect_identity": ""}
    known = resolve(own, environment, flags)
    assert known.settings == Settings(leader_elect_resource_labels={"team": "web", "example.com/tier": ""})
    assert known.origins["leader_elect_resource_labels"] == "--leader-elect-resource-labels"


def test_what_a_command_does_by_itself_gives_way_to_all_else() -> None:
    base = Settings(log_level="warning")
    assert resolve(Settings(), {}, {}, base=base).settings.log_level == "warning"
    assert resolve(Settings(), {}, {}, base=base).origins == {}
    assert resolve(Settings(log_level="error"), {}, {}, base=base).settings.log_level == "error"
    assert resolve(Settings(), {"KUBEWRIGHT_LOG_LEVEL": "info"}, {}, base=base).settings.log_level == "info"


def test_an_operators_own_counts_where_it_is_our_default_too() -> None:
    known = resolve(Settings(log_level="info"), {}, {}, base=Settings(log_level="warning"))
    assert known.settings.log_level == "info"
    assert known.origins == {"log_level": "the operator's own"}
    assert Settings(log_level="info") == Settings()
    changed = replace(Settings(), stop_within=3.0)
    assert resolve(changed, {}, {}).origins == {"stop_within": "the operator's own"}


@pytest.mark.parametrize(
    ("argument", "value", "said"),
    [
        ("log_level_file", 5, "5 is no text"),
        ("leader_elect_resource_name", 5, "5 is no text"),
        ("health_probe_bind_address", 8081, "8081 is no text"),
        ("leader_elect", [], r"\[\] is neither true nor false"),
        ("leader_elect_resource_labels", "a=b", "'a=b' is no mapping of labels"),
        ("leader_elect_resource_labels", {"a": 1}, "1 is no text"),
        ("wait_for_server", True, "True is no positive number"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_its_name(argument: str, value: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=f"^{argument}: {said}"):
        Settings(**{argument: value})


def test_times_of_an_election_that_do_not_fit_are_refused_where_they_are_declared() -> None:
    said = "^leader_elect_renew_deadline=20 must be less than leader_elect_lease_duration=15: "
    with pytest.raises(SettingsError, match=said):
        Settings(leader_elect_renew_deadline=20)
    with pytest.raises(SettingsError, match=said):
        resolve(Settings(), {"KUBEWRIGHT_LEADER_ELECT_RENEW_DEADLINE": "20"}, {})
    longer = Settings(leader_elect_renew_deadline=20, leader_elect_lease_duration=30)
    with pytest.raises(SettingsError, match="^leader_elect_retry_period=17 must be more than 0 and less than "):
        resolve(longer, {}, {"leader_elect_retry_period": "17"})


def test_an_unknown_variable_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"KUBEWRIGHT_STOP_WITHN: .* did you mean KUBEWRIGHT_STOP_WITHIN\?"):
        resolve(Settings(), {"KUBEWRIGHT_STOP_WITHN": "2"}, {})
    with pytest.raises(SettingsError, match=r"did you mean WATCH_NAMESPACE\?"):
        resolve(Settings(), {"KUBEWRIGHT_WATCH_NAMESPACE": "red"}, {})


def test_what_kubelet_tells_of_services_named_like_us_is_no_setting() -> None:
    links = ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTPS", "PORT", "PORT_443_TCP", "PORT_443_TCP_ADDR")
    environment = {f"KUBEWRIGHT_{name}": "10.0.0.1" for link in links for name in (link, f"WEBHOOKS_{link}")}
    assert resolve(Settings(), environment, {}).settings == Settings()
