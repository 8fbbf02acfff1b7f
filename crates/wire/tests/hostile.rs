//! Bytes of a peer that means harm: whole messages with something wrong in them, and lists that say more than they are.
//! They are refused or read, nothing panics, and what they take in memory is bounded.
//!
//! `FLAKE_ROUNDS` is the number of rounds of [`ROUND`] messages each; the same come each time. `crates/wire/fuzz` looks for what nobody
//! thought of.

use flake_wire::{
    Account, Action, Closing, Decoder, Exec, Failure, FailureKind, Frame, Handed, Handoff, Ids, Liveness,
    Message, Modes, Port, PortProtocol, Program, REQUEST_MAX, Reply, Request, SignalTarget, Source, Stream,
    StreamDirection, VERSION, WORDS_MAX, Window, WireError, encode, encode_data,
};

const ROUND: usize = 500;

/// Numbers that look like chance and come again the same.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).expect("a length")
    }

    fn byte(&mut self) -> u8 {
        // Those that mean something in lengths and variants come often.
        let special = [0, 1, 2, 0x7f, 0x80, 0xff];
        if self.below(2) == 0 { special[self.below(special.len())] } else { self.next().to_le_bytes()[3] }
    }
}

fn exec() -> Exec {
    Exec {
        program: Program::Script(b"#!/bin/sh\ntrue\n".to_vec()),
        args: vec![b"one".to_vec(), Vec::new(), vec![0xff; 200]],
        env: vec![(b"NAME".to_vec(), b"value".to_vec())],
        cwd: Some(b"/tmp".to_vec()),
        cwd_is: Some((7, u64::MAX)),
        user: Some(Ids { uid: 1, gid: 2, groups: vec![3, u32::MAX] }),
        account: Some(Account {
            uid: 1,
            gid: 2,
            name: "ada".into(),
            group: "ada".into(),
            gecos: "Ada".into(),
            home: b"/home/ada".to_vec(),
            owns_home: true,
        }),
        umask: Some(0o22),
        ignored: 1,
        blocked: u64::MAX,
        streams: vec![
            Stream { number: 0, source: Source::Passed },
            Stream { number: 1, source: Source::Terminal },
            Stream { number: 2, source: Source::Framed(StreamDirection::FromCommand) },
        ],
        terminal: Some(Window { rows: 24, columns: 80, width: 0, height: 0 }),
        modes: Some(Modes { input: 1, output: 2, control: 3, local: 4, characters: vec![3; 16] }),
    }
}

fn liveness() -> Liveness {
    Liveness {
        description: "web".into(),
        script: b"true".to_vec(),
        env: vec![(b"A".to_vec(), b"b".to_vec())],
        user: None,
        timeout_ms: 1000,
        interval_ms: 3000,
        failures: 3,
        action: Action::Restart,
    }
}

fn requests() -> Vec<Request> {
    vec![
        Request::Hello { version: VERSION },
        Request::Exec(Box::new(exec())),
        Request::Join(Box::new(exec())),
        Request::Watch(vec![liveness(), liveness()]),
        Request::Signal { number: 15, target: SignalTarget::Group },
        Request::ReadFile { path: b"/etc/passwd".to_vec() },
        Request::WriteFile { path: b"/etc/passwd".to_vec(), mode: 0o644 },
        Request::Credit { stream: 1, bytes: u32::MAX },
    ]
}

fn replies() -> Vec<Reply> {
    let port = Port { protocol: PortProtocol::Tcp, address: std::net::Ipv6Addr::LOCALHOST.into(), port: 80 };
    vec![
        Reply::Hello { version: VERSION, agent: "1.2.3".into(), watch: true },
        Reply::Failed(Failure { kind: FailureKind::NotShared, message: "why".into() }),
        Reply::Exit(Closing::Killed(9)),
        Reply::Ports(vec![port; 20]),
        Reply::Note { text: "something is wrong".into() },
    ]
}

fn handoff() -> Handoff {
    let Exec { env, ignored, blocked, streams, terminal, modes, .. } = exec();
    Handoff {
        env,
        has_cwd: true,
        umask: 0o22,
        ignored,
        blocked,
        streams,
        terminal,
        modes,
        given_up: Some("x".into()),
    }
}

fn bytes<M: Message>(messages: &[M]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        encode(message, &mut bytes).expect("short enough");
        encode_data(2, b"some data", &mut bytes).expect("short enough");
    }
    bytes
}

