#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Plays the drivers of virtual HCAs, for tests: `weftsim vm` executes it in place of qemu.

    weftsim vm -n NODE [-n NODE]... -- guest.py

It reads commands, one a line, from its standard input, and writes one line for each: "ok", "ok RESULT" or "no
REASON". N is 1 for the first node, 2 for the second.

    N hello                             starts the driver; waits for the welcome and the states
    N bye                               ends the driver
    N wait FIELD VALUE                  until this is in the state of port 1 (up to 20 s): state, lid, sm_lid,
                                        issm, reregistered
    N get FIELD                         prints it; also p_keys, description
    N mad HEX                           a MAD for the agents of the port; prints the answer
    N modify SET CLEAR [DESCRIPTION]    bits of the CapabilityMask
    N ud DLID QP P_KEY SIZE [OPTION]... a datagram of this number of bytes from QP 0x100. Options: sl=N, gid=GID (a GRH),
                                        count=N, slid=LID
    N got [SECONDS]                     waits for a datagram of QP 0x100; prints its size, P_Key, and "multicast" or
                                        "unicast"
    N silent                            no datagram arrives within half a second
    N join GID P_KEY                    joins a multicast group; prints its LID
    N perf LID                          PortCounters and PortCountersExtended of that LID: "xmit_words xmit_pkts rcv_words
                                        rcv_pkts unicast_xmit multicast_xmit discards"
    N violate KEY                       reports the last datagram for its P_Key (1) or Q_Key (2)
    N forge LID                         a trap 129 of the switch with this LID, by a directed route that ends at the
                                        neighbouring switch and goes on by LID
    N raw HEX                           bytes on the stream, as they are
    N packet HEX                        a packet
    N fuzz SEED COUNT                   frames of random and of damaged content
    N flood COUNT                       sends this many packets, and reads nothing
    N stop                              reads nothing from now on
    N end                               closes the stream
