#!/usr/bin/env python3
"""scripts/check_losses finds what it is there to find: a counter without a test is objected to, whichever part is missing."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOSSES = '\tHAWK_LOSS(TOO_LATE, "too_late", "text") \\\n'
ROW = '| `too_late` | `losses.late` |\n'
TEST = 'KERNEL_TEST(losses, late) { expect_only(trace(way), "too_late"); }\n'
UNIT_ROW = '| `too_late` | `Clock.IsLate` (a unit test: nothing is late here) |\n'
LEDGER_TEST = '    {"losses", "late", "late_ledger"},\n'
LEDGER = 'int main(void) { ledger_loss("too_late", 1); }\n'
CASES = [
    # README, a test file, ledgers/late_ledger.c, accepted
    (ROW, TEST, '', True),
    (ROW, LEDGER_TEST, LEDGER, True),
    (UNIT_ROW, '', '', True),
    (UNIT_ROW.replace('IsLate', 'IsEarly'), '', '', False),
    ('', TEST, LEDGER, False),
    (ROW, 'KERNEL_TEST(losses, other) { expect_only(trace(way), "too_late"); }\n', '', False),
    (ROW, 'KERNEL_TEST(losses, late) {}\n', LEDGER, False),
    (ROW, LEDGER_TEST, 'int main(void) {}\n', False),
]


def is_accepted(readme, test, ledger):
    with tempfile.TemporaryDirectory() as directory:
        tree = pathlib.Path(directory)
        (tree / 'bpf').mkdir()
        (tree / 'tests/kernel/ledgers').mkdir(parents=True)
        (tree / 'tests/unit/base').mkdir(parents=True)
        (tree / 'bpf/losses.h').write_text(LOSSES)
        (tree / 'tests/unit/base/clock_test.cpp').write_text('TEST(Clock, IsLate) {}\n')
        (tree / 'tests/kernel/README.md').write_text(readme)
        (tree / 'tests/kernel/some_test.cpp').write_text(test)
        (tree / 'tests/kernel/ledgers/late_ledger.c').write_text(ledger)
        return subprocess.run([ROOT / 'scripts/check_losses', directory], capture_output=True, check=False).returncode == 0


wrong = [case for case in CASES if is_accepted(*case[:3]) != case[3]]
for case in wrong:
    print('wrong verdict on', case, file=sys.stderr)
sys.exit(1 if wrong else 0)
