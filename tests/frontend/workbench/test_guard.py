"""Who may ask the workbench: its own page only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from einderive.frontend.workbench.guard import MOST_BYTES
from tests.frontend.workbench.served import TOKEN, Client, served

ASKED = {"formula": "Y[i] = 2*A[i]", "sizes": "A=3", "dtypes": "float32"}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served() as found:
        yield found


def test_its_own_page_may_ask(client: Client) -> None:
    assert client.get("").status == 200
    assert client.get("", Sec_Fetch_Site="none").status == 200
    assert client.post("formula", ASKED, Sec_Fetch_Site="same-origin").data["ready"]


def test_localhost_is_this_machine_too(client: Client) -> None:
    host = f"localhost:{client.port}"
    assert client.post("formula", ASKED, Host=host, Origin=f"http://{host}").status == 200
    assert client.post("formula", ASKED, Host=host).status == 403  # the page of another name


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1", "127.0.0.1:1", "", "a" * 900])
def test_another_host_is_refused(client: Client, host: str) -> None:
    answer = client.get("", Host=host)
    assert answer.status == 421
    assert "this is the workbench of einderive at 127.0.0.1" in answer.text
    assert len(answer.text) < 300


@pytest.mark.parametrize(
    "origin", ["https://example.org", "null", "http://127.0.0.1", "http://127.0.0.1:1", ""]
)
def test_another_origin_is_refused(client: Client, origin: str) -> None:
    for answer in (client.get("", Origin=origin), client.post("formula", ASKED, Origin=origin)):
        assert (answer.status, answer.text) == (403, "other pages may not use the workbench\n")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_of_another_site_is_refused(client: Client, site: str) -> None:
    assert client.ask("GET", f"/{TOKEN}/", headers={"Sec-Fetch-Site": site}).status == 403


@pytest.mark.parametrize("path", ["/", "/formula", f"/{TOKEN[:-1]}/", f"//{TOKEN}/", "/%C3%A9/"])
def test_without_the_key_nothing_is_told(client: Client, path: str) -> None:
    for method in ("GET", "POST"):
        answer = client.ask(method, path)
        assert answer.status == 404
        assert "open the whole address" in answer.text


def test_too_much_is_refused_before_it_is_read(client: Client) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": str(MOST_BYTES + 1)}
    answer = client.ask("POST", f"/{TOKEN}/formula", headers=headers)
    assert (answer.status, answer.text) == (413, "that is too large: at most 16 MB are read\n")
    answer = client.post("formula", ASKED | {"formula": "x" * 100_000})
    assert (answer.status, "too large" in answer.text) == (413, True)


def test_what_is_no_object_of_json_is_refused(client: Client) -> None:
    assert client.post("formula", ASKED, Content_Type="text/plain").status == 415
    for body, words in [
        ("{", "not JSON"),
        ("[" * 15_000, "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"formula": 3}', "are texts"),
    ]:
        headers = {"Content-Type": "application/json"}
        answer = client.ask("POST", f"/{TOKEN}/formula", body, headers)
        assert answer.status == 400
        assert words in answer.text


def test_no_length_and_other_methods(client: Client) -> None:
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    assert client.ask("POST", f"/{TOKEN}/formula", None, headers).status == 411
    assert client.ask("DELETE", f"/{TOKEN}/formula", "{}", headers).status >= 400
    assert client.post("", {}).status == 405
    assert client.get("formula").status == 404
    assert client.get("guard.py").status == 404
    assert client.get("..%2Fguard.py").status == 404


def test_the_page_may_load_nothing_from_elsewhere(client: Client) -> None:
    headers = client.get("").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "script-src 'self';" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert not [name for name in headers if name in ("server", "set-cookie")]
