# Thin words over cargo and xtask. See CONTRIBUTING.md.

PREFIX ?= /usr
DESTDIR ?=

.PHONY: all setup demo test lint install bench torture clean

all:
	cargo xtask stage target/stage

# What the other words need from Debian.
setup:
	@packaging/setup

# A small image, two registered applications, a pipe between them; nothing is left.
demo: setup
	@cargo xtask demo

# Everything, with real podman, users, terminals.
test: setup
	@cargo xtask test

# Formatting, lints, documentation.
lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --document-private-items --quiet

install:
	cargo xtask stage '$(DESTDIR)$(PREFIX)'

# Paired medians; not a test.
bench: setup
	@cargo xtask bench

# The kill and race loops of the tests, hundreds of rounds.
torture: setup
	@cargo xtask torture

clean:
	cargo clean
