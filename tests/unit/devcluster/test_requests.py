"""Reading requests: paths, options, bodies, media types, names."""

from __future__ import annotations

import pytest

from kubewright.api.label_rules import label_value_problems, qualified_name_problems
from kubewright.devcluster.bodies import json_error, load_json
from kubewright.devcluster.naming import dns_label_errors, dns_subdomain_errors
from kubewright.devcluster.negotiation import negotiate
from kubewright.devcluster.options import DeleteOptions, list_options, write_options
from kubewright.devcluster.routing import Route, route
from kubewright.devcluster.statuses import StatusError
from kubewright.devcluster.yaml_bodies import load_yaml


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/api/v1/pods", (), Route("list", "", "v1", "pods")),
        ("GET", "/api/v1/pods", (("watch", "true"),), Route("watch", "", "v1", "pods")),
        ("GET", "/api/v1/pods", (("watch", "false"),), Route("list", "", "v1", "pods")),
        ("GET", "/api/v1/namespaces/ns/pods/p", (), Route("get", "", "v1", "pods", "ns", "p")),
        ("GET", "/api/v1/namespaces/ns/pods/p", (("watch", "1"),), Route("get", "", "v1", "pods", "ns", "p")),
        ("PUT", "/api/v1/namespaces/ns/pods/p/status", (), Route("update", "", "v1", "pods", "ns", "p", "status")),
        ("GET", "/api/v1/namespaces/ns", (), Route("get", "", "v1", "namespaces", "", "ns")),
        ("PUT", "/api/v1/namespaces/ns/finalize", (), Route("update", "", "v1", "namespaces", "", "ns", "finalize")),
        ("POST", "/api/v1/namespaces", (), Route("create", "", "v1", "namespaces")),
        (
            "GET",
            "/apis/apps/v1/watch/namespaces/ns/deployments/d",
            (),
            Route("watch", "apps", "v1", "deployments", "ns", "d"),
        ),
        (
            "DELETE",
            "/apis/apps/v1/namespaces/ns/deployments",
            (),
            Route("deletecollection", "apps", "v1", "deployments", "ns"),
        ),
        ("TRACE", "/api/v1/pods", (), Route(None, "", "v1", "pods")),
    ],
)
def test_a_path_says_what_a_request_is_about(
    method: str, path: str, query: tuple[tuple[str, str], ...], expected: Route
) -> None:
    assert route(method, path, query) == expected


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz", "/api/v1//x"])
def test_other_paths_are_nobodys_resource(path: str) -> None:
    assert route("GET", path, ()) is None


def test_a_path_may_go_on_after_the_subresource() -> None:
    found = route("GET", "/api/v1/a/b/c/d", ())
    assert found is not None
    assert found.beyond


def refusal(error: pytest.ExceptionInfo[StatusError]) -> tuple[int, str]:
    return error.value.code, str(error.value)


def test_bad_options_are_refused_in_the_servers_words() -> None:
    with pytest.raises(StatusError) as error:
        write_options((("dryRun", "Nope"),), "CreateOptions")
    assert refusal(error) == (
        422,
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Nope"]: supported values: "All"',
    )
    with pytest.raises(StatusError) as error:
        write_options((("force", "true"),), "PatchOptions")
    assert "force: Forbidden: may not be specified for non-apply patch" in str(error.value)
    with pytest.raises(StatusError) as error:
        write_options((), "PatchOptions", apply=True)
    assert "fieldManager: Required value: is required for apply patch" in str(error.value)
    with pytest.raises(StatusError) as error:
        list_options((("resourceVersionMatch", "Exact"),), watch=False)
    assert "resourceVersionMatch is forbidden unless resourceVersion is provided" in str(error.value)
    with pytest.raises(StatusError) as error:
        list_options((("limit", "x"),), watch=False)
    assert refusal(error) == (400, 'strconv.ParseInt: parsing "x": invalid syntax')
    with pytest.raises(StatusError) as error:
        DeleteOptions.from_body({"gracePeriodSeconds": "x"})
    assert "cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64" in str(
        error.value
    )


