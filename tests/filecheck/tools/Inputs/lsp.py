"""Speaks with qd-lsp-server as an editor does, and prints what it answers, for FileCheck.

    lsp.py FILE

opens the file, and a broken copy of it; then asks at each place that a comment of the file marks:

    %sum = qd.simt.reduce add %v : i32
    //             ^hover
    //                        ^definition

A mark's caret stands below the character that the editor's cursor is on. Other comments may stand between the two.
"""

import json
import pathlib
import re
import subprocess
import sys
import threading

# Far beyond any answer: a server that hangs is a failure, not a wait.
TIMEOUT = 60

MARK = re.compile(r"^\s*//.*\^(hover|definition)\s*$")


class Server:
    """A running server and its messages."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.watchdog = threading.Timer(TIMEOUT, self.process.kill)
        self.watchdog.start()
        self.requests = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = None
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":", 1)
            if name == b"Content-Length":
                length = int(value)
        if length is None:
            sys.exit(f"the server ended, with {self.process.wait()}")
        return json.loads(self.process.stdout.read(length))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.requests += 1
        self.send({"id": self.requests, "method": method, "params": params})
        while True:
            answer = self.receive()
            if answer.get("id") == self.requests:
                return answer["result"]

    def open(self, uri, text):
        """Opens a document and returns its diagnostics."""
        document = {"uri": uri, "languageId": "mlir", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                if message["params"]["uri"] == uri:
                    return message["params"]["diagnostics"]

    def close(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.stdin.close()
        status = self.process.wait()
        self.watchdog.cancel()
        print(f"exit {status}")


def place(position):
    """As an editor shows it: lines and columns from 1."""
    return f"{position['line'] + 1}:{position['character'] + 1}"


def marks(text):
    """What is asked, and where: the last line above that is no comment, the caret's column."""
    code = 0
    for number, line in enumerate(text.splitlines()):
        if mark := MARK.match(line):
            yield mark.group(1), {"line": code, "character": line.index("^")}
        elif not line.lstrip().startswith("//"):
            code = number


def main(path):
    uri = pathlib.Path(path).resolve().as_uri()
    text = pathlib.Path(path).read_text(encoding="utf-8")
    server = Server(["qd-lsp-server"])
    capabilities = server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    for name in ["hoverProvider", "definitionProvider", "referencesProvider"]:
        print(name, bool(capabilities["capabilities"].get(name)))
    server.notify("initialized", {})

    # A tile wider than any subgroup, in another document.
    for diagnostic in server.open(uri.replace(".mlir", ".broken.mlir"), text.replace("tile(3)", "tile(9)")):
        print("diagnostic", place(diagnostic["range"]["start"]), diagnostic["message"])

    print("diagnostics", len(server.open(uri, text)))
    for what, position in marks(text):
        where = {"textDocument": {"uri": uri}, "position": position}
        answer = server.request(f"textDocument/{what}", where)
        print(what, place(position))
        if what == "hover":
            print(answer["contents"]["value"])
        else:
            for location in answer:
                print("at", place(location["range"]["start"]))
    server.close()


main(sys.argv[1])
