//! Files read and written through the agent, and its listening ports.

use crate::Outcome;
use crate::client::Client;
use crate::world::{World, until};
use flake_wire::{FailureKind, Frame, PortProtocol, Reply, Request};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("a_file_goes_there_and_back", a_file_goes_there_and_back),
    ("half_a_file_never_appears", half_a_file_never_appears),
    ("what_is_no_file_is_refused", what_is_no_file_is_refused),
    ("listening_ports_are_listed", listening_ports_are_listed),
];

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

fn write(client: &mut Client, content: &[u8]) {
    for part in content.chunks(50_000) {
        client.send(0, part);
    }
}

fn a_file_goes_there_and_back(world: &World) -> Outcome {
    let path = world.path("there");
    let content: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut client = world.client();
    client.say(&Request::WriteFile { path: bytes(&path), mode: 0o640 });
    write(&mut client, &content);
    client.say(&Request::Eof { stream: 0 });
    while let Some(reply) = client.next() {
        assert!(matches!(reply, Reply::Credit { .. } | Reply::Done), "{reply:?}");
    }
    assert!(std::fs::read(&path)? == content, "the content differs");
    assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o7777, 0o640);

    let mut client = world.client();
    client.say(&Request::ReadFile { path: bytes(&path) });
    let mut back = Vec::new();
    loop {
        match client.frame().ok_or("closed early")? {
            Frame::Data { bytes, .. } => {
                client.say(&Request::Credit { stream: 0, bytes: u32::try_from(bytes.len())? });
                back.extend(bytes);
            }
            Frame::Message(Reply::Eof { stream: 0 }) => break,
            Frame::Message(other) => return Err(format!("{other:?}").into()),
        }
    }
    assert!(back == content, "the content differs on its way back");
    Ok(())
}

fn half_a_file_never_appears(world: &World) -> Outcome {
    let folder = world.path("half");
    std::fs::create_dir(&folder)?;
    let mut client = world.client();
    client.say(&Request::WriteFile { path: bytes(&folder.join("file")), mode: 0o600 });
    write(&mut client, &[7; 100_000]);
    assert!(matches!(client.next(), Some(Reply::Credit { .. })));
    drop(client);
    until("nothing is left of it", || {
        std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_none())
    });
    Ok(())
}

fn what_is_no_file_is_refused(world: &World) -> Outcome {
    let fifo = world.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status()?;
    assert!(made.success());
    for (path, kind, words) in [
        (fifo.as_path(), FailureKind::Other, "not a regular file"),
        (Path::new("/usr"), FailureKind::Other, "not a regular file"),
        (Path::new("/no/such/file"), FailureKind::NotFound, "/no/such/file"),
    ] {
        let mut client = world.client();
        client.say(&Request::ReadFile { path: bytes(path) });
        match client.next() {
            Some(Reply::Failed(failure)) => {
                assert_eq!(failure.kind, kind);
                assert!(failure.message.contains(words), "{}", failure.message);
            }
            other => return Err(format!("{}: {other:?}", path.display()).into()),
        }
    }
    let mut client = world.client();
    client.say(&Request::WriteFile { path: b"/no/such/folder/file".to_vec(), mode: 0o600 });
    assert!(matches!(client.next(), Some(Reply::Failed(_))));
    Ok(())
}

fn listening_ports_are_listed(world: &World) -> Outcome {
    let tcp = std::net::TcpListener::bind("127.0.0.1:0")?;
    let udp = std::net::UdpSocket::bind("127.0.0.1:0")?;
    let mut client = world.client();
    client.say(&Request::ListenPorts);
    let Some(Reply::Ports(ports)) = client.next() else { return Err("no ports".into()) };
    for (protocol, address) in
        [(PortProtocol::Tcp, tcp.local_addr()?), (PortProtocol::Udp, udp.local_addr()?)]
    {
        let listed = ports.iter().any(|port| {
            port.protocol == protocol && port.port == address.port() && port.address == address.ip()
        });
        assert!(listed, "{protocol:?} {address} is not in {ports:?}");
    }
    Ok(())
}
