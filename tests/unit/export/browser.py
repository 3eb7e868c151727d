"""A page in headless Chromium, driven over the DevTools protocol through pipes: no port, no network, no display."""
import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time

PATIENCE_SECONDS = 60


class Page:
    def __init__(self, width=1000, height=700):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._commands = os.pipe()
        self._answers, from_browser = os.pipe()

        def place():
            # The protocol uses 3 and 4, which one of the pipes may already have.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            high = [os.dup2(fd, fd + 100, inheritable=True) for fd in (reading, writing)]
            os.dup2(high[0], 3, inheritable=True)
            os.dup2(high[1], 4, inheritable=True)

        self._browser = subprocess.Popen(
            ['chromium', '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
             '--disable-background-networking', '--disable-component-update', '--disable-extensions',
             f'--user-data-dir={self._profile.name}', f'--window-size={width},{height}', '--remote-debugging-pipe',
             'about:blank'],
            preexec_fn=place, close_fds=False, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._unread = b''
        self._number = 0
        self._session = None
        self.requests = []  # addresses that the page asked for
        target = self._call('Target.createTarget', url='about:blank')['targetId']
        self._session = self._call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Network', 'Runtime'):
            self._call(domain + '.enable')
        self._call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, path):
        self._call('Page.navigate', url=pathlib.Path(path).as_uri())
        self.wait_for("document.readyState === 'complete' && document.title.startsWith('hawktrace')")

    def close(self):
        """Ends the browser."""
        self._session = None
        with contextlib.suppress(RuntimeError, OSError):
            self._call('Browser.close')
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._browser.wait(PATIENCE_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._browser.pid, signal.SIGKILL)  # what it has started, too
        self._browser.wait()
        os.close(self._commands)
        os.close(self._answers)
        self._profile.cleanup()

    def _call(self, method, **parameters):
        self._number += 1
        message = {'id': self._number, 'method': method, 'params': parameters}
        if self._session:
            message['sessionId'] = self._session
        os.write(self._commands, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._next_message()
            if answer.get('method') == 'Network.requestWillBeSent':
                self.requests.append(answer['params']['request']['url'])
            if answer.get('id') == self._number:
                if 'error' in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer['result']

    def _next_message(self):
        while b'\0' not in self._unread:
            if not select.select([self._answers], [], [], PATIENCE_SECONDS)[0]:
                raise RuntimeError('the browser does not answer')
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                raise RuntimeError('the browser has ended')
            self._unread += piece
        message, self._unread = self._unread.split(b'\0', 1)
        return json.loads(message)

    def evaluate(self, expression):
        answer = self._call('Runtime.evaluate', expression=expression, returnByValue=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(answer['exceptionDetails'])
        return answer['result'].get('value')

    def wait_for(self, expression):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise RuntimeError(f'never true: {expression}')

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self._call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def move(self, x, y):
        self._call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)

    def press(self, key):
        text = {'text': key} if len(key) == 1 else {}
        for kind in ('keyDown', 'keyUp'):
            self._call('Input.dispatchKeyEvent', type=kind, key=key, **text)

    def screenshot(self):
        return self._call('Page.captureScreenshot')['data']
