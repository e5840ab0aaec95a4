#!/usr/bin/env bash
# wheel.sh [--optional]: makes a wheel of Python/ and the library that plugin.sh has built, in .build-plugin/wheel. Installs
# it in an environment of its own, where the tests and mypy find nothing else. With --optional, a machine without venv, or
# without a package registry to take setuptools and mypy from, is no failure.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/.build-plugin
library=$build/plugin/lib/libPressureKitC.so.1
environment=$build/environment

without() {
    echo "wheel: not built, since $*" >&2
    [ "$optional" = --optional ] && exit 0
    exit 1
}
optional=${1:-}
[ -f "$library" ] || { echo "wheel: there is no $library; scripts/plugin.sh builds it" >&2; exit 1; }

[ -x "$environment/bin/pip" ] || python3 -m venv "$environment" >/dev/null 2>&1 || without "python3 cannot make environments (python3-venv)"
pip=("$environment/bin/pip" --quiet --disable-pip-version-check)
"${pip[@]}" install 'setuptools>=77' 'mypy>=2.4,<2.5' || without "no registry has setuptools and mypy"
# With it, the tests of arrays run as well.
"${pip[@]}" install --only-binary :all: numpy 2>/dev/null || echo "wheel: without numpy"

rm -rf "$build/wheel" "$build/python" "$build/check"
mkdir -p "$build/python" "$build/check"
cp -r Python/pressurekit Python/pyproject.toml Python/setup.py Python/README.md LICENSE "$build/python"
find "$build/python" -name __pycache__ -prune -exec rm -rf {} +
install -m 755 "$library" "$build/python/pressurekit/"
"${pip[@]}" wheel --no-deps --no-build-isolation --wheel-dir "$build/wheel" "$build/python"
wheels=("$build"/wheel/*.whl)
"${pip[@]}" install --no-deps --no-index --force-reinstall "${wheels[0]}"

cp -r Python/tests "$build/check"
cd "$build/check"
env -u PRESSUREKIT_LIBRARY -u PYTHONPATH "$environment/bin/python" -B -m unittest discover --buffer --quiet --top-level-directory . --start-directory tests
"$environment/bin/mypy" --config-file "$build/python/pyproject.toml" --package pressurekit --package tests
echo "wheel: ${wheels[0]#"$build/wheel/"}, $(stat -c %s "${wheels[0]}" | awk '{printf "%.1f MB", $1 / 1e6}')"
