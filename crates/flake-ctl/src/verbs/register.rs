//! `register`: a command out of an image.

mod options;
mod shipped;

use crate::cli::RegisterArgs;
use crate::failure::Failure;
use crate::planning::Planning;
use crate::report::{Exit, note};
use crate::session::Session;
use crate::{installed, output};
use flake_core::place::Scope;
use flake_core::register::{RegisterError, Registered, Request, register};
use flake_core::registry::{Registration, Registry};
use flake_core::{draft, gap, host_path};
use flake_schema::{Container, FlakeFile, Network};
use shipped::Shipped;
use std::env;
use std::path::Path;

pub(crate) fn run(args: &RegisterArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    if args.info {
        return shipped::show(&args.container, &session.store);
    }
    let asked = options::file(args, &session.caller)?;
    let shipped = if args.no_shipped { None } else { Shipped::read(&args.container, &session.store)? };
    let app = match &args.app {
        Some(app) => app.clone(),
        None => shipped::proposed_path(shipped.as_ref(), args, &session)?,
    };
    let (host_path, name) = host_path::command(&app).map_err(|error| explain_path(error, &app))?;

    let mut file = match shipped {
        Some(shipped) => shipped.granted(&asked, args.yes)?,
        None => FlakeFile::default(),
    };
    file.merge(asked);
    file.merge(FlakeFile {
        container: Some(Container {
            host_app_path: host_path.to_str().map(str::to_owned),
            ..Container::default()
        }),
        ..FlakeFile::default()
    });
    draft::complete(&mut file, args.as_image);

    let launcher = installed::launcher()?;
    let reserved = &installed::RESERVED;
    let request = Request { file, host_path, name, launcher, reserved, replace: args.force };
    let registered = register(&request, &session.places, &session.store)
        .map_err(|error| explain(error, session.places.scope, &request))?;
    if args.app.is_none() {
        output::print(format!("{}\n", request.host_path.display()).as_bytes())?;
    }
    notes(&registered, &request, args);
    let registration =
        Registration { loaded: registered.loaded, file: registered.file, scope: session.places.scope };
    if let Ok(registry) = Registry::of(&session.caller) {
        Planning::new(&registration, &registry, &session.caller).prepare();
    }
    Ok(Exit::Done)
}

/// What a person may not expect, although it is as it should be.
fn notes(registered: &Registered, request: &Request, args: &RegisterArgs) {
    if registered.recovered {
        note("an earlier change that was cut off was undone first");
    }
    if !registered.dropped.is_empty() {
        let paths: Vec<_> = registered.dropped.iter().map(|path| path.display().to_string()).collect();
        note(&format!("gone with the replaced registration: {}", paths.join(", ")));
    }
    let flake = &registered.loaded.flake;
    if flake.as_root && flake.network == Some(Network::Private) && args.network.is_none() {
        note("it has a private network; the host's own starts faster: --network host");
    }
    if let Some(part) = gap::missing_part(flake) {
        note(&format!("calling it needs {part}, which this release does not have yet"));
    }
    let folder = request.host_path.parent().unwrap_or(Path::new("/"));
    let path = env::var_os("PATH").unwrap_or_default();
    if !env::split_paths(&path).any(|on_path| host_path::is_same(&on_path.join("x"), &folder.join("x"))) {
        note(&format!("{} is not on your PATH", folder.display()));
    }
}

fn explain_path(error: host_path::HostPathError, app: &Path) -> Failure {
    let failure = Failure::from(error);
    if app.starts_with("~") {
        failure.hint("a shell puts your home for ~ only where it is not quoted")
    } else {
        failure
    }
}

fn explain(error: RegisterError, scope: Scope, request: &Request) -> Failure {
    let path = request.host_path.display();
    let hint = match &error {
        RegisterError::NoImage(image) => format!("flake-ctl podman pull --uri {image}"),
        RegisterError::NoCommand(_) => "name the program inside: --target /PATH".to_owned(),
        RegisterError::Exists(_) => "--force replaces it".to_owned(),
        RegisterError::Registered { at, .. } => match at {
            Some(at) => {
                format!("--force replaces it; it goes by: flake-ctl podman remove --app {}", at.display())
            }
            None => "--force replaces it".to_owned(),
        },
        RegisterError::Reserved(_) => "register it under another name".to_owned(),
        RegisterError::Change(flake_core::transaction::ChangeError::System { source, .. })
            if scope == Scope::User && source.kind() == std::io::ErrorKind::PermissionDenied =>
        {
            format!(
                "a normal user registers below the own home, or: sudo flake-ctl podman register --app {path} ..."
            )
        }
        _ => return error.into(),
    };
    Failure::from(error).hint(hint)
}
