"""The connection to a Salesforce organisation: credentials from the environment, requests with a time limit.

Credentials are read when a connection is opened and kept by the client alone; no text of an error holds them.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.errors import BadOption, NotConfigured, Unreachable

URL, TOKEN = "SALESFORCE_INSTANCE_URL", "SALESFORCE_ACCESS_TOKEN"
USERNAME, PASSWORD = "SALESFORCE_USERNAME", "SALESFORCE_PASSWORD"
SECURITY_TOKEN, DOMAIN = "SALESFORCE_SECURITY_TOKEN", "SALESFORCE_DOMAIN"
VERSION = "61.0"
CONNECT_S = 10.0
CHANGE_S = 120.0
_LOCAL = {"127.0.0.1", "localhost", "::1"}
_MOST_TOLD = 500
# What the server refuses because of the account, the licence or its own state, not because of the query.
_NOT_THE_QUERY = {
    "API_DISABLED_FOR_ORG",
    "INSUFFICIENT_ACCESS",
    "INVALID_SESSION_ID",
    "REQUEST_LIMIT_EXCEEDED",
    "SERVER_UNAVAILABLE",
}
_TOO_LONG = {414, 431}
_TIMED_OUT = "QUERY_TIMEOUT"
_CHANGES = {"Sforce-Auto-Assign": "FALSE", "Sforce-Duplicate-Rule-Header": "allowSave=true"}


@dataclass(frozen=True, eq=False)
class Connection:
    """One organisation at `host`; requests raise QueryError for what the server says of a query, else Unreachable."""

    host: str
    _client: Any = field(repr=False)

    @classmethod
    def open(cls) -> Connection:
        """The organisation that the environment names.

        Either SALESFORCE_INSTANCE_URL and SALESFORCE_ACCESS_TOKEN, or SALESFORCE_USERNAME, SALESFORCE_PASSWORD and
        SALESFORCE_SECURITY_TOKEN (with SALESFORCE_DOMAIN: login, test, or one's own). Raises NotConfigured, BadOption,
        Unreachable.
        """
        named = {name: value for name in (URL, TOKEN, USERNAME, PASSWORD) if (value := os.environ.get(name))}
        if not ({URL, TOKEN} <= named.keys() or {USERNAME, PASSWORD} <= named.keys()):
            ways = f"{URL} and {TOKEN}, or {USERNAME}, {PASSWORD} and {SECURITY_TOKEN}"
            raise NotConfigured(f"no live organisation is named: set {ways} in the environment")
        try:
            import requests
            from simple_salesforce.api import Salesforce
        except ImportError:
            needs = "needs simple-salesforce: pip install simple-salesforce"
            raise NotConfigured(f"a live organisation {needs}") from None
        session: Any = requests.Session()
        # Logging in has a time limit, too; requests set their own.
        session.request = functools.partial(session.request, timeout=CONNECT_S)
        if {URL, TOKEN} <= named.keys():
            return cls._of_token(Salesforce, session, named[URL], named[TOKEN])
        domain = os.environ.get(DOMAIN) or "login"
        try:
            with _faults(f"{domain}.salesforce.com"):
                client = Salesforce(
                    username=named[USERNAME],
                    password=named[PASSWORD],
                    security_token=os.environ.get(SECURITY_TOKEN, ""),
                    domain=domain,
                    version=VERSION,
                    session=session,
                    object_pairs_hook=dict,
                )
        except QueryError as fault:  # no query was asked yet
            raise Unreachable(f"logging in at {domain}.salesforce.com failed ({fault})") from None
        return cls(client.sf_instance, client)

    @classmethod
    def _of_token(cls, make: Any, session: Any, url: str, token: str) -> Connection:
        try:
            parts = urlsplit(url)
            host = parts.netloc if parts.port is None or parts.port else ""
        except ValueError:
            host, parts = "", urlsplit("")
        local = parts.scheme == "http" and parts.hostname in _LOCAL
        if not host or "@" in host or not (parts.scheme == "https" or local):
            raise BadOption(f"{URL} is no address of an organisation; write it as https://example.my.salesforce.com")
        address = f"{parts.scheme}://{host}"
        client = make(instance_url=address, session_id=token, version=VERSION, session=session, object_pairs_hook=dict)
        if local:  # the package asks by https alone; a server on this machine is a rehearsal
            client.base_url = f"{address}/services/data/v{VERSION}/"
        return cls(host, client)

    def get(self, path: str, timeout_s: float, params: Mapping[str, str] | None = None) -> Any:
        """What the REST interface answers under a path such as `query/`; reads only."""
        with _faults(self.host):
            found = self._client.restful(path, params, timeout=(min(CONNECT_S, timeout_s), timeout_s))
            return {} if found is None else found

    def send(self, method: Literal["POST", "PATCH", "DELETE"], path: str, body: Any = None, params: Any = None) -> Any:
        """What the REST interface answers to a change; Unreachable where no answer came, so that nobody knows whether
        the change was made. Neither assignment nor duplicate rules of the organisation touch what is sent."""
        try:
            with _faults(self.host):
                timeout = (CONNECT_S, CHANGE_S)
                return self._client.restful(path, params, method, json=body, headers=_CHANGES, timeout=timeout)
        except QueryError as fault:
            if fault.code != _TIMED_OUT:
                raise
            raise Unreachable(f"{self.host} did not answer within {CHANGE_S:g} s") from None


@contextmanager
def _faults(where: str) -> Iterator[None]:
    """What the package raises, as our own errors."""
    import requests
    from simple_salesforce.exceptions import SalesforceAuthenticationFailed, SalesforceError

    try:
        yield
    except SalesforceAuthenticationFailed as fault:
        told = f"{fault.code}: {fault.auth_message}"[:_MOST_TOLD]
        raise Unreachable(
            f"the live organisation refuses the login ({told}); check the variables SALESFORCE_…"
        ) from None
    except SalesforceError as fault:
        raise _tell(fault, where) from None
    except requests.exceptions.ReadTimeout:
        raise QueryError(_TIMED_OUT, "Your query request was running for too long") from None
    except requests.exceptions.JSONDecodeError:
        raise Unreachable(f"{where} answers something that is no JSON; check its address") from None
    except requests.exceptions.RequestException as fault:
        # Its text may quote the whole address, so only its kind is told.
        raise Unreachable(
            f"{where} does not answer ({type(fault).__name__}); check its address and the network"
        ) from None


def _tell(fault: Any, where: str) -> QueryError | Unreachable:
    """The error that a server's refusal is: the query's, or everybody's."""
    if fault.status in _TOO_LONG:
        return QueryError("QUERY_TOO_COMPLICATED", "the query is too long for the server: name fewer ids")
    content = fault.content[0] if isinstance(fault.content, list) and fault.content else {}
    code, said = (content.get("errorCode"), content.get("message")) if isinstance(content, dict) else (None, None)
    if isinstance(code, str) and isinstance(said, str) and fault.status in (400, 404) and code not in _NOT_THE_QUERY:
        return QueryError(code, said)
    told = f"{code}: {said}"[:_MOST_TOLD] if code else f"status {fault.status}"
    advice = f"; get a new {TOKEN}" if fault.status == 401 else ""
    return Unreachable(f"the live organisation at {where} refuses ({told}){advice}")