def test_the_older_orphan_option_still_counts() -> None:
    assert DeleteOptions.from_query((("orphanDependents", "true"),)).propagation == "Orphan"
    assert DeleteOptions.from_body({"orphanDependents": False}).propagation == "Background"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "unexpected end of JSON input"),
        (b'{"a":', "unexpected end of JSON input"),
        (b'{"a":1', "unexpected end of JSON input"),
        (b"{x", "invalid character 'x' looking for beginning of object key string"),
        (b'{"a":1, }', "invalid character '}' looking for beginning of object key string"),
        (b"[1, ]", "invalid character ']' looking for beginning of value"),
        (b"nope", "invalid character 'n' looking for beginning of value"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"{} {}", "invalid character '{' after top-level value"),
    ],
)
def test_bad_json_is_named_as_go_names_it(body: bytes, text: str) -> None:
    assert json_error(body) == text


def test_fields_that_appear_twice_are_found() -> None:
    _, twice = load_json(b'{"a":{"b":1,"b":2},"c":[{"d":1,"d":1}]}', duplicates=True)
    assert twice == ["a.b", "c[0].d"]


def test_yaml_reads_as_kubernetes_reads_it() -> None:
    value, twice = load_yaml(b"time: 2026-01-01T00:00:00Z\ny: n\n2: two\n", duplicates=True)
    assert value == {"time": "2026-01-01T00:00:00Z", "true": False, "2": "two"}
    assert twice == []
    assert load_yaml(b'{"a": 1}') == ({"a": 1}, [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:30", "12:30"),
        ("1:2:3.5", "1:2:3.5"),
        ("1e3", 1000),
        ("1.5e+1", 15),
        ("1_000.5", 1000.5),
        ("0o17", 15),
        ("-017", -15),
        ("08", 8),
        ("0x1F", 31),
        ("-.5", -0.5),
        ("1e400", "1e400"),
        ("_1", "_1"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_yaml_has_the_numbers_of_the_servers_reader(text: str, value: object) -> None:
    found = load_yaml(f"x: {text}\n".encode())[0]["x"]
    assert (found, type(found)) == (value, type(value))


def test_yaml_may_hold_no_number_that_json_has_not() -> None:
    with pytest.raises(ValueError, match=r"^json: unsupported value: -Inf$"):
        load_yaml(b"x: -.inf\n")


def test_yaml_tells_which_keys_are_there_twice() -> None:
    value, twice = load_yaml(b"a: 1\nb:\n- c: 1\n  c: 2\na: 2\n", duplicates=True)
    assert value == {"a": 2, "b": [{"c": 2}]}
    assert twice == ['line 4: key "c" already set in map', 'line 5: key "a" already set in map']


def test_broken_yaml_is_refused() -> None:
    with pytest.raises(ValueError, match="^yaml: line 1: did not find expected ',' or ']'$"):
        load_yaml(b"a: [1\n")


def test_the_first_form_that_can_be_had_is_chosen() -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
    assert negotiate({"accept": table}).form == "Table"
    assert (
        negotiate({"accept": "application/vnd.kubernetes.protobuf,application/json"}).media_type == "application/json"
    )
    assert negotiate({"accept": "application/yaml"}).media_type == "application/yaml"
    assert negotiate({}).form == ""
    with pytest.raises(StatusError) as error:
        negotiate({"accept": "application/yaml"}, watch=True)
    assert error.value.code == 406


def test_names_are_checked_in_the_servers_words() -> None:
    assert dns_subdomain_errors("my.app") == []
    assert dns_subdomain_errors("gen-", prefix=True) == []
    assert "a lowercase RFC 1123 subdomain must consist of" in dns_subdomain_errors("Bad_Name")[0]
    assert dns_label_errors("x" * 64) == ["must be no more than 63 bytes"]
    assert label_value_problems("") == []
    assert "a valid label must be an empty string" in label_value_problems("no spaces")[0]
    assert qualified_name_problems("example.com/name") == []
    assert "prefix part a lowercase RFC 1123 subdomain" in qualified_name_problems("Example/name")[0]
    assert "name part must consist of" in qualified_name_problems("a b")[0]
