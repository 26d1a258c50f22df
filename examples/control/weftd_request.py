#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Sends one request to weftd and prints the answer (docs/control-socket.md).

    weftd_request.py 'node list'
    weftd_request.py 'port show' node=leaf-01 port=3
    weftd_request.py 'partition add' p_key=0x8001 name=blue ipoib:=true

NAME=TEXT gives an argument as text, NAME:=JSON as JSON. WEFT_SOCKET names the socket.
"""
import json
import os
import socket
import sys


class Refused(Exception):
    """weftd refused the request; the text has the object, the reason and the remedy."""


def request(path, command, **arguments):
    """Yields each part of the answer, then the result."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        stream = connection.makefile("rw", encoding="utf-8")
        stream.write(json.dumps({"command": command, **arguments}) + "\n")
        stream.flush()
        for line in stream:
            answer = json.loads(line)
            if "part" in answer:
                yield answer["part"]
            elif answer["ok"]:
                yield answer["result"]
                return
            else:
                raise Refused(answer["error"])
        raise ConnectionError("weftd closed the connection before its answer was complete")


def argument(word):
    name, separator, value = word.partition("=")
    if not separator:
        sys.exit(f"{word}: expected NAME=TEXT or NAME:=JSON")
    return (name[:-1], json.loads(value)) if name.endswith(":") else (name, value)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] in ("-h", "--help"):
        print(__doc__, end="")
        return
    path = os.environ.get("WEFT_SOCKET", "/run/weft/control.sock")
    try:
        for part in request(path, sys.argv[1], **dict(map(argument, sys.argv[2:]))):
            if part is not None:
                print(json.dumps(part, indent=2))
    except (OSError, Refused) as error:
        sys.exit(f"{sys.argv[0]}: {error}")


if __name__ == "__main__":
    main()
