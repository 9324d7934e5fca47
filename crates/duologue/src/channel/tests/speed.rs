//! How fast the kinds are: `cargo test --release -p duologue speed -- --ignored --nocapture`.

use super::*;

fn stream(name: &str, pipes: fn() -> Pipes) {
    const MESSAGE: usize = 4 << 20;
    const COUNT: usize = 1000;
    let bytes = pattern(MESSAGE);
    let start = Instant::now();
    both(
        channels(pipes, limits()),
        |a| {
            for _ in 0..COUNT {
                a.send(&bytes).unwrap();
            }
            a.finish().unwrap();
        },
        |b| {
            let mut out = vec![0; MESSAGE];
            for _ in 0..COUNT {
                b.recv_into(&mut out).unwrap();
            }
            b.finish().unwrap();
        },
    );
    let rate = (MESSAGE * COUNT) as f64 / start.elapsed().as_secs_f64() / 1e9;
    println!("{name:24} one way      {rate:6.2} GB/s");
}

fn both_ways(name: &str, pipes: fn() -> Pipes) {
    const MESSAGE: usize = 1 << 20;
    const COUNT: usize = 1000;
    let bytes = pattern(MESSAGE);
    let start = Instant::now();
    let party = |c: &mut Channel| {
        let mut out = vec![0; MESSAGE];
        for _ in 0..COUNT {
            c.send(&bytes).unwrap();
            c.recv_into(&mut out).unwrap();
        }
        c.finish().unwrap();
    };
    both(channels(pipes, limits()), party, party);
    let rate = (MESSAGE * COUNT) as f64 / start.elapsed().as_secs_f64() / 1e9;
    println!("{name:24} exchange     {rate:6.2} GB/s each way");
}

fn rounds(name: &str, pipes: fn() -> Pipes) {
    const COUNT: u32 = 20_000;
    let (time, ()) = both(
        channels(pipes, limits()),
        |a| {
            let mut answer = [0; 8];
            let start = Instant::now();
            for _ in 0..COUNT {
                a.send(&[1; 8]).unwrap();
                a.recv_into(&mut answer).unwrap();
            }
            start.elapsed()
        },
        |b| {
            let mut question = [0; 8];
            for _ in 0..COUNT {
                b.recv_into(&mut question).unwrap();
                b.send(&question).unwrap();
                b.flush().unwrap();
            }
        },
    );
    println!("{name:24} round trip   {:6.1} µs", time.as_secs_f64() * 1e6 / f64::from(COUNT));
}

fn small(name: &str, pipes: fn() -> Pipes) {
    const COUNT: usize = 5_000_000;
    let start = Instant::now();
    both(
        channels(pipes, limits()),
        |a| {
            for _ in 0..COUNT {
                a.send(&[1; 16]).unwrap();
            }
            a.finish().unwrap();
        },
        |b| {
            let mut out = [0; 16];
            for _ in 0..COUNT {
                b.recv_into(&mut out).unwrap();
            }
            b.finish().unwrap();
        },
    );
    println!("{name:24} 16 bytes     {:6.1} ns each", start.elapsed().as_secs_f64() * 1e9 / COUNT as f64);
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    for (name, pipes) in [("memory", memory_pipes as fn() -> Pipes), ("TCP", tcp_pipes), ("TLS over TCP", tls_pipes)] {
        stream(name, pipes);
        both_ways(name, pipes);
        rounds(name, pipes);
        small(name, pipes);
    }
}