/// Reads to the end or to the first error; what was read means the same when it is said again.
fn read<M: Message + Clone + PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    step: usize,
) -> Result<usize, WireError> {
    let mut decoder = Decoder::<M>::default();
    let mut frames = 0;
    for part in bytes.chunks(step) {
        decoder.push(part);
        while let Some(frame) = decoder.next_frame()? {
            if let Frame::Message(message) = &frame {
                let mut said = Vec::new();
                encode(message, &mut said).expect("short enough");
                let mut again = Decoder::<M>::default();
                again.push(&said);
                assert_eq!(again.next_frame().expect("a frame"), Some(frame));
            }
            frames += 1;
        }
        assert!(decoder.held() <= bytes.len());
    }
    Ok(frames)
}

fn spoil(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        if bytes.is_empty() {
            return;
        }
        let place = dice.below(bytes.len());
        match dice.below(6) {
            0 => bytes[place] = dice.byte(),
            1 => bytes[place] ^= 1 << dice.below(8),
            2 => bytes.insert(place, dice.byte()),
            3 => drop(bytes.remove(place)),
            4 => bytes.truncate(place + 1),
            _ => {
                let end = (place + dice.below(40)).min(bytes.len());
                let piece = bytes[place..end].to_vec();
                let to = dice.below(bytes.len());
                bytes.splice(to..to, piece);
            }
        }
    }
}

fn rounds() -> usize {
    std::env::var("FLAKE_ROUNDS").ok().and_then(|rounds| rounds.parse::<usize>().ok()).unwrap_or(50)
}

#[test]
fn spoilt_messages_are_read_or_refused() {
    let whole = [bytes(&requests()), bytes(&replies()), bytes(&[handoff()])];
    let handed = bytes(&[
        Handed::Session { warning: Some("x".into()), instance: Some("z".into()) },
        Handed::Refused { message: "y".into() },
    ]);
    assert_eq!(read::<Request>(&whole[0], 5), Ok(2 * requests().len()));
    assert_eq!(read::<Reply>(&whole[1], 5), Ok(2 * replies().len()));
    assert_eq!(read::<Handoff>(&whole[2], 5), Ok(2));
    assert_eq!(read::<Handed>(&handed, 5), Ok(4));

    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut refused = 0;
    for _ in 0..rounds() * ROUND {
        let mut bytes = whole[dice.below(3)].clone();
        spoil(&mut bytes, &mut dice);
        let step = 1 + dice.below(300);
        let result = match dice.below(4) {
            0 => read::<Request>(&bytes, step),
            1 => read::<Reply>(&bytes, step),
            2 => read::<Handoff>(&bytes, step),
            _ => read::<Handed>(&bytes, step),
        };
        refused += usize::from(result.is_err());
    }
    assert!(refused > rounds() * ROUND / 4, "{refused} refused");
}

/// A frame with this payload.
fn frame(payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len() + 1).expect("short enough").to_le_bytes().to_vec();
    frame.push(0);
    frame.extend_from_slice(payload);
    frame
}

/// A length in the format: seven bits a byte, the lowest first.
fn length(mut length: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while length > 0x7f {
        bytes.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    bytes.push(length.to_le_bytes()[0]);
    bytes
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.split_whitespace().next().expect("a number").parse().expect("a number")
}

#[test]
fn lists_cannot_take_more_than_their_bound() {
    // The same message with lists of different lengths tells where the length is.
    let with = |words: usize| {
        let exec = Exec { args: vec![Vec::new(); words], ..exec() };
        bytes(&[Request::Exec(Box::new(exec))])
    };
    assert_eq!(read::<Request>(&with(WORDS_MAX), 1 << 16), Ok(2));
    assert!(matches!(read::<Request>(&with(WORDS_MAX + 1), 1 << 16), Err(WireError::Malformed(_))));

    // As many empty lists as a frame has room for, and lengths that nothing follows.
    let script = |words: Vec<u8>| [vec![1, 1, 1, b'x'], words].concat();
    let before = peak();
    for announced in [REQUEST_MAX as u64 - 64, u64::from(u32::MAX), 1 << 40, u64::MAX >> 1] {
        let mut words = length(announced);
        words.resize(REQUEST_MAX - 64, 0);
        assert!(read::<Request>(&frame(&script(words)), 1 << 20).is_err(), "{announced}");
        for kind in 0..=u8::MAX {
            let message = [vec![kind], length(announced), vec![0; 100]].concat();
            let _ = read::<Request>(&frame(&message), 1 << 20);
            let _ = read::<Reply>(&frame(&message), 1 << 20);
        }
    }
    let most = (peak() - before) >> 10;
    assert!(most < 128, "{most} MiB");
}