"""
import os
import random
import select
import socket
import struct
import sys
import time

ETHERTYPE = 0x88B5
HELLO, BYE, MAD, MODIFY, VIOLATION, WELCOME, ANSWER, STATE, PACKET = range(1, 10)
QPN = 0x100
Q_KEY = 0x0B1B


class Guest:
    def __init__(self, fd, mac):
        self.socket = socket.socket(fileno=fd)
        self.mac = mac
        self.bytes = b""
        self.welcome = None
        self.state = {}
        self.answers = {}
        self.packets = []
        self.last = None
        self.id = random.randrange(1 << 31)
        self.tid = random.randrange(1 << 31)
        self.reads = True
        self.fuzzed = False

    def frame(self, kind, port=0, body=b"", number=0):
        head = struct.pack(">BBBBHHI", 1, kind, port, 0, len(body), 0, number)
        ethernet = bytes.fromhex("027369 6d0000") + self.mac + struct.pack(">H", ETHERTYPE) + head + body
        self.raw(struct.pack(">I", len(ethernet)) + ethernet)

    def raw(self, data):
        self.socket.sendall(data)

    def read(self, seconds):
        """Takes what has arrived; waits for it up to this time."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError("the stream has ended")
        self.bytes += data
        while len(self.bytes) >= 4:
            length = struct.unpack(">I", self.bytes[:4])[0]
            if len(self.bytes) < 4 + length:
                break
            self.take(self.bytes[4:4 + length])
            self.bytes = self.bytes[4 + length:]
        return True

    def take(self, frame):
        if self.fuzzed and frame[:6] != self.mac:
            return
        assert frame[:6] == self.mac and len(frame) >= 60, "a frame for another interface, or too short"
        version, kind, port, _, size, _, number = struct.unpack(">BBBBHHI", frame[14:26])
        assert version == 1 and struct.unpack(">H", frame[12:14])[0] == ETHERTYPE
        body = frame[26:26 + size]
        if kind == WELCOME:
            self.welcome = body
        elif kind == STATE:
            self.state[port] = body
        elif kind == ANSWER:
            self.answers[number] = body
        elif kind == PACKET:
            self.packets.append(body)
        else:
            raise ValueError(f"a frame of type {kind}")

    def until(self, seconds, ready):
        end = time.monotonic() + seconds
        while not ready():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.read(left)
        return True

    def request(self, kind, port, body):
        """Repeats the request, as a driver does, which must not execute it twice."""
        self.id += 1
        self.frame(kind, port, body, self.id)
        self.frame(kind, port, body, self.id)
        if not self.until(10, lambda: self.id in self.answers):
            raise TimeoutError("no answer")
        return self.answers.pop(self.id)

    def field(self, name):
        info = self.state[1][4:68]
        ports, keys, guids = struct.unpack(">B3xHH", self.welcome[24:32])
        lid, sm_lid, mask = struct.unpack(">HHI", info[16:24])
        tables = self.state[1][68:]
        values = {
            "state": ("none", "down", "init", "armed", "active")[info[32] & 15],
            "lid": lid,
            "sm_lid": sm_lid,
            "issm": mask >> 1 & 1,
            "mask": f"0x{mask:08x}",
            "m_key": info[:8].hex(),
            "reregistered": struct.unpack(">I", self.state[1][:4])[0],
            "ports": ports,
            "guid": tables[:8].hex(),
            "p_keys": ",".join(f"0x{k:04x}" for k in struct.unpack(f">{keys}H", tables[8 * guids:]) if k),
            "description": self.welcome[32:].rstrip(b"\0").decode(),
        }
        assert len(tables) == 8 * guids + 2 * keys
        return str(values[name])

    def gid(self):
        return b"\xfe\x80" + bytes(6) + self.state[1][68:76]

    def packet(self, dlid, qp, p_key, payload, source=QPN, q_key=Q_KEY, sl=0, dgid=None, slid=None, vl=0):
        pad = -len(payload) % 4
        rest = struct.pack(">BBHIIII", 0x64, 0x40 | pad << 4, p_key, qp, 0, q_key, source) + payload + bytes(pad)
        grh = b""
        if dgid:
            grh = struct.pack(">IHBB", 6 << 28, len(rest) + 4, 0x1B, 1) + self.gid() + dgid
        lrh = struct.pack(">BBHHH", vl << 4, sl << 4 | (3 if dgid else 2), dlid, (8 + len(grh) + len(rest) + 4) // 4,
                          int(self.field("lid")) if slid is None else slid)
        return lrh + grh + rest

    def parse(self, packet):
        """The transport part of a packet: QPs, P_Key, payload. Its lengths must be right."""
        words = struct.unpack(">H", packet[4:6])[0]
        assert words * 4 == len(packet) + 4, "PktLen is wrong"
        start = 48 if packet[1] & 3 == 3 else 8
        opcode, flags, p_key, qp, _, q_key, source = struct.unpack(">BBHIIII", packet[start:start + 20])
        payload = packet[start + 20:]
        return qp & 0xFFFFFF, source & 0xFFFFFF, p_key, payload[:len(payload) - (flags >> 4 & 3)]

    def next(self, qps, seconds):
        """The first packet for one of these QPs; others stay."""
        found = []

        def ready():
            for number, packet in enumerate(self.packets):
                if self.parse(packet)[0] in qps:
                    found.append(self.packets.pop(number))
                    return True
            return False

        return found[0] if self.until(seconds, ready) else None

    def ask(self, lid, mad):
        """Sends a GMP, up to three times, and returns the answer."""
        for _ in range(3):
            self.frame(PACKET, 1, self.packet(lid, 1, 0xFFFF if "0xffff" in self.field("p_keys") else 0x7FFF, mad, 1,
                                              0x80010000))
            end = time.monotonic() + 3
            while time.monotonic() < end:
                packet = self.next((1,), 1)
                if packet and self.parse(packet)[3][8:16] == mad[8:16]:
                    return self.parse(packet)[3]
        raise TimeoutError(f"LID {lid} does not answer")

    def mad(self, mgmt_class, version, method, attribute, data, offset):
        self.tid += 1
        head = struct.pack(">BBBBHHQHHI", 1, mgmt_class, version, method, 0, 0, self.tid, attribute, 0, 0)
        return (head + bytes(offset - len(head)) + data).ljust(256, b"\0")

    def join(self, gid, p_key):
        record = bytearray(52)
        record[0:16], record[16:32] = gid, self.gid()
        record[32:36] = struct.pack(">I", Q_KEY)
        record[38:42] = bytes([0x80 | 4, 0]) + struct.pack(">H", p_key)
        record[48] = 1
        mad = bytearray(self.mad(3, 2, 2, 0x38, bytes(record), 56))
        mask = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 16
        mad[48:56] = struct.pack(">Q", mask)
        answer = self.ask(int(self.field("sm_lid")), bytes(mad))
        status = struct.unpack(">H", answer[4:6])[0]
        if status:
            raise ValueError(f"the SA answers status 0x{status:04x}")
        return struct.unpack(">H", answer[56 + 36:56 + 38])[0]

    def perf(self, lid):
        def get(attribute):
            return self.ask(lid, self.mad(4, 1, 1, attribute, b"\0\1\xff\xff", 64))[64:]

        short, extended = get(0x12), get(0x1D)
        traffic = struct.unpack(">8Q", extended[8:72])
        discards = struct.unpack(">H", short[14:16])[0]
        return [traffic[0], traffic[2], traffic[1], traffic[3], traffic[4], traffic[6], discards]


