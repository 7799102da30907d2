//! A graph of planted communities, the same in any language: every number is drawn by its place.

/// Communities of 20 to 200 consecutive nodes; five links drawn a node, three in ten of them to
/// anywhere. Sorted, each once.
pub(crate) fn edges(nodes: usize) -> Vec<(u32, u32)> {
    let seed = 7 + nodes.max(1).ilog10() as u64;
    let draw = |i: u64, k: u64| mix(mix(mix(seed) ^ i) ^ k);
    let n = nodes as u64;
    let (mut begins, mut sizes) = (Vec::new(), Vec::<u64>::new());
    let (mut left, mut drawn) = (n, 0);
    while left > 0 {
        let size = (20 + draw(drawn, 100) % 181).min(left);
        match sizes.last_mut() {
            Some(last) if size < 20 => *last += size,
            _ => {
                begins.push(n - left);
                sizes.push(size);
            }
        }
        drawn += 1;
        left -= size;
    }
    let home: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &size)| (0..size).map(move |_| c)).collect();
    let mut edges = Vec::with_capacity(5 * nodes);
    for e in 0..5 * n {
        let (u, x) = (draw(e, 0) % n, draw(e, 2));
        let at = home[u as usize];
        let inside = (draw(e, 1) >> 11) as f64 * (-53_f64).exp2() >= 0.3;
        let v = if inside { begins[at] + x % sizes[at] } else { x % n };
        if u != v {
            edges.push((u.min(v) as u32, u.max(v) as u32));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn mix(x: u64) -> u64 {
    let mut x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
