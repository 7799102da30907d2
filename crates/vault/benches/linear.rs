//! Whether reading takes time that grows with the length of a text alone: hostile texts at one, four
//! and sixteen times a length, each compared with itself. `cargo xtask bench linear [--bytes N] [FILTER]`.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and stops when something is broken"
)]

use std::time::Duration;

use dormouse_vault::{Document, FileNames, NotePath};

type Make = fn(usize) -> String;

/// How a text is read.
#[derive(Clone, Copy)]
enum How {
    Note,
    Canvas,
}

/// The processor time of this thread: other programs don't count.
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// `unit` again and again, up to `n` bytes.
fn times(unit: &str, n: usize) -> String {
    unit.repeat(n / unit.len() + 1)
}

fn wrapped(open: &str, middle: &str, close: &str, n: usize) -> String {
    let count = n / (open.len() + close.len()) + 1;
    format!("{}{middle}{}", open.repeat(count), close.repeat(count))
}

fn yaml(body: &str) -> String {
    format!("---\n{body}\n---\n")
}

/// Runs of a mark, each one longer than the one before.
fn growing(mark: &str, between: &str, n: usize) -> String {
    let mut out = String::with_capacity(n + 1024);
    let mut len = 1;
    while out.len() < n {
        out.push_str(&mark.repeat(len));
        out.push_str(between);
        len += 1;
    }
    out
}

fn nested_lists(n: usize) -> String {
    let depth = n.isqrt();
    (0..depth).fold(String::new(), |out, level| out + &"  ".repeat(level % 300) + "- a\n")
}

