"""Checks of engines: whether they are here, can be built, and were built for this CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator import pin_types
from generator.doctor.diagnosis import Diagnosis, Verdict, graded
from generator.doctor.isa import PORTABLE, lacking, told
from generator.doctor.needs import EngineNeed, Needs
from generator.doctor.view import Absence, View
from generator.host import Host

TRY = "start it once: receipts run; an engine built for another CPU dies of SIGILL, which is told"


def diagnose(needs: Needs, view: View) -> Iterator[Diagnosis]:
    """Check the declared engines, and the tools that building one takes."""
    declared = [need for need in needs.engines if need.declared]
    for need in declared:
        yield _presence(need, view)
        yield _instructions(need, view.host)
    yield _compiler(needs, view)


def _presence(need: EngineNeed, view: View) -> Diagnosis:
    name = f"engine {need.pin.name}"
    absence = view.absent.get(need.pin.name)
    if absence is None:
        return Diagnosis(name, "good", "here", "receipts fetch verifies every file of it")
    verdict: Verdict = "warning" if absence.mendable else "bad"
    return Diagnosis(name, verdict, absence.found, absence.remedy)


def _instructions(need: EngineNeed, host: Host) -> Diagnosis:
    """Compare what the build uses with what the CPU has."""
    name = f"instructions {need.pin.name}"
    uses = _uses(need, host)
    if not uses.flags or not host.isa:
        unknown = "what this CPU has" if uses.flags else "what it was built for"
        return Diagnosis(name, "warning", f"{unknown} is not known", TRY)
    missing = lacking(uses.flags, host.isa)
    return graded(
        name,
        well=not missing,
        otherwise="bad" if uses.fixed else "warning",
        found=f"this CPU lacks {', '.join(missing)}"
        if missing
        else f"this CPU has what it was built for: {', '.join(uses.flags)}",
        remedy="pin an engine that is built for this CPU" if uses.fixed else TRY,
    )


@dataclass(frozen=True)
class _Uses:
    """The instructions that an engine uses; empty if unknown, *fixed* if it has no others."""

    flags: Sequence[str]
    fixed: bool


def _uses(need: EngineNeed, host: Host) -> _Uses:
    """Return what an engine uses.

    A source engine is built for a known set, or by this very CPU for itself. What another uses is
    known from receipts: of a wheel that is fixed, while a release may hold builds for several CPUs
    and choose when it starts, and somebody's own program may have been built anew.
    """
    recorded = told(need.system) if need.system else ()
    match need.pin:
        case pin_types.SourceEngine(instructions="native"):
            return _Uses(host.isa, fixed=True)
        case pin_types.SourceEngine():
            return _Uses(PORTABLE.get(host.arch, ()), fixed=True)
        case pin_types.WheelEngine():
            return _Uses(recorded, fixed=True)
        case _:
            return _Uses(recorded, fixed=False)


def builds(pin: pin_types.EnginePin) -> bool:
    """Tell whether an engine is built on the machine that measures."""
    match pin:
        case pin_types.SourceEngine():
            return True
        case _:
            return False


def _compiler(needs: Needs, view: View) -> Diagnosis:
    """Check what builds engines, by the trial that a build begins with."""
    match view.compiler:
        case None:
            remedy = "receipts fetch builds what is pinned of type `source`"
            return Diagnosis("compiler", "good", "there is nothing to build", remedy)
        case str(name):
            return Diagnosis("compiler", "good", name, "receipts fetch builds the engine")
        case Absence(found, remedy):
            unbuilt = [need for need in needs.engines if need.pin.name in view.absent]
            asked_for = any(need.declared and builds(need.pin) for need in unbuilt)
            return Diagnosis("compiler", "bad" if asked_for else "warning", found, remedy)
