# Everything that can be run here. `make` alone lists it.

SWIFT ?= swift
export SWIFT
# The package manager names the traits to the compiler in the order of a hashed set, which is another in each process: without
# this, each build that plans anew compiles all of our modules anew.
export SWIFT_DETERMINISTIC_HASHING = 1

.DEFAULT_GOAL := help
.PHONY: help setup demo live bench test proof check pages format docs api weight man plugin wheel install uninstall
.PHONY: fuzz soak seeds guest

help: ## List these targets.
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /\1\t/' | expand -t 10

setup: ## Install zlib's headers through apt, if they are missing.
	@scripts/setup.sh

demo: setup ## Play the gallery scenario on this machine's real memory.
	@scripts/tool.sh
	.build/release/pressuresim run Scenarios/gallery.yaml --html .build/gallery.html
	@echo "The same as a page with charts: open .build/gallery.html in a browser."

live: setup ## Play a shop for ten minutes that you can speak to: it says how, for pressuresim status and warn.
	@scripts/tool.sh
	@scripts/live.sh .build/release/pressuresim

BENCHFLAGS ?= --quick

bench: setup ## Measure the library against this machine's limits, quickly; BENCHFLAGS= for all of it.
	@scripts/tool.sh
	.build/release/pressuresim bench $(BENCHFLAGS)

test: setup ## Run all tests, the concurrent ones again under ThreadSanitizer.
	@scripts/test.sh

proof: setup ## What takes longer: real limits and disks, a guest kernel, fuzzing, seeds, traits, examples, pages.
	@scripts/proof.sh

check: setup ## Warnings, format, arrows, interface, documentation, scripts and text.
	@scripts/check.sh

pages: setup ## Look at the pages that the tool writes, in a headless browser.
	@scripts/pages.sh

format: ## Bring the Swift files into the format that `make check` wants.
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests Examples

docs: setup ## Render articles and reference into docs-out/; to read: python3 -m http.server --directory docs-out
	@scripts/docs.sh

api: setup ## Write the public interface down in API/, where `make check` looks for it.
	@scripts/api.sh --renew

weight: setup ## Build Examples/Minimal from nothing, and say how long it takes and how large it is.
	@scripts/weight.sh

man: setup ## Write the manual pages of pressuresim into .build/man/, and look whether man can read them.
	@scripts/tool.sh
	@scripts/man.sh

plugin: setup ## Build the C plugin for release into .build-plugin/plugin, and run its examples in C and Python.
	@scripts/plugin.sh

wheel: plugin ## Make a wheel of the Python package, with the C plugin in it, and test it where nothing else is.
	@scripts/wheel.sh

PREFIX ?= /usr/local
DESTDIR ?=
# For machines without a Swift toolchain: make install INSTALLFLAGS=--static-swift-stdlib
INSTALLFLAGS ?=
export PREFIX DESTDIR

install: setup ## Install pressuresim, its manual and its completions below PREFIX (/usr/local).
	@scripts/tool.sh $(INSTALLFLAGS)
	@scripts/install.sh install

uninstall: ## Take away what `make install` has put there.
	@scripts/install.sh uninstall

SECONDS_EACH ?= 600

fuzz: setup ## Fuzz what reads bytes from outside, ten minutes each; SECONDS_EACH= for more or less.
	@scripts/fuzz.sh $(SECONDS_EACH)

MINUTES ?= 10

soak: setup ## Use the library in a real memory limit for MINUTES=10, as root, and look whether anything grows.
	@scripts/soak.sh $(MINUTES)

SEEDS ?= 1-10000

seeds: setup ## Play whole runs from SEEDS=1-10000, then look how soon mistakes in the library are found.
	@scripts/seeds.sh $(SEEDS)

CASES ?=

guest: setup ## Run cases on a kernel with cgroup v2 and systemd under qemu; CASES= for some of scripts/guest/cases.
	@scripts/guest.sh $(CASES)
