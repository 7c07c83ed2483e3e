"""A device that publishes numbers by MQTT, until SIGTERM. Then it waits until all are
acknowledged, and writes the last of them.

    device.py PORT PROTOCOL QOS FILE

PROTOCOL is 5 or 311. Its session lasts, and it connects again whenever it has to.
"""

import json
import signal
import sys
import threading
import time

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

FIRST = 1 << 32  # numbers of the first producer, as the checker of the tests wants them
IN_FLIGHT = 20


class Client(mqtt.Client):
    """Paho 1.6 with a mend: when it connects in vain, it forgets which messages of quality 2 the
    other side has confirmed to have, and publishes them once more."""

    def _messages_reconnect_reset_out(self):
        for message in self._out_messages.values():
            if message.state == mqtt.mqtt_ms_resend_pubrel:
                message.state = mqtt.mqtt_ms_wait_for_pubcomp
        super()._messages_reconnect_reset_out()


def connect(port, protocol):
    if protocol == "5":
        client = Client("device", protocol=mqtt.MQTTv5)
        properties = Properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = 3600
        more = {"clean_start": False, "properties": properties}
    else:
        client = Client("device", clean_session=False, protocol=mqtt.MQTTv311)
        more = {}
    client.reconnect_delay_set(0.02, 0.2)
    client.connect_async("127.0.0.1", port, keepalive=10, **more)
    return client


def main():
    port, protocol, qos, file = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    room = threading.Semaphore(IN_FLIGHT)
    client = connect(port, protocol)
    client.on_publish = lambda *_: room.release()
    client.loop_start()
    last = 0
    while not ended.is_set():
        if not room.acquire(timeout=0.1):
            continue
        last += 1
        client.publish("plant/A1/A", json.dumps({"v": FIRST + last}), qos=qos)
    until = time.monotonic() + 60
    for _ in range(IN_FLIGHT):
        if not room.acquire(timeout=max(0, until - time.monotonic())):
            sys.exit("not all numbers were acknowledged within a minute")
    client.disconnect()
    client.loop_stop()
    with open(file, "w", encoding="utf-8") as out:
        out.write(str(last))


main()