/// Name, reading, generator.
#[rustfmt::skip]
const CASES: &[(&str, How, Make)] = &[
    ("prose with links", How::Note, |n| times("Some words and [[A link|shown]] and [text](a%20b.md), a #tag.\n", n)),
    ("[", How::Note, |n| times("[", n)),
    ("]", How::Note, |n| times("]", n)),
    ("[[", How::Note, |n| times("[[a ", n)),
    ("[[a|", How::Note, |n| times("[[a|", n)),
    ("[[ ]]", How::Note, |n| times("[[p|q [[r|s]] t]] ", n)),
    ("[[…]] nested", How::Note, |n| wrapped("[[", "a", "]]", n)),
    ("![", How::Note, |n| times("![", n)),
    ("](", How::Note, |n| times("](", n)),
    ("[](", How::Note, |n| times("[a](b", n)),
    ("[](<", How::Note, |n| times("[a](<b", n)),
    ("[](b \"", How::Note, |n| times("[a](b \"", n)),
    ("[](b '", How::Note, |n| format!("[a](b \"{}", times("[a](b '", n))),
    ("[](((", How::Note, |n| times("[a](((", n)),
    ("[](a[](a…", How::Note, |n| times("[a](b[c](d(", n)),
    ("[ … ](a) nested", How::Note, |n| wrapped("[", "a", "](a)", n)),
    ("![ … ](a) nested", How::Note, |n| wrapped("![", "a", "](a)", n)),
    ("((((", How::Note, |n| times("(", n)),
    ("(( )) nested", How::Note, |n| wrapped("(", "a", ")", n)),
    ("[key::", How::Note, |n| times("[key:: ", n)),
    ("[key:: nested", How::Note, |n| wrapped("[key:: ", "a", "]", n)),
    ("[key:: over lines", How::Note, |n| wrapped("[key:: ", "a\n", "]", n)),
    ("(key:: nested", How::Note, |n| wrapped("(key:: ", "a", ")", n)),
    ("k:: lines", How::Note, |n| times("key:: [[a]]\n", n)),
    ("a:: a:: one line", How::Note, |n| times("a:: ", n)),
    ("`", How::Note, |n| times("`", n)),
    ("` growing", How::Note, |n| growing("`", " ", n)),
    ("` growing [[", How::Note, |n| growing("`", "[[a]]", n)),
    ("` in cells", How::Note, |n| format!("| a |\n|-|\n{}", times("| ` ", n))),
    ("$", How::Note, |n| times("$", n)),
    ("$a", How::Note, |n| times("$a ", n)),
    ("$$ lines", How::Note, |n| times("$$\n", n)),
    ("$$ open", How::Note, |n| times("$$ a\n\n", n)),
    ("%%", How::Note, |n| times("%%", n)),
    ("%% lines", How::Note, |n| times("%%\n", n)),
    ("%% a lines", How::Note, |n| times("%% a\n\n", n)),
    ("<!--", How::Note, |n| times("<!-- ", n)),
    ("x <!--", How::Note, |n| format!("x {}", times("<!-- ", n))),
    ("<!-- lines", How::Note, |n| times("a\n\n<!--\n", n)),
    ("x <a", How::Note, |n| format!("x {}", times("<a ", n))),
    ("x <a b=\" <a c=\"", How::Note, |n| format!("x {}>", times("<a b=\" <a c=\" d=\"", n))),
    ("x <a b=\"'", How::Note, |n| format!("x {}>", times("<a b=\"' c='\" ", n))),
    ("x <a b=' >", How::Note, |n| format!("x {} >", times("<a b='", n))),
    ("<x:", How::Note, |n| format!("x {}", times("<ab:c", n))),
    ("<div>", How::Note, |n| times("<div>\n", n)),
    ("<div> blank", How::Note, |n| times("<div>\n\n", n)),
    ("<?", How::Note, |n| times("<?\n\n", n)),
    ("<![CDATA[", How::Note, |n| times("<![CDATA[\n\n", n)),
    ("<!X", How::Note, |n| times("<!X\n\n", n)),
    ("<script>", How::Note, |n| times("<script>\n\n", n)),
    ("x <? <!X <![CDATA[", How::Note, |n| format!("x {}", times("<? <!X <![CDATA[ ", n))),
    (">", How::Note, |n| times(">", n)),
    ("> > lines", How::Note, |n| times(&format!("{}a\n", "> ".repeat(60)), n)),
    ("> growing", How::Note, |n| growing(">", " a\n", n)),
    (">\\n", How::Note, |n| times(">\n", n)),
    ("> then lazy", How::Note, |n| times("> a\nb\n", n)),
    ("- nested", How::Note, nested_lists),
    ("- - - -", How::Note, |n| times("- ", n)),
    ("- lines", How::Note, |n| times("- a\n", n)),
    ("- blank lines", How::Note, |n| times("- a\n\n", n)),
    ("* * lines", How::Note, |n| times("* * * a\n", n)),
    ("1. 1. 1.", How::Note, |n| times("1. ", n)),
    ("- then blank lines", How::Note, |n| format!("- a{}", times("\n", n))),
    ("nested - then blank lines", How::Note, |n| format!("{}a{}", "- ".repeat(40), times("\n", n))),
    ("nested - then text lines", How::Note, |n| format!("{}a\n{}", "- ".repeat(40), times("b\n", n))),
    ("deep - then indented", How::Note, |n| format!("{}a\n{}", "- ".repeat(40), times(&format!("{}b\n\n", " ".repeat(80)), n))),
    ("- [ ] #", How::Note, |n| times("- [ ] #a ^b\n", n)),
    ("# headings", How::Note, |n| times("# a\n", n)),
    ("# marks", How::Note, |n| times("#", n)),
    ("# a ####", How::Note, |n| format!("# a {}", times("# ", n))),
    ("a\\n=== setext", How::Note, |n| times("a\n===\n", n)),
    ("--- lines", How::Note, |n| times("---\n", n)),
    ("--- long", How::Note, |n| times("-", n)),
    ("* long", How::Note, |n| times("*", n)),
    ("* a", How::Note, |n| times("*a_b ", n)),
    ("** growing", How::Note, |n| growing("*", "a", n)),
    ("_ growing", How::Note, |n| growing("_", "a", n)),
    ("~~~", How::Note, |n| times("~~~\n", n)),
    ("~~~ growing", How::Note, |n| growing("~", "\n", n)),
    ("``` growing", How::Note, |n| growing("`", "\n", n)),
    ("~ growing one line", How::Note, |n| growing("~", "a", n)),
    ("| one line", How::Note, |n| times("|", n)),
    ("| a header", How::Note, |n| format!("{}\n{}\n", times("|a", n / 2), times("|-", n / 2))),
    ("| wide, short rows", How::Note, |n| format!("{}\n{}\n{}", times("|a", n / 10), times("|-", n / 10), times("|\n", n * 4 / 5))),
    ("| 60 wide, short rows", How::Note, |n| format!("{}|\n{}|\n{}", "|a".repeat(60), "|-".repeat(60), times("|\n", n))),
    ("| tables", How::Note, |n| times("|a|\n|-|\n|b|\n\n", n)),
    ("| rows", How::Note, |n| format!("|a|b|\n|-|-|\n{}", times("|c|d|\n", n))),
    ("| headers", How::Note, |n| times("|a|b|\n", n)),
    ("| delimiters", How::Note, |n| times("|-|\n", n)),
    ("| text and delimiters", How::Note, |n| times("a\n|-|-|\n", n)),
    ("[^1]:", How::Note, |n| times("[^1]: a\n", n)),
    ("[^1]: one line", How::Note, |n| times("[^1]: ", n)),
    ("[^growing]: nested", How::Note, |n| growing("[^a]: ", "b\n", n)),
    ("[a]: b", How::Note, |n| times("[a]: b\n", n)),
    ("[a]: <b", How::Note, |n| times("[a]: <b 'c\n", n)),
    ("^id", How::Note, |n| times("a ^b\n\n^c\n\n", n)),
    ("&amp; in destinations", How::Note, |n| format!("[a]({})", times("&amp;", n))),
    ("& in destinations", How::Note, |n| format!("[a]({})", times("&a", n))),
    ("&#3…", How::Note, |n| format!("[a]({})", times("&#", n))),
    ("\\", How::Note, |n| times("\\", n)),
    ("\\#", How::Note, |n| format!("[a]({})", times("\\#", n))),
    ("#a#b", How::Note, |n| times("#a", n)),
    ("#a #b", How::Note, |n| (0..n / 9).fold(String::new(), |out, i| out + "#t" + &i.to_string() + " ")),
    ("blank lines", How::Note, |n| times("\n", n)),
    ("blanks", How::Note, |n| times(" ", n)),
    ("tabs", How::Note, |n| times("\t", n)),
    ("blanks on lines", How::Note, |n| growing(" ", "\n", n)),
    ("\\r", How::Note, |n| times("\r", n)),
    ("\\0", How::Note, |n| times("\0", n)),
    ("é", How::Note, |n| times("é", n)),
    ("marks, combining", How::Note, |n| format!("[[{}]]", times("\u{301}", n))),
    ("json", How::Note, |n| times("{\"k\":[[1,2],[3,4]]},", n)),
    ("yaml keys", How::Note, |n| yaml(&(0..n / 12).fold(String::new(), |out, i| out + "k" + &i.to_string() + ": v\n"))),
    ("yaml same key", How::Note, |n| yaml(&times("k: v\n", n))),
    ("yaml list", How::Note, |n| yaml(&format!("k:\n{}", times("  - \"[[a]]\"\n", n)))),
    ("yaml flow list", How::Note, |n| yaml(&format!("k: [{}x]", times("a, ", n)))),
    ("yaml flow links", How::Note, |n| yaml(&format!("k: [{}x]", times("\"[[a]]\", ", n)))),
    ("yaml [[[[", How::Note, |n| yaml(&format!("k: {}", times("[", n)))),
    ("yaml {a: {a:", How::Note, |n| yaml(&times("{a: ", n))),
    ("yaml nested", How::Note, |n| yaml(&wrapped("[", "", "]", n).replacen('[', "k: [", 1))),
    ("yaml deep blocks", How::Note, |n| yaml(&(0..n.isqrt()).fold(String::new(), |out, i| out + &" ".repeat(i) + "a:\n"))),
    ("yaml - - -", How::Note, |n| yaml(&format!("k:\n  {}a", times("- ", n)))),
    ("yaml ? ? ?", How::Note, |n| yaml(&format!("k: v\n{}a", times("? ", n)))),
    ("yaml anchors", How::Note, |n| yaml(&(0..n / 16).fold(String::new(), |out, i| format!("{out}k{i}: &a{i} v\n")))),
    ("yaml aliases", How::Note, |n| yaml(&format!("k: &a [{}]\nl: [{}*a]", times("x, ", n / 2), times("*a, ", n / 2)))),
    ("yaml aliases of a long string", How::Note, |n| yaml(&format!("k: &a \"{}\"\nl: [{}*a]", times("x", n / 2), times("*a, ", n / 2)))),
    ("yaml bomb", How::Note, |n| yaml(&(1..n / 40 + 2).fold("a0: &a0 [x, x]\n".to_owned(), |out, i| format!("{out}a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1)))),
    ("yaml long string", How::Note, |n| yaml(&format!("k: \"{}\"", times("[[a]] ", n)))),
    ("yaml escapes", How::Note, |n| yaml(&format!("k: \"{}\"", times("[[\\u0061]] ", n)))),
    ("yaml quotes", How::Note, |n| yaml(&format!("k: '{}'", times("'' [[a]] ", n)))),
    ("yaml lines", How::Note, |n| yaml(&format!("k: \"a\n{}\"", times("  [[a]]\n", n)))),
    ("yaml block", How::Note, |n| yaml(&format!("k: |\n{}", times("  [[a]]\n", n)))),
    ("yaml long key", How::Note, |n| yaml(&format!("? \"{}\"\n: \"{}\"", times("k", n / 2), times("[[a]]", n / 2)))),
    ("yaml plain", How::Note, |n| yaml(&format!("k: {}", times("a ", n)))),
    ("yaml : : :", How::Note, |n| yaml(&times("k: : ", n))),
    ("yaml comments", How::Note, |n| yaml(&format!("k: v\n{}", times("# a\n", n)))),
    ("yaml docs", How::Note, |n| yaml(&format!("k: v\n{}", times("...\n", n)))),
    ("yaml tags", How::Note, |n| yaml(&format!("k: [{}x]", times("!a x, ", n)))),
    ("yaml garbage", How::Note, |n| yaml(&format!("k: v\n{}", times("@`%\n", n)))),
    ("--- open", How::Note, |n| format!("---\n{}", times("a: b\n", n))),
    ("canvas files", How::Canvas, |n| format!("{{\"nodes\":[{}{{}}]}}", times("{\"file\":\"a.md\"},", n))),
    ("canvas texts", How::Canvas, |n| format!("{{\"nodes\":[{}{{}}]}}", times("{\"text\":\"[[a]]\"},", n))),
    ("canvas one text", How::Canvas, |n| format!("{{\"nodes\":[{{\"text\":\"{}\"}}]}}", times("\\n[[\\u0061]]", n))),
    ("canvas deep", How::Canvas, |n| format!("{{\"nodes\":{}}}", wrapped("[", "", "]", n))),
    ("canvas deep objects", How::Canvas, |n| format!("{{\"nodes\":{}}}", wrapped("{\"a\":", "1", "}", n))),
    ("canvas keys", How::Canvas, |n| format!("{{\"nodes\":[{{{}\"z\":1}}]}}", (0..n / 12).fold(String::new(), |out, i| format!("{out}\"k{i}\":\"v\",")))),
    ("canvas long list key", How::Canvas, |n| format!("{{\"{}\":[{}{{}}]}}", times("k", n / 2), times("{\"file\":\"a.md\"},", n / 2))),
    ("canvas backslashes", How::Canvas, |n| format!("{{\"nodes\":[{{\"text\":\"{}\"}}]}}", times("\\\\", n))),
    ("canvas open", How::Canvas, |n| times("{\"nodes\":[", n)),
];

fn read(how: How, text: &str) -> Duration {
    let started = now();
    let doc = match how {
        How::Note => Document::parse(text),
        How::Canvas => Document::parse_canvas(text),
    };
    let took = now() - started;
    std::hint::black_box(doc);
    took
}

fn main() {
    let mut bytes = 4 << 20;
    let mut filter = String::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bench" => {}
            "--bytes" => bytes = args.next().and_then(|n| n.parse().ok()).expect("--bytes takes a number"),
            "--help" => {
                println!("linear [--bytes N] [PART OF A NAME]\n\nN: length of the longest text, default 4 MiB");
                return;
            }
            other => filter = other.to_owned(),
        }
    }
    println!("{:<32} {:>10} {:>10} {:>10} {:>7} {:>9}", "text", "n/16", "n/4", "n", "growth", "ns/byte");
    let mut worst: (f64, &str) = (0.0, "");
    let mut steep = Vec::new();
    for (name, how, make) in CASES.iter().filter(|(name, ..)| name.contains(&filter)) {
        let mut took = [Duration::ZERO; 3];
        let mut length = 0;
        for (slot, part) in took.iter_mut().zip([16, 4, 1]) {
            let text = make(bytes / part);
            length = text.len();
            *slot = (0..3).map(|_| read(*how, &text)).min().unwrap_or_default();
        }
        // From a quarter to the whole; below a millisecond nothing can be said.
        let growth = took[2].as_secs_f64() / took[1].as_secs_f64().max(0.001);
        let per_byte = took[2].as_secs_f64() * 1e9 / length as f64;
        let [a, b, c] = took.map(|t| format!("{:.1} ms", t.as_secs_f64() * 1e3));
        println!("{name:<32} {a:>10} {b:>10} {c:>10} {growth:>6.1}x {per_byte:>9.1}");
        if growth > worst.0 {
            worst = (growth, name);
        }
        if growth > 8.0 {
            steep.push(*name);
        }
    }
    names(bytes / 64);
    println!("\nfour times the text took at most {:.1} times as long ({})", worst.0, worst.1);
    if !steep.is_empty() {
        println!("steeper than linear: {}", steep.join(", "));
        std::process::exit(1);
    }
}

/// Looking up a name among `n` files of other names.
fn names(n: usize) {
    let source = NotePath::new("s.md").unwrap();
    for count in [n / 16, n] {
        let names: FileNames = (0..count).map(|i| NotePath::new(&format!("f{}/n{i}.md", i % 97)).unwrap()).collect();
        let started = now();
        for i in 0..1000 {
            std::hint::black_box(names.resolve(&source, &format!("n{i}")));
        }
        println!("resolve among {count} files: {:.2} µs", (now() - started).as_secs_f64() * 1e3);
    }
}