def gid_bytes(text):
    return socket.inet_pton(socket.AF_INET6, text)


def hello(guest):
    guest.welcome, guest.state = None, {}
    guest.frame(HELLO, 0, b"", random.randrange(1 << 31))
    if not guest.until(10, lambda: guest.welcome and len(guest.state) == guest.welcome[24]):
        return "no welcome"


def ud(guest, dlid, qp, p_key, size, *options):
    options = dict(option.split("=", 1) for option in options)
    payload = bytes(n & 0xFF for n in range(int(size)))
    dgid = gid_bytes(options["gid"]) if "gid" in options else None
    packet = guest.packet(int(dlid, 0), int(qp, 0), int(p_key, 0), payload, sl=int(options.get("sl", 0)), dgid=dgid,
                          slid=int(options["slid"]) if "slid" in options else None)
    for _ in range(int(options.get("count", 1))):
        guest.frame(PACKET, 1, packet)


def got(guest, seconds="5"):
    packet = guest.next((QPN, 0xFFFFFF), float(seconds))
    if not packet:
        return "no datagram"
    qp, source, p_key, payload = guest.parse(packet)
    if payload != bytes(n & 0xFF for n in range(len(payload))) or source != QPN:
        return "another content"
    guest.last = packet
    return True, f"{len(payload)} 0x{p_key:04x} {'multicast' if qp == 0xFFFFFF else 'unicast'}"


def silent(guest):
    packet = guest.next((QPN, 0xFFFFFF), 0.5)
    return f"a datagram of {len(packet)} bytes" if packet else None


def fuzz(guest, seed, count):
    dice = random.Random(int(seed))
    guest.fuzzed = True
    good = [guest.packet(1, QPN, 0xFFFF, bytes(64)), guest.packet(1, 1, 0xFFFF, bytes(256), 1, 0x80010000),
            guest.packet(0xFFFF, 0, 0xFFFF, bytes([1, 0x81, 1, 1]) + bytes(252), 0, 0, vl=15),
            guest.packet(0xC000, 0xFFFFFF, 0xFFFF, bytes(64), dgid=b"\xff" + bytes(15)), bytes(256), bytes(76), b""]
    for _ in range(int(count)):
        body = bytearray(dice.choice(good))
        for _ in range(dice.randint(0, 8)):
            if body:
                body[dice.randrange(len(body))] = dice.randrange(256)
        if dice.random() < 0.3:
            body = body[:dice.randint(0, len(body))]
        frame = bytearray(bytes(6) + guest.mac + struct.pack(">HBBBBHHI", ETHERTYPE, 1, dice.randint(0, 10), dice.randint(0, 3),
                                                            0, len(body), 0, dice.randrange(4)) + body)
        if dice.random() < 0.3:
            frame[dice.randrange(len(frame))] = dice.randrange(256)
        if dice.random() < 0.1:
            frame = frame[:dice.randint(0, len(frame))]
        guest.raw(struct.pack(">I", len(frame)) + frame)
        if not dice.randrange(16):
            guest.read(0)


