"""A Python function as the system under test, sync or async."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import inspect
import json
import sys
import threading
import traceback
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from judgekit.errors import (
    BudgetExceededError,
    FrozenCacheError,
    SettingsError,
    StoreError,
    UnknownNameError,
)
from judgekit.records import Case, JsonObject, Output
from judgekit.targets.target import TargetCall, call_timeout_s

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from types import ModuleType

    Begin = Callable[[], Awaitable[object]]

# These end the whole run (no money left, a reply that is not cached or cannot be stored), so that
# they must not become the error of one case.
_PASSED_ON = (BudgetExceededError, FrozenCacheError, StoreError)
# `sys.path` and `sys.modules` belong to the process: two targets must not change them at once.
_importing = threading.Lock()
_GRACE_S = 1.0

# A loop that begins no call for so long, or so large a share of the limit, is blocked.
_SHARE_OF_LIMIT = 0.25


class PythonTarget:
    """Calls a function with each case, with `repeat` and `variant` where it has such a parameter.

    A function that is not async runs in a thread of its own; all calls of one that is run in one
    event loop in a thread beside the run's, so that they may share their clients. One that hangs
    cannot be killed: its thread is left behind after the timeout, and the run continues.
    """

    def __init__(
        self,
        variant: str,
        function: str,
        *,
        folder: Path,
        timeout_s: float,
        about: JsonObject | None = None,
    ) -> None:
        self.id = variant
        self._folder = folder.resolve()
        self._timeout_s = timeout_s
        self._function = _load_function(function, self._folder)
        self._is_async = inspect.iscoroutinefunction(self._function)
        own: JsonObject = {"variant": {"id": variant} if about is None else about}
        self._named = own if _accepts_parameter(self._function, "variant") else {}
        self._takes_repeat = _accepts_parameter(self._function, "repeat")
        self._loop = EventLoopThread(grace_s=min(_GRACE_S, timeout_s * _SHARE_OF_LIMIT))

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        call = TargetCall(case, self.id, folder=self._folder)
        named = {**self._named, "repeat": repeat} if self._takes_repeat else self._named
        deadline_s = call_timeout_s(case, self._timeout_s)
        deadline = asyncio.timeout(deadline_s)
        try:
            async with deadline:
                returned = await self._called(case, named)
        except _PASSED_ON:
            raise
        except asyncio.CancelledError:
            # A cancelled run must stop; a function that cancels itself is only an error of its
            # case.
            task = asyncio.current_task()
            if task is not None and task.cancelling() > 0:
                raise
            return call.failed("cancelled", "the function was cancelled from inside")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's function may raise anything
            if isinstance(error, TimeoutError) and deadline.expired():
                message = f"the function took longer than {deadline_s:g} s"
                if await self._loop.is_blocked():
                    message += (
                        ": it blocks its event loop, so that other calls wait as well; await what "
                        "takes long, or write `def` in the place of `async def`"
                    )
                return call.failed("timeout", message)
            return call.failed("exception", _error_message(error, self._folder))
        return _output(returned, call)

    async def aclose(self) -> None:
        await self._loop.aclose()

    async def _called(self, case: Case, named: JsonObject) -> object:
        if self._is_async:
            return await self._loop.run(
                lambda: cast("Awaitable[object]", self._function(case, **named))
            )
        returned = await _in_thread(lambda: self._function(case, **named))
        # A plain function may return a coroutine: a lambda around an async one, for example.
        if inspect.isawaitable(returned):
            return await self._loop.run(lambda: returned)
        return returned


def _load_function(function: str, folder: Path) -> Callable[..., object]:
    module_name, _, name = function.partition(":")
    with _importing, _folder_first_on_path(folder, module_name.partition(".")[0]):
        try:
            module = importlib.import_module(module_name)
        except (Exception, SystemExit) as error:
            raise SettingsError(
                f"{function} cannot be imported: {_error_message(error, folder)}",
                hint=f"modules are looked for in {folder} and in the installed packages",
            ) from error
    if not hasattr(module, name):
        public = (other for other in vars(module) if not other.startswith("_"))
        raise UnknownNameError(f"function in {module_name}", name, public)
    found: Callable[..., object] = getattr(module, name)
    if not callable(found):
        raise SettingsError(f"{function} is a {type(found).__name__}, not a function")
    return found


@contextmanager
def _folder_first_on_path(folder: Path, root: str) -> Iterator[None]:
    """The folder first on `sys.path`, and no module of another folder in the way of its own."""
    place = str(folder)
    sys.path.insert(0, place)
    importlib.invalidate_caches()
    # Two suites may each have an `app.py`; the one that was imported first must not answer for
    # both.
    hidden = _modules_from_elsewhere(root, folder)
    for name in hidden:
        del sys.modules[name]
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.path.remove(place)
        for name, module in hidden.items():
            sys.modules[name] = module


def _modules_from_elsewhere(root: str, folder: Path) -> dict[str, ModuleType]:
    """Loaded modules with the name of one that the folder has too, but from elsewhere."""
    own = (folder / f"{root}.py", folder / root / "__init__.py")
    loaded = getattr(sys.modules.get(root), "__file__", None)
    if not any(path.is_file() for path in own) or loaded is None or Path(loaded) in own:
        return {}
    return {
        name: module
        for name, module in sys.modules.items()
        if name == root or name.startswith(f"{root}.")
    }


def _accepts_parameter(function: Callable[..., object], name: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not say
        return False
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)


async def _in_thread(call: Callable[[], object]) -> object:
    # A thread of an executor would hold up the end of the loop, and of the program, where the call
    # hangs; this one is abandoned.
    # As a result, not as an exception: asyncio would replace some of those.
    done: Future[_Outcome] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        if not done.set_running_or_notify_cancel():
            return  # no caller waits any more
        try:
            done.set_result((context.run(call), None))
        except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
            done.set_result((None, _settable(error)))

    threading.Thread(target=work, name="judgekit-target", daemon=True).start()
    returned, raised = await asyncio.wrap_future(done)
    if raised is not None:
        raise raised
    return returned


def _output(returned: object, call: TargetCall) -> Output:
    if isinstance(returned, Output):
        return call.with_details(returned)
    if isinstance(returned, str):
        return call.with_details(Output(text=returned))
    if not isinstance(returned, dict):
        message = f"the function returned a {type(returned).__name__}"
        return call.failed("unreadable", f"{message}, not a str, a dict or an Output")
    try:
        # Through JSON text, so that a dict is read by the same rules as the output of a program.
        raw = json.dumps(returned, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return call.failed("unreadable", f"the function returned a dict that is not JSON: {error}")
    return call.read_bytes(raw.encode(), source="what the function returned")


def _error_message(error: BaseException, folder: Path) -> str:
    """Type, message and place of an error: the last place in the suite's own folder."""
    text, name = str(error), type(error).__name__
    message = f"{name}: {text}" if text else name
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    if not own and not frames:
        return message
    # The last frame is often deep in a library; the user can change the last one in the own folder.
    last = (own or frames)[-1]
    return f"{message} ({last.filename}:{last.lineno})"


