from __future__ import annotations

import threading

from mathamr.core.storage.sharedlock import SharedLock


def test_nobody_reads_while_one_changes() -> None:
    lock, inside, wrong = SharedLock(), [0], []

    def read() -> None:
        for _ in range(300):
            with lock.shared(), lock.shared():
                before = inside[0]
                if before % 2 or inside[0] != before:
                    wrong.append(before)

    def change() -> None:
        for _ in range(100):
            with lock.alone(), lock.alone(), lock.shared():
                inside[0] += 1
                inside[0] += 1

    threads = [threading.Thread(target=work) for work in (read, read, read, change, change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert inside[0] == 400


def test_a_change_waits_for_those_who_read_and_is_not_kept_waiting_by_later_ones() -> None:
    lock, reading, order = SharedLock(), threading.Event(), []
    release = threading.Event()

    def read() -> None:
        with lock.shared():
            reading.set()
            release.wait()
            order.append("read")

    def change() -> None:
        with lock.alone():
            order.append("changed")

    first, second = threading.Thread(target=read), threading.Thread(target=change)
    first.start()
    reading.wait()
    second.start()
    while not lock._waiting:
        pass
    third = threading.Thread(target=read)
    third.start()
    release.set()
    for thread in (first, second, third):
        thread.join()
    assert order == ["read", "changed", "read"]
