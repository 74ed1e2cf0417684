"""Worker processes that turn blocks of text into sorted runs.

Which worker gets a block does not matter: a sentence's key comes from the block's number, so the merged corpus is the
same for any number of workers. With one job the work is done in the calling process.
"""

import multiprocessing
import multiprocessing.connection
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext, ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

import numpy as np

from fewwords.corpus.runs import RunBuilder, ordered_keys, shuffle_keys
from fewwords.corpus.settings import Settings
from fewwords.errors import InputError
from fewwords.text.formats import Block
from fewwords.text.segment import Segmenter, Tally

RUN_WORDS = 4_000_000
MOST_TYPES = 400_000
_BLOCKS_AHEAD = 2


class Workers(Protocol):
    """Takes blocks; returns how many words were kept since the last call."""

    def work_on(self, block: Block) -> int: ...
    def finish(self) -> tuple[int, Tally]: ...


class LocalWorker:
    """Does the work in this process."""

    def __init__(self, settings: Settings, folder: Path, shuffle: bool, name: str = "run-0") -> None:
        self._settings = settings
        self._shuffle = shuffle
        self._segmenter = Segmenter(settings.rules, settings.limits, strict=settings.strict)
        self._builder = RunBuilder(folder, name, dedup=settings.dedup, seed=settings.seed)

    def work_on(self, block: Block) -> int:
        """Turn a block into kept sentences; returns how many words they have."""
        tokens, lengths = self._segmenter.segment(block)
        if lengths:
            if self._shuffle:
                keys = shuffle_keys(block.number, len(lengths), self._settings.seed)
            else:
                keys = ordered_keys(block.part, block.number, len(lengths))
            self._builder.add(tokens, np.array(lengths, dtype=np.int64), keys)
            if self._builder.num_words >= RUN_WORDS:
                self._builder.flush(self._segmenter.lexicon)
                if len(self._segmenter.lexicon) > MOST_TYPES:
                    self._segmenter.forget()
        return len(tokens) // 4

    def finish(self) -> tuple[int, Tally]:
        """Write what is left; returns the words not yet reported (none), and the tally."""
        self._builder.flush(self._segmenter.lexicon)
        return 0, self._segmenter.tally


def _serve(
    connection: Connection, parents: Connection, settings: Settings, folder: Path, shuffle: bool, name: str
) -> None:
    """The main loop of a worker process: blocks in, numbers of words out, `None` to finish."""
    parents.close()  # a worker that had the other end too would wait for ever, and hold the lock, if its parent is killed
    try:
        worker = LocalWorker(settings, folder, shuffle, name)
        while (block := connection.recv()) is not None:
            connection.send(worker.work_on(block))
        connection.send(worker.finish()[1])
    except (KeyboardInterrupt, EOFError, ConnectionError):
        pass  # the parent has ended or is ending
    except (InputError, OSError, MemoryError) as error:
        connection.send(error)
    except BaseException:
        connection.send(RuntimeError(traceback.format_exc()))


def _context() -> "ForkContext | ForkServerContext | SpawnContext":
    """The fastest safe way to start processes: a plain fork only where no other thread can hold a lock."""
    if os.name != "posix":
        return multiprocessing.get_context("spawn")
    if sys.platform.startswith("linux") and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fewwords.corpus.workers"])
    return context


class ProcessWorkers:
    """Hands blocks to processes, so that each always has its next block waiting."""

    def __init__(self, settings: Settings, folder: Path, shuffle: bool, jobs: int) -> None:
        context = _context()
        self._processes: dict[Connection, BaseProcess] = {}
        self._waiting: dict[Connection, int] = {}
        for number in range(jobs):
            ours, theirs = context.Pipe()
            arguments = (theirs, ours, settings, folder, shuffle, f"run-{number}")
            process = context.Process(target=_serve, args=arguments, daemon=True)
            with warnings.catch_warnings():
                # newer Pythons warn about the threads of numpy's linear algebra, which the workers do not use
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            theirs.close()
            self._processes[ours] = process
            self._waiting[ours] = 0

    def work_on(self, block: Block) -> int:
        """Give a block to the least busy process, waiting if all are busy."""
        num_words = 0
        while min(self._waiting.values()) >= _BLOCKS_AHEAD:
            num_words += self._collect()
        connection = min(self._waiting, key=self._waiting.__getitem__)
        self._send(connection, block)
        self._waiting[connection] += 1
        return num_words

    def finish(self) -> tuple[int, Tally]:
        """Wait for all blocks; returns the words not yet reported, and the tally of all processes."""
        num_words = 0
        while any(self._waiting.values()):
            num_words += self._collect()
        tally = Tally()
        for connection in self._processes:
            self._send(connection, None)
        for connection in self._processes:
            result = self._receive(connection)
            assert isinstance(result, Tally)
            tally.add(result)
        return num_words, tally

    def stop(self) -> None:
        """End the processes, whatever they are doing."""
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
            process.join()

    def _collect(self) -> int:
        num_words = 0
        for connection in multiprocessing.connection.wait(list(self._processes)):
            assert isinstance(connection, Connection)
            result = self._receive(connection)
            assert isinstance(result, int)
            num_words += result
            self._waiting[connection] -= 1
        return num_words

    def _send(self, connection: Connection, message: Block | None) -> None:
        try:
            connection.send(message)
        except ConnectionError:
            while True:
                self._receive(connection)  # first what was still in the pipe, finally the error that ended the process

    def _receive(self, connection: Connection) -> object:
        try:
            result: object = connection.recv()
        except (EOFError, ConnectionError):
            self._processes[connection].join()
            code = self._processes[connection].exitcode
            raise InputError(f"a worker process died (exit code {code}); if memory ran out, use fewer `jobs`") from None
        if isinstance(result, BaseException):
            raise result
        return result


@contextmanager
def start_workers(settings: Settings, folder: Path, shuffle: bool, jobs: int) -> Iterator[Workers]:
    """Workers for the duration of the block."""
    if jobs == 1:
        yield LocalWorker(settings, folder, shuffle)
        return
    workers = ProcessWorkers(settings, folder, shuffle, jobs)
    try:
        yield workers
    finally:
        workers.stop()
