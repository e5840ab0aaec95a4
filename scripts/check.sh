#!/usr/bin/env bash
# What a change must pass besides the tests.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

# Warnings in our targets are errors; see Package.swift. Those of dependencies are their business.
export PRESSUREKIT_STRICT=1

step "format" "$swift" format lint --strict --parallel --recursive Package.swift Sources Tests Examples
step "text" scripts/text.sh
step "scripts" scripts/shellcheck.sh
step "arrows" python3 scripts/arrows.py
step "mistakes for the seeds" python3 scripts/seeds/mutants.py check
step "warnings and imports" build_tests --explicit-target-dependency-import-check error
step "public interface" optimized scripts/api.sh
step "documentation" optimized scripts/docs.sh --optional
finish
