//! Listening ports of the agent's network namespace, from `/proc/net` (format: proc_net_tcp.txt of the
//! kernel's documentation).

use flake_wire::{Port, PortProtocol};
use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kernel's number of TCP's listening state.
const TCP_LISTEN: &str = "0A";
/// The state of a UDP socket that is bound and not connected.
const UDP_UNCONNECTED: &str = "07";
/// More are not reported: the answer has to fit a frame.
const MOST: usize = 4096;

const TABLES: [(&str, PortProtocol, &str); 4] = [
    ("/proc/net/tcp", PortProtocol::Tcp, TCP_LISTEN),
    ("/proc/net/tcp6", PortProtocol::Tcp, TCP_LISTEN),
    ("/proc/net/udp", PortProtocol::Udp, UDP_UNCONNECTED),
    ("/proc/net/udp6", PortProtocol::Udp, UDP_UNCONNECTED),
];

/// All listening ports, sorted, each once.
pub(crate) fn listening() -> Vec<Port> {
    let mut ports = BTreeSet::new();
    for (path, protocol, state) in TABLES {
        // A kernel without IPv6 has no such table.
        let table = fs::read_to_string(path).unwrap_or_default();
        ports.extend(table.lines().skip(1).filter_map(|line| parse(line, protocol, state)));
    }
    ports.into_iter().take(MOST).collect()
}

fn parse(line: &str, protocol: PortProtocol, wanted: &str) -> Option<Port> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (address, port) = fields.next()?.split_once(':')?;
    let state = fields.nth(1)?;
    if state != wanted {
        return None;
    }
    Some(Port { protocol, address: parse_address(address)?, port: u16::from_str_radix(port, 16).ok()? })
}

/// An address is one or four 32-bit words in the machine's byte order.
fn parse_address(hex: &str) -> Option<IpAddr> {
    if !hex.is_ascii() || !hex.len().is_multiple_of(8) {
        return None;
    }
    let words: Option<Vec<[u8; 4]>> = hex
        .as_bytes()
        .chunks(8)
        .map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok().map(u32::to_ne_bytes))
        .collect();
    let bytes = words?.concat();
    if let Ok(four) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Some(Ipv4Addr::from(four).into());
    }
    <[u8; 16]>::try_from(bytes.as_slice()).ok().map(|sixteen| Ipv6Addr::from(sixteen).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_of_this_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let expected = Port { protocol: PortProtocol::Tcp, address: Ipv4Addr::LOCALHOST.into(), port };
        assert!(listening().contains(&expected), "port {port}");
        drop(listener);
        assert!(!listening().contains(&expected), "port {port}");
    }

    #[test]
    fn broken_lines_are_passed_over() {
        for line in ["", "0:", "0: x:y z 0A", "0: 0100007F:zz 0:0 0A", "0: 01:50 0:0 0A"] {
            assert_eq!(parse(line, PortProtocol::Tcp, TCP_LISTEN), None, "{line}");
        }
    }
}
