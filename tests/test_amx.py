"""AMX that is announced and refused: with a made-up /proc/cpuinfo and with processes that really end by SIGILL."""

import platform

import pytest

from azlab import amx, doctor

WITH_AMX = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu sse2 avx512f amx_bf16 avx512_fp16 amx_tile amx_int8\n"
WITHOUT = "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu sse2 avx2\nbugs\t\t: amx_tile amx_bf16\n"
HAS_AMX = amx.is_announced()
DIES = "import os, resource, signal; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.kill(os.getpid(), signal.SIGILL)"


@pytest.fixture
def cpuinfo(tmp_path, monkeypatch):
    """A function: text -> /proc/cpuinfo says so."""
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(amx, "CPUINFO", file)
    return file.write_text


@pytest.mark.parametrize(
    ("text", "probe", "is_named"),
    [
        (WITH_AMX, DIES, True),
        (WITH_AMX, "pass", False),  # it can be used
        (WITH_AMX, "raise OSError('no memory for code')", False),  # nobody knows
        (WITHOUT, DIES, False),
    ],
)
def test_doctor_names_it_only_where_it_is_announced_and_refused(cpuinfo, monkeypatch, text, probe, is_named):
    cpuinfo(text)
    monkeypatch.setattr(amx, "PROBE", probe)
    said, _ = doctor.report()
    assert ("ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16" in said) == is_named


def test_nothing_is_tried_where_nothing_is_announced(cpuinfo, monkeypatch):
    cpuinfo(WITHOUT)
    monkeypatch.setattr(amx, "is_refused", lambda: pytest.fail("a process was started for nothing"))
    assert amx.hint() is None


def test_a_system_without_cpuinfo_announces_nothing(cpuinfo):
    assert not amx.is_announced()


@pytest.mark.parametrize(
    ("flags", "probe", "is_fast"),
    [
        ("fpu avx2", "pass", False),
        ("fpu avx512f avx512_bf16", DIES, True),  # where there is no AMX, none is tried
        ("fpu avx512_bf16 amx_tile amx_bf16", "pass", True),
        ("fpu avx512_bf16 amx_tile amx_bf16", DIES, False),
    ],
)
def test_bfloat16_is_fast_where_its_instructions_are_and_work(cpuinfo, monkeypatch, flags, probe, is_fast):
    cpuinfo(f"processor\t: 0\nflags\t\t: {flags}\n")
    monkeypatch.setattr(amx, "PROBE", probe)
    assert amx.is_bfloat16_fast.__wrapped__() is is_fast  # the function behind its memory


@pytest.mark.skipif(platform.system() != "Linux" or platform.machine() != "x86_64", reason="machine code for Linux on x86-64")
@pytest.mark.skipif(HAS_AMX, reason="This processor has AMX.")
def test_the_probe_is_ended_where_there_is_no_amx():
    """Here a processor that lacks AMX stands for a machine that forbids it; both refuse the same instruction."""
    assert amx.is_refused()
