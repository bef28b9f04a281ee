"""A server on this machine that speaks the REST endpoints that are used, over a sandbox with the product's paging."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.soql.errors import QueryError

TOKEN = "a-token-that-is-never-shown"


@dataclass
class Salesforce:
    """What the server has and was asked. `page`: records of one answer; `fault(path)`: (status, body) in its place."""

    sandbox: Sandbox
    page: int = 7
    asked: list[tuple[str, str]] = field(default_factory=list)
    fault: Callable[[str], tuple[int, Any] | None] = lambda path: None
    pages: dict[str, list[Any]] = field(default_factory=dict)

    def answer(self, method: str, address: str, body: Any = None) -> tuple[int, Any]:
        parts = urlsplit(address)
        path, given = parts.path.split("/services/data/v61.0/", 1)[1], parse_qs(parts.query)
        self.asked.append((method, path))
        if found := self.fault(path):
            return found
        try:
            if path == "query/":
                return 200, self._query(given["q"][0])
            if path.startswith("query/"):
                return 200, self._take(path.removeprefix("query/"))
            if path == "search/":
                return 200, {"searchRecords": self.sandbox.sosl(given["q"][0], attributes=True)}
        except QueryError as fault:
            return 400, [{"errorCode": fault.code, "message": fault.message}]
        return 404, [{"errorCode": "NOT_FOUND", "message": "The requested resource does not exist"}]

    def _query(self, text: str) -> Any:
        records = self.sandbox.soql(text, attributes=True)
        if text.upper().startswith("SELECT COUNT() "):
            return {"totalSize": records[0]["expr0"], "done": True, "records": []}
        for record in records:
            for name, value in record.items():
                if isinstance(value, dict) and "records" in value:
                    record[name] = self._first(value["records"])
        return self._first(records)

    def _first(self, records: list[Any]) -> Any:
        key = f"01g{len(self.pages)}-0"
        self.pages[key] = records
        return self._take(key)

    def _take(self, key: str) -> Any:
        name, _, start = key.rpartition("-")
        records, first = self.pages[f"{name}-0"], int(start)
        last = first + self.page
        found = {"totalSize": len(records), "done": last >= len(records), "records": records[first:last]}
        if last < len(records):
            found["nextRecordsUrl"] = f"/services/data/v61.0/query/{name}-{last}"
        return found


def serve(organisation: Salesforce) -> ThreadingHTTPServer:
    """The server, not yet started; its address is `server_port` of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            length = int(self.headers["Content-Length"] or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                told = "Session expired or invalid"
                status, found = 401, [{"errorCode": "INVALID_SESSION_ID", "message": told}]
            else:
                status, found = organisation.answer(self.command, self.path, body)
            data = found.encode() if isinstance(found, str) else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _reply

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)
