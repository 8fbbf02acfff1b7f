//! Rules that cross keys.

mod engine;
mod setup;

use crate::flake::FlakeFile;
use crate::view::View;
use crate::words::{Engine, FlakeType, ShareWhat, Workdir};

/// A rule that a flake breaks; [`load_flake`](crate::load_flake) turns it into a
/// [`Diagnostic`](crate::Diagnostic) with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default())]
pub struct Problem {
    /// Path of the key: `container.runtime.share[2]`; a missing key has the path it would have.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What flake-pilot's packagers are told, word for word.
const REMOVES_ITSELF: &str = "Packaging error: Flake is mutable, but you ask to remove its instance on finish. \
    Either define it immutable or do not explicitly remove it.";

impl FlakeFile {
    /// The engine: as written, else by section.
    pub fn engine(&self) -> Result<Engine, Problem> {
        engine::choose(self)
    }

    /// All rules that cross keys and are broken, in no particular order; empty when there are none.
    pub fn problems(&self) -> Vec<Problem> {
        let engine = match self.engine() {
            Ok(engine) => engine,
            Err(problem) => return vec![problem],
        };
        let view = View::new(self, engine);
        let mut problems = Vec::new();
        engine::check(self, engine, &view, &mut problems);
        paths(&view, &mut problems);
        lifetime(self, &view, &mut problems);
        setup::check(self, is_mutable(self, &view), &mut problems);
        problems
    }
}

/// True for flakes whose instance is kept.
pub(crate) fn is_mutable(file: &FlakeFile, view: &View<'_>) -> bool {
    view.resumes() || view.attaches() || file.kind == Some(FlakeType::Mutable)
}

/// True for a podman option that removes the container at its end.
pub(crate) fn removes_itself(option: &str) -> bool {
    let option = option.trim_start_matches('\\').trim();
    let (name, value) = option.split_once(['=', ' ', '\t']).unwrap_or((option, "true"));
    // What podman takes for a yes.
    name == "--rm" && matches!(value.trim(), "1" | "t" | "T" | "true" | "True" | "TRUE")
}

fn paths(view: &View<'_>, problems: &mut Vec<Problem>) {
    match view.host_path.value.map(String::as_str) {
        None | Some("") => problems.push(
            Problem::new(view.host_path.path, format!("`{}` is missing", view.host_path.path))
                .hint("name the command on the host: `host_app_path: /usr/bin/NAME`"),
        ),
        Some(path) if !path.starts_with('/') => problems.push(
            Problem::new(view.host_path.path, format!("`{}` is not absolute", view.host_path.path))
                .hint("write a path that begins with `/`"),
        ),
        Some(path) => {
            let name = path.rsplit('/').next().unwrap_or("");
            if let Err(error) = name.parse::<crate::FlakeName>() {
                let mut problem = Problem::new(view.host_path.path, error.message);
                problem.hint = error.hint;
                problems.push(problem);
            }
        }
    }
    match view.target.value.map(String::as_str) {
        Some("/") if view.resumes() => problems.push(
            Problem::new(view.target.path, "the entrypoint of an image (`/`) cannot be resumed")
                .hint("name the program inside"),
        ),
        // a bare word is looked up on the PATH inside
        Some(path) if path.trim().is_empty() || (path.contains('/') && !path.starts_with('/')) => problems
            .push(Problem::new(view.target.path, format!("`{}` is not absolute", view.target.path)).hint(
                "write a path that begins with `/`, a bare name, or `/` for the entrypoint of the image",
            )),
        _ => {}
    }
    let shared = view.share.value.map(Vec::as_slice).unwrap_or_default();
    let mut seen: Vec<&ShareWhat> = Vec::new();
    for (index, share) in shared.iter().enumerate() {
        if seen.contains(&&share.what) {
            let path = format!("{}[{index}]", view.share.path);
            problems.push(Problem::new(path, format!("`{share}` is shared twice")));
        }
        seen.push(&share.what);
    }
    if view.workdir.value == Some(&Workdir::Cwd)
        && shared.iter().all(|s| matches!(s.what, ShareWhat::Reserved(_)))
    {
        problems.push(
            Problem::new(view.workdir.path, "`workdir: cwd` needs a shared directory")
                .hint(format!("add `cwd` to `{}`", view.share.path)),
        );
    }
}

fn lifetime(file: &FlakeFile, view: &View<'_>, problems: &mut Vec<Problem>) {
    if view.resumes() && view.attaches() {
        problems.push(
            Problem::new(view.attach.path, "`resume` and `attach` exclude each other")
                .hint("keep `resume` to run further calls beside the first, `attach` to join its terminal"),
        );
    }
    let kept = if view.resumes() { Some("resume") } else { view.attaches().then_some("attach") };
    if let (Some(FlakeType::Immutable), Some(kept)) = (file.kind, kept) {
        problems.push(
            Problem::new("type", format!("`type: immutable` and `{kept}: true` exclude each other"))
                .hint("write `type: mutable`"),
        );
    }
    if !is_mutable(file, view) {
        if file.instance.is_some() {
            problems.push(
                Problem::new("instance", "`instance` needs an instance that is kept")
                    .hint("write `type: mutable`"),
            );
        }
        return;
    }
    let runtime = file.container.as_ref().and_then(|c| c.runtime.as_ref());
    let options = runtime.and_then(|r| r.podman.as_deref()).unwrap_or_default();
    if runtime.is_some_and(|r| r.scratch.is_some()) {
        let message = "`scratch` is for what is thrown away, and this instance is kept";
        problems.push(Problem::new("container.runtime.scratch", message).hint("leave `scratch` out"));
    }
    for (index, _) in options.iter().enumerate().filter(|(_, option)| removes_itself(option)) {
        problems.push(Problem::new(format!("container.runtime.podman[{index}]"), REMOVES_ITSELF));
    }
}
