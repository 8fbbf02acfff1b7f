//! Many peers at once, and those that take more than their share.

use crate::Outcome;
use crate::client::{Client, framed, shell};
use crate::world::{World, staged, until};
use flake_wire::{Closing, REQUEST_MAX, Reply, Request, VERSION, encode};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("two_hundred_at_once", two_hundred_at_once),
    ("small_after_many_calls", small_after_many_calls),
    ("silent_peers_do_not_shut_others_out", silent_peers_do_not_shut_others_out),
    ("half_frames_are_bounded", half_frames_are_bounded),
    ("answers_that_nobody_reads_are_bounded", answers_that_nobody_reads_are_bounded),
    ("descriptors_without_a_request_are_bounded", descriptors_without_a_request_are_bounded),
    ("a_storm_of_connections", a_storm_of_connections),
];

/// The agent runs a command as it should.
fn works(world: &World) {
    let mut client = world.client();
    client.start(framed("cat; exit 5"));
    let finished = client.finish(b"through");
    assert_eq!((finished.closing, finished.written[&1].as_slice()), (Closing::Exited(5), &b"through"[..]));
}

/// Memory that the agent has of its own, in KiB.
fn memory(world: &World) -> u64 {
    world.status("RssAnon")
}

fn two_hundred_at_once(world: &World) -> Outcome {
    let mut clients: Vec<_> = (0..200).map(|_| world.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.say(&Request::Exec(Box::new(framed(&format!("cat; exit {}", number % 100)))));
    }
    for (number, client) in clients.iter_mut().enumerate() {
        let finished = client.finish(&[b'x'; 3000]);
        assert_eq!(finished.closing, Closing::Exited(u8::try_from(number % 100)?));
        assert_eq!(finished.written[&1].len(), 3000);
    }
    Ok(())
}

fn small_after_many_calls(world: &World) -> Outcome {
    for round in 0..10 {
        let mut clients: Vec<_> = (0..20).map(|_| world.client()).collect();
        for client in &mut clients {
            client.say(&Request::Exec(Box::new(shell("exit 0"))));
        }
        for client in &mut clients {
            assert!(matches!(client.next(), Some(Reply::Started { .. })), "round {round}");
            assert_eq!(client.next(), Some(Reply::Exit(Closing::Exited(0))));
        }
    }
    until("all connections are gone", || descriptors(world) < 12);
    let (own, all) = (memory(world), world.status("VmRSS"));
    assert!(own <= 1024, "{own} KiB of its own");
    // Built for tests it is linked to shared libraries and full of debugging code, which counts as well.
    assert!(staged().is_none() || all <= 2048, "{all} KiB");
    Ok(())
}

fn descriptors(world: &World) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", world.agent())).map_or(0, Iterator::count)
}

fn silent_peers_do_not_shut_others_out(world: &World) -> Outcome {
    let mut kept = world.client();
    kept.start(shell("sleep 0.5; exit 8"));
    // More than it takes at once, and than it has descriptors for.
    let crowd: Vec<UnixStream> = (0..1500).map_while(|_| UnixStream::connect(world.socket()).ok()).collect();
    works(world);
    assert_eq!(kept.next(), Some(Reply::Exit(Closing::Exited(8))));
    drop(crowd);
    works(world);
    Ok(())
}

fn half_frames_are_bounded(world: &World) -> Outcome {
    let before = memory(world);
    let mut half = u32::try_from(REQUEST_MAX)?.to_le_bytes().to_vec();
    half.resize(REQUEST_MAX - 1000, 0);
    let mut crowd = Vec::new();
    for _ in 0..30 {
        let mut client = world.client();
        client.write_raw(&half);
        crowd.push(client);
    }
    works(world);
    let most = memory(world) - before;
    assert!(most < 160 << 10, "{most} KiB for half frames");
    drop(crowd);
    works(world);
    until("the memory is given back", || memory(world) < before + 2048);
    Ok(())
}

fn answers_that_nobody_reads_are_bounded(world: &World) -> Outcome {
    let before = memory(world);
    let mut pings = Vec::new();
    for token in 0..4000 {
        encode(&Request::Ping { token: u64::MAX - token }, &mut pings)?;
    }
    let mut crowd: Vec<Client> = (0..8).map(|_| world.client()).collect();
    let limit = Instant::now() + Duration::from_secs(8);
    for round in 0..200 {
        for client in &mut crowd {
            client.write_raw(&pings);
        }
        if Instant::now() > limit {
            assert!(round > 10, "only {round} rounds");
            break;
        }
    }
    works(world);
    let most = memory(world).saturating_sub(before);
    assert!(most < 700 << 10, "{most} KiB for answers");
    Ok(())
}

fn descriptors_without_a_request_are_bounded(world: &World) -> Outcome {
    let (_reader, writer) = std::io::pipe()?;
    let mut crowd = Vec::new();
    for _ in 0..40 {
        let mut client = world.client();
        for _ in 0..30 {
            client.say_beside(&Request::Ping { token: 1 }, &[std::os::fd::AsFd::as_fd(&writer); 40]);
        }
        crowd.push(client);
    }
    works(world);
    Ok(())
}

fn a_storm_of_connections(world: &World) -> Outcome {
    let limit = Instant::now() + Duration::from_secs(2);
    let path = world.socket();
    let storms: Vec<_> = (0..3_u8)
        .map(|kind| {
            let path = path.clone();
            std::thread::spawn(move || {
                while Instant::now() < limit {
                    let Ok(mut stream) = UnixStream::connect(&path) else { continue };
                    let mut bytes = Vec::new();
                    let _ = encode(&Request::Hello { version: VERSION }, &mut bytes);
                    match kind {
                        0 => {}
                        1 => drop(stream.write_all(&[0xff; 100])),
                        _ => {
                            let _ = encode(&Request::Exec(Box::new(shell("exit 0"))), &mut bytes);
                            let _ = stream.write_all(&bytes);
                            let _ = stream.read(&mut [0; 10]);
                        }
                    }
                }
            })
        })
        .collect();
    while Instant::now() < limit {
        works(world);
    }
    for storm in storms {
        storm.join().map_err(|_| "a storm failed")?;
    }
    works(world);
    Ok(())
}