def flood(guest, count):
    packet = guest.packet(int(guest.field("lid")), QPN, 0xFFFF, bytes(2048))
    for _ in range(int(count)):
        guest.frame(PACKET, 1, packet)


def wait(guest, name, value):
    if not guest.until(20, lambda: guest.state.get(1) and guest.field(name) == value):
        return f"{name} is {guest.field(name)}"


def violate(guest, key):
    guest.frame(VIOLATION, 1, bytes([int(key), 0, 0, 0]) + guest.last[:80])


def forge(guest, lid):
    notice = struct.pack(">BBHHHHHHB", 0x81, 0, 2, 129, int(lid), 0, 0, int(lid), 1).ljust(64, b"\0")
    head = struct.pack(">BBBBHBBQHHIQHH28x", 1, 0x81, 1, 5, 0, 1, 1, 0x4711, 2, 0, 0, 0, 0xFFFF, int(guest.field("sm_lid")))
    guest.frame(PACKET, 1, guest.packet(0xFFFF, 0, 0xFFFF, (head + notice + bytes([0, 1])).ljust(256, b"\0"), 0, 0, slid=0xFFFF,
                                        vl=15))


def modify(guest, to_set, clear, description=""):
    text = description.encode().ljust(64, b"\0")
    guest.request(MODIFY, 1, struct.pack(">IIB3x64s", int(to_set, 0), int(clear, 0), bool(description), text))


def stop(guest):
    guest.reads = False


COMMANDS = {
    "hello": hello,
    "bye": lambda guest: guest.frame(BYE),
    "wait": wait,
    "get": lambda guest, name: (guest.read(0), guest.field(name)),
    "mad": lambda guest, text: (True, guest.request(MAD, 1, bytes.fromhex(text)).hex() or "none"),
    "forge": forge,
    "modify": modify,
    "ud": ud,
    "got": got,
    "silent": silent,
    "join": lambda guest, gid, p_key: (True, f"0x{guest.join(gid_bytes(gid), int(p_key, 0)):04x}"),
    "perf": lambda guest, lid: (True, " ".join(map(str, guest.perf(int(lid))))),
    "violate": violate,
    "raw": lambda guest, text: guest.raw(bytes.fromhex(text)),
    "packet": lambda guest, text: guest.frame(PACKET, 1, bytes.fromhex(text)),
    "fuzz": fuzz,
    "flood": flood,
    "stop": stop,
    "end": lambda guest: guest.socket.shutdown(socket.SHUT_RDWR),
}


def main():
    guests = []
    for option, netdev in zip(sys.argv, sys.argv[1:]):
        if option == "-netdev":
            parts = dict(part.split("=", 1) for part in netdev.split(",")[1:])
            mac = bytes.fromhex("0277656674") + bytes([len(guests) + 1])
            assert any(f"netdev={parts['id']},mac={mac.hex(':')}," in word for word in sys.argv)
            guests.append(Guest(int(parts["fd"]), mac))
    print(f"ok {len(guests)} nodes", flush=True)
    commands, rest = sys.stdin.fileno(), b""
    while True:
        for guest in guests:
            if guest.reads and guest.socket.fileno() >= 0:
                try:
                    guest.read(0)
                except EOFError:
                    guest.reads = False
        if not select.select([commands], [], [], 0.02)[0]:
            continue
        data = os.read(commands, 65536)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            number, name, *words = line.decode().split()
            try:
                result = COMMANDS[name](guests[int(number) - 1], *words)
            except (OSError, EOFError, ValueError, KeyError, AssertionError, TimeoutError) as error:
                result = f"{type(error).__name__}: {error}"
            if isinstance(result, tuple):
                print("ok", result[1], flush=True)
            else:
                print("no " + result if result else "ok", flush=True)


main()