class EventLoopThread:
    """Runs a user's coroutines in one loop, so that they can share their clients.

    Where one of them blocks the loop, those that were not begun yet, and all that come later, get
    a new loop in another thread; those beside it wait with it, each until its own deadline.
    """

    def __init__(self, *, grace_s: float, patience_s: float = 1.0) -> None:
        self._grace_s = grace_s
        # How long the end of a loop is waited for; one that is blocked is left behind.
        self._patience_s = patience_s
        self._served: _LoopThread | None = None
        self._blocked: list[_LoopThread] = []

    async def run(self, begin: Begin) -> object:
        while True:
            served = self._served = self._served or _LoopThread()
            begun: Future[None] = Future()
            ended = served.result(begin, begun)
            if await self._is_begun(begun, ended):
                returned, raised = await ended
                if raised is not None:
                    raise raised
                return returned
            # Nothing more is started in a blocked loop; what was started in it continues.
            if self._served is served:
                self._served = None
                self._blocked.append(served)

    async def is_blocked(self) -> bool:
        """Whether a call has blocked its loop so far, or does at present."""
        if self._blocked or self._served is None:
            return bool(self._blocked)
        # That shows only in whether it begins another call.
        begun: Future[None] = Future()
        ended = self._served.result(lambda: asyncio.sleep(0), begun)
        return not await self._is_begun(begun, ended)

    async def aclose(self) -> None:
        """Cancel what still runs there, and end the loops; one that is blocked ends later."""
        left, self._blocked = self._blocked, []
        served, self._served = self._served, None
        for one in (*left, *(() if served is None else (served,))):
            one.stop()
        if served is not None:
            await asyncio.wait({asyncio.wrap_future(served.ended)}, timeout=self._patience_s)

    async def _is_begun(self, begun: Future[None], ended: asyncio.Future[_Outcome]) -> bool:
        """Whether a call was begun, or called off by the end; one that was not will not be."""
        try:
            waiting: set[asyncio.Future[Any]] = {asyncio.wrap_future(begun), ended}
            await asyncio.wait(waiting, timeout=self._grace_s, return_when="FIRST_COMPLETED")
        except asyncio.CancelledError:
            begun.cancel()
            ended.cancel()
            raise
        # A future that was begun cannot be cancelled any more.
        return ended.cancelled() or not begun.cancel()


_Outcome = tuple[object, BaseException | None]


async def _outcome(begin: Begin, begun: Future[None]) -> _Outcome:
    """A result or an error: what ends a program would end the loop of all calls."""
    if not begun.set_running_or_notify_cancel():
        return None, None
    begun.set_result(None)
    try:
        return await begin(), None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
        return None, _settable(error)


class _LoopThread:
    def __init__(self) -> None:
        self.ended: Future[None] = Future()
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        threading.Thread(target=self._serve, name="judgekit-target-loop", daemon=True).start()

    def result(self, begin: Begin, begun: Future[None]) -> asyncio.Future[_Outcome]:
        running = asyncio.run_coroutine_threadsafe(_outcome(begin, begun), self._loop)
        return asyncio.wrap_future(running)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._runner.close()
            if self.ended.set_running_or_notify_cancel():
                self.ended.set_result(None)


def _settable(error: BaseException) -> BaseException:
    """An exception that a future takes, and that does not end the whole program."""
    # A future refuses StopIteration, and the other two would end the thread of all calls.
    if not isinstance(error, StopIteration | KeyboardInterrupt | GeneratorExit):
        return error
    message = f"the function raised {type(error).__name__}"
    return RuntimeError(message).with_traceback(error.__traceback__)
