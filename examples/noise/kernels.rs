//! Thirty small functions of many kinds, to be benchmarked. Every one of them takes a seed, does a microsecond of work
//! or so, and gives a number that depends on all of it.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write;
use std::hash::{Hash, Hasher};

/// How often a benchmark calls its function.
pub const ROUNDS: u64 = 200;

/// Differs from revision to revision, and is used by nobody.
#[used]
pub static MARK: u64 = 0;

/// A function that is to be benchmarked.
pub type Kernel = fn(u64) -> u64;

/// One iteration of a benchmark.
pub fn repeat(kernel: Kernel, seed: u64) -> u64 {
    (0..ROUNDS).fold(seed, |sum, round| sum ^ kernel(seed.wrapping_add(round)))
}

/// The function of this name.
pub fn kernel(name: &str) -> Kernel {
    KERNELS.iter().find(|(other, _)| *other == name).expect("a known name").1
}

macro_rules! kernels {
    ($($name:ident)*) => {
        /// All of them.
        pub const KERNELS: &[(&str, Kernel)] = &[$((stringify!($name), $name)),*];
        /// Their names.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

kernels!(
    fnv sip crc sort insertion_sort binary_search hash_map tree_map parse_integers parse_floats
    format_integers split_words reverse_characters allocate linked_list polynomial roots matrix butterflies sieve
    divisors collatz edit_distance tokens base64 run_lengths bits state_machine dispatch queue
);

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn numbers<const N: usize>(seed: u64) -> [u32; N] {
    let mut state = seed | 1;
    std::array::from_fn(|_| random(&mut state) as u32)
}

fn bytes<const N: usize>(seed: u64) -> [u8; N] {
    let mut state = seed | 1;
    std::array::from_fn(|_| random(&mut state) as u8)
}

fn fnv(seed: u64) -> u64 {
    bytes::<256>(seed).iter().fold(14695981039346656037, |h, b| (h ^ u64::from(*b)).wrapping_mul(1099511628211))
}

fn sip(seed: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes::<128>(seed).hash(&mut hasher);
    hasher.finish()
}

fn crc(seed: u64) -> u64 {
    let crc = bytes::<24>(seed).iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 })
    });
    u64::from(!crc)
}

fn sort(seed: u64) -> u64 {
    let mut values = numbers::<64>(seed);
    values.sort_unstable();
    u64::from(values[7]) + u64::from(values[50])
}

fn insertion_sort(seed: u64) -> u64 {
    let mut values = numbers::<28>(seed);
    for i in 1..values.len() {
        let mut j = i;
        while j > 0 && values[j - 1] > values[j] {
            values.swap(j - 1, j);
            j -= 1;
        }
    }
    u64::from(values[14])
}

fn binary_search(seed: u64) -> u64 {
    let sorted: [u32; 512] = std::array::from_fn(|i| i as u32 * 8_388_607);
    numbers::<24>(seed).iter().map(|n| sorted.binary_search(n).unwrap_or_else(|at| at) as u64).sum()
}

fn hash_map(seed: u64) -> u64 {
    let mut map: HashMap<u32, u32> = HashMap::with_capacity(32);
    for n in numbers::<24>(seed) {
        *map.entry(n % 16).or_default() += n >> 8;
    }
    map.values().map(|n| u64::from(*n)).sum()
}

fn tree_map(seed: u64) -> u64 {
    let map: BTreeMap<u32, usize> = numbers::<24>(seed).into_iter().zip(0..).collect();
    map.range(1 << 30..).map(|(n, at)| u64::from(*n) ^ *at as u64).sum()
}

fn parse_integers(seed: u64) -> u64 {
    let text = format!("{} {} {} 77 12345", seed, seed >> 3, seed & 0xffff);
    text.split(' ').map(|word| word.parse::<u64>().unwrap_or(0)).fold(0, u64::wrapping_add)
}

fn parse_floats(seed: u64) -> u64 {
    let words = ["3.25", "1e-7", "123456.789", "0.1", "6.02214076e23"];
    words.iter().map(|word| word.parse::<f64>().unwrap().to_bits()).fold(seed, u64::wrapping_add)
}

fn format_integers(seed: u64) -> u64 {
    let mut text = String::new();
    for n in numbers::<8>(seed) {
        let _ = write!(text, "{n}-{n:x};");
    }
    text.len() as u64
}

fn split_words(seed: u64) -> u64 {
    let text = "the quick brown fox jumps over the lazy dog and then it sleeps under a tree";
    text.split_whitespace().filter(|word| word.len() as u64 > seed % 5).map(|word| word.len() as u64).sum()
}

fn reverse_characters(seed: u64) -> u64 {
    let text: String = "grüße aus dem süden, 日本語".chars().rev().cycle().skip((seed % 7) as usize).take(60).collect();
    text.len() as u64
}

fn allocate(seed: u64) -> u64 {
    let vectors: Vec<Vec<u8>> = (0..12).map(|i| vec![i as u8; 16 + ((seed >> i) & 63) as usize]).collect();
    vectors.iter().map(|v| v.len() as u64 + u64::from(v[3])).sum()
}

struct Node(u64, Option<Box<Node>>);

fn linked_list(seed: u64) -> u64 {
    let mut list = None;
    for i in 0..20 {
        list = Some(Box::new(Node(seed >> (i & 7), list)));
    }
    let (mut sum, mut next) = (0u64, &list);
    while let Some(node) = next {
        sum = sum.wrapping_add(node.0);
        next = &node.1;
    }
    sum
}

fn polynomial(seed: u64) -> u64 {
    let x = (seed & 1023) as f64 / 1024.0;
    (0..200).fold(0.5f64, |y, i| y.mul_add(0.0, y * x) + f64::from(i)).to_bits()
}

