//! Compiles a model with relaxc while a crate is built:
//!
//! ```no_run
//! // build.rs
//! relaxc_build::Model::new("digits.onnx").dim("n=1..16").compile();
//! ```
//!
//! and in the crate, which depends on `relax-rt`: `mod digits { relax_rt::include_model!("digits"); }`. relaxc is the
//! program that the environment variable RELAXC names, or that of PATH.
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A model to compile.
pub struct Model {
    input: PathBuf,
    name: String,
    flags: Vec<String>,
}

impl Model {
    /// Takes an ONNX model, a TFLite model or a program in the text IR. Its name is the stem of the file.
    pub fn new(input: impl AsRef<Path>) -> Self {
        let input = input.as_ref().to_path_buf();
        let name = input.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        Model { input, name, flags: Vec::new() }
    }

    /// Sets the model's name for `include_model!`; needed if the stem of the file is not an identifier.
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.to_string();
        self
    }

    /// Fixes or bounds a dim: "n=1..16".
    pub fn dim(self, dim: &str) -> Self {
        self.flag("--dim").flag(dim)
    }

    /// Declares a state: an input, and the output that carries it to the next call, such as "h:hn".
    pub fn state(self, state: &str) -> Self {
        self.flag("--state").flag(state)
    }

    /// Sets the edition of the crate; needed if it is 2024 or later.
    pub fn edition(self, edition: &str) -> Self {
        self.flag("--rust-edition").flag(edition)
    }

    /// Adds any flag of relaxc.
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_string());
        self
    }

    /// Compiles and links the model. If that fails, ends the build with relaxc's messages.
    pub fn compile(self) {
        println!("cargo:rerun-if-env-changed=RELAXC");
        println!("cargo:rerun-if-env-changed=PATH");
        let (host, target) = (variable("HOST"), variable("TARGET"));
        assert!(host == target, "relaxc-build links models for the machine that builds ({host}), not for {target} yet");
        let out = PathBuf::from(variable("OUT_DIR"));
        let relaxc = program();
        let depfile = out.join(format!("{}.d", self.name));
        let done = Command::new(&relaxc)
            .arg(&self.input)
            .args(&self.flags)
            .arg("--embed-weights")
            .args(["--name", &self.name, "--rust-api", "safe", "-o"])
            .arg(out.join(format!("lib{}.a", self.name)))
            .arg("--rust")
            .arg(out.join(format!("{}.rs", self.name)))
            .args(["-MD", "-MF"])
            .arg(&depfile)
            .status();
        match done {
            Ok(status) if status.success() => (),
            Ok(_) => panic!("relaxc could not compile {}", self.input.display()),
            Err(why) => panic!("cannot run {}: {why}; set RELAXC to the path of relaxc", relaxc.display()),
        }
        println!("cargo:rerun-if-changed={}", self.input.display());
        for file in dependencies(&std::fs::read_to_string(depfile).unwrap_or_default()) {
            println!("cargo:rerun-if-changed={file}");
        }
        println!("cargo:rustc-link-search=native={}", out.display());
        println!("cargo:rustc-link-search=native={}", runtime(&relaxc).display());
        println!("cargo:rustc-link-lib=static={}", self.name);
        println!("cargo:rustc-link-lib=static=relax_rt");
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: call this from build.rs"))
}

/// Returns the path in RELAXC, or the first relaxc on PATH.
fn program() -> PathBuf {
    if let Some(path) = env::var_os("RELAXC") {
        return path.into();
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).map(|folder| folder.join("relaxc")).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("there is no relaxc on PATH; install it, or set RELAXC to its path"))
}

/// Returns the folder of librelax_rt.a in the installation of relaxc.
fn runtime(relaxc: &Path) -> PathBuf {
    let real = relaxc.canonicalize().unwrap_or_else(|why| panic!("{}: {why}", relaxc.display()));
    let folder = real.parent().and_then(Path::parent).map(|tree| tree.join("lib")).unwrap_or_default();
    assert!(folder.join("librelax_rt.a").is_file(), "there is no librelax_rt.a in {}", folder.display());
    folder
}

/// Returns the files of a rule of make, without its target; blanks in names follow a backslash.
fn dependencies(rule: &str) -> Vec<String> {
    let text = rule.replace("\\\n", " ");
    let files = text.split_once(": ").map_or("", |(_, files)| files);
    let marked = files.lines().next().unwrap_or("").replace("\\ ", "\0");
    marked.split_whitespace().map(|file| file.replace('\0', " ")).collect()
}