fn roots(seed: u64) -> u64 {
    numbers::<64>(seed).iter().map(|n| f64::from(*n).sqrt()).sum::<f64>().to_bits()
}

fn matrix(seed: u64) -> u64 {
    let a: [[f32; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| (seed as u32 as f32) * (i + j) as f32));
    let mut product = [[0f32; 6]; 6];
    for (i, row) in product.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            *cell = (0..6).map(|k| a[i][k] * a[k][j]).sum();
        }
    }
    product.iter().flatten().map(|cell| u64::from(cell.to_bits())).sum()
}

fn butterflies(seed: u64) -> u64 {
    let mut values = numbers::<32>(seed).map(|n| n as f32);
    let mut half = 16;
    while half > 0 {
        for start in (0..32).step_by(2 * half) {
            for i in start..start + half {
                (values[i], values[i + half]) = (values[i] + values[i + half], values[i] - values[i + half]);
            }
        }
        half /= 2;
    }
    values.iter().map(|value| u64::from(value.to_bits())).sum()
}

fn sieve(seed: u64) -> u64 {
    let mut composite = [false; 256];
    let limit = 240 + (seed & 15) as usize;
    for i in 2..16 {
        if !composite[i] {
            for multiple in (i * i..limit).step_by(i) {
                composite[multiple] = true;
            }
        }
    }
    composite[2..limit].iter().filter(|is| !**is).count() as u64
}

fn divisors(seed: u64) -> u64 {
    let values = numbers::<8>(seed);
    values.windows(2).map(|pair| {
        let (mut a, mut b) = (pair[0] | 1, pair[1] | 1);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        u64::from(a)
    }).sum()
}

fn collatz(seed: u64) -> u64 {
    let (mut n, mut steps) = ((seed % 1000) + 27, 0);
    while n != 1 && steps < 150 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn edit_distance(seed: u64) -> u64 {
    let (a, b) = (bytes::<14>(seed).map(|x| x & 3), bytes::<14>(seed >> 5).map(|x| x & 3));
    let mut row: [u8; 15] = std::array::from_fn(|i| i as u8);
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i as u8 + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = corner + u8::from(x != y);
            corner = row[j + 1];
            row[j + 1] = cost.min(corner + 1).min(row[j] + 1);
        }
    }
    u64::from(row[14])
}

fn tokens(seed: u64) -> u64 {
    let text = br#"{"name": "value", "list": [1, 22, 333, true, null], "nested": {"a": -1.5e3}}"#;
    let (mut count, mut at, mut in_text) = (seed & 1, 0, false);
    while at < text.len() {
        match text[at] {
            b'"' => in_text = !in_text,
            b'{' | b'}' | b'[' | b']' | b',' | b':' if !in_text => count += 1,
            b'0'..=b'9' | b'-' if !in_text => {
                while matches!(text.get(at + 1), Some(b'0'..=b'9' | b'.' | b'e')) {
                    at += 1;
                }
                count += 100;
            }
            _ => {}
        }
        at += 1;
    }
    count
}

fn base64(seed: u64) -> u64 {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::with_capacity(64);
    for group in bytes::<48>(seed).chunks(3) {
        let n = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        out.extend([18, 12, 6, 0].map(|shift| alphabet[(n >> shift) as usize & 63]));
    }
    out.iter().map(|byte| u64::from(*byte)).sum()
}

fn run_lengths(seed: u64) -> u64 {
    let data = bytes::<128>(seed).map(|byte| byte & 1);
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for byte in data {
        match runs.last_mut() {
            Some((value, length)) if *value == byte => *length += 1,
            _ => runs.push((byte, 1)),
        }
    }
    runs.iter().map(|(value, length)| u64::from(value ^ length)).sum()
}

fn bits(seed: u64) -> u64 {
    let mut state = seed | 1;
    (0..64).map(|_| { let n = random(&mut state); u64::from(n.count_ones() + n.leading_zeros() + n.trailing_zeros()) }).sum()
}

fn state_machine(seed: u64) -> u64 {
    let mut state = 0u64;
    for byte in bytes::<128>(seed) {
        state = match (state & 7, byte & 7) {
            (0, 0..=3) => 1,
            (0, _) => 2,
            (1, input) => u64::from(input) + 1,
            (2, 5..=7) => 3,
            (2, _) => 0,
            (3, input) if input % 2 == 0 => 4,
            (n, input) => (n * 5 + u64::from(input)) % 8,
        } + (state & !7) + 8;
    }
    state
}

trait Shape {
    fn area(&self) -> f64;
}
struct Square(f64);
struct Circle(f64);
struct Rectangle(f64, f64);
impl Shape for Square {
    fn area(&self) -> f64 { self.0 * self.0 }
}
impl Shape for Circle {
    fn area(&self) -> f64 { self.0 * self.0 * std::f64::consts::PI }
}
impl Shape for Rectangle {
    fn area(&self) -> f64 { self.0 * self.1 }
}

fn dispatch(seed: u64) -> u64 {
    let shapes: [&dyn Shape; 3] = [&Square(1.5), &Circle(0.5), &Rectangle(2.0, seed as u8 as f64)];
    bytes::<64>(seed).iter().map(|byte| shapes[usize::from(*byte) % 3].area()).sum::<f64>().to_bits()
}

fn queue(seed: u64) -> u64 {
    let mut queue: VecDeque<u64> = (0..8).collect();
    for n in numbers::<48>(seed) {
        let front = queue.pop_front().unwrap_or(1);
        queue.push_back(front.wrapping_mul(31) ^ u64::from(n));
        if n & 7 == 0 {
            queue.rotate_left(3);
        }
    }
    queue.iter().fold(0, |sum, n| sum ^ n)
}
